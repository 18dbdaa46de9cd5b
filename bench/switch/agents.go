package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strings"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/plugins/switch/switchlist"
)

// end marks the end of the switch list on the pipe.
const end = "# end"

// serve runs the agents: chains of switches, and one with nothing but a forwarding
// table, the last of the list. It prints the list and waits for the pipe to close.
func (o options) serve(context.Context) error {
	n, err := network.Start(network.Options{Topology: o.topology(), Ports: o.ports, MaxMessage: o.message,
		Listen: netip.MustParsePrefix("127.1.0.0/16"), BasePort: 20161})
	if err != nil {
		return err
	}
	defer n.Close()
	if err := o.spoil(n); err != nil {
		return err
	}
	h := snmpagent.NewHost()
	defer h.Close()
	table, err := newBigTable(o.fdb).listen(h, o.message)
	if err != nil {
		return err
	}
	fmt.Printf("%s%s\n%s\n", n.CSV(), table, end)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// spoil makes some agents misbehave, spread over all.
func (o options) spoil(n *network.Network) error {
	for i, node := range n.Nodes() {
		var f faults.Set
		switch k := i % 100; {
		case k < o.dead:
			f.Silent = true
		case k < o.dead+o.lossy:
			f.Loss = 20
		case k < o.dead+o.lossy+o.looping:
			f.Loop = true
		default:
			continue
		}
		if err := n.SetFaults(node.Name(), f); err != nil {
			return err
		}
	}
	return nil
}

// topology has exactly as many switches as asked for: chains of ten.
func (o options) topology() string {
	parts := make([]string, 0, o.switches/10+1)
	for left := o.switches; left > 0; left -= 10 {
		parts = append(parts, fmt.Sprintf("chain:%d", min(left, 10)))
	}
	return strings.Join(parts, ",")
}

// agents starts this program again to serve the agents; stop ends it.
func (o options) agents(ctx context.Context) (list []switchlist.Entry, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	c := exec.CommandContext(ctx, self, append([]string{"-agents"}, os.Args[1:]...)...)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := c.Start(); err != nil {
		return nil, nil, err
	}
	stop = func() {
		_ = in.Close()
		_ = c.Wait()
	}
	var text strings.Builder
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != end {
		text.WriteString(lines.Text() + "\n")
	}
	list, problems := switchlist.Parse("agents", []byte(text.String()))
	if len(list) != o.switches+1 {
		stop()
		return nil, nil, fmt.Errorf("%d agents came up, %d were asked for %v", len(list), o.switches+1, problems)
	}
	return list, stop, nil
}
