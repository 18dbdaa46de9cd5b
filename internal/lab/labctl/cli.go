package labctl

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/simdlink"
)

// serveCLI gives the D-Link switches of a network their command line: telnet at a TCP
// port, SSH at the next one. Port 0: none.
func serveCLI(n *network.Network, port int, listen netip.Prefix) (end func(), err error) {
	var all []*simdlink.Switch
	end = func() {
		for _, s := range all {
			s.Close()
		}
	}
	switch {
	case port == 0:
		return end, nil
	case port < 0 || port > 65534:
		return nil, fmt.Errorf("--cli-port %d: 1 to 65534 are possible", port)
	case listen.Bits() == 32 && len(n.Nodes()) > 1:
		return nil, errors.New("--cli-port: each switch needs an address of its own; add --listen-net 127.1.0.0/16")
	}
	for _, node := range n.Nodes() {
		model, ok := strings.CutPrefix(node.Profile().Model, "D-Link_")
		if !ok || strings.HasPrefix(model, "DGS-1510") { // which has another command line
			continue
		}
		host := node.Server.Addr().Addr().String()
		s, err := simdlink.Start(simdlink.Options{Model: model, STPPort: node.SetSTPEnabled, Telnet: host + ":" + strconv.Itoa(port), SSH: host + ":" + strconv.Itoa(port+1)})
		if err != nil {
			end()
			return nil, fmt.Errorf("--cli-port %d: %w", port, err)
		}
		all, node.CLIPort = append(all, s), port
	}
	return end, nil
}
