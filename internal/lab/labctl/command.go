package labctl

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/simdlink"
	"ctl.internal/internal/lab/simswitch"
	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

// flags are the command line of a run.
type flags struct {
	topology, csv, listen, version, control string
	ports, basePort, hosts, fdb, cliPort    int
	models, traps, discovery                []string
	untilEOF, asJSON                        bool
}

// Command returns the root command: it runs a network; its subcommands change
// one that runs.
func Command() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "ctl-lab --topology ring:8,tree:3x2 --csv FILE",
		Short: "run simulated switches that speak SNMP on loopback addresses, or BIER routers (ctl-lab routers)",
		Long: "Runs simulated switches until SIGTERM or SIGINT, and prints one line when they listen.\n" +
			"Topologies: " + network.Topologies + ".",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runNetwork(cmd, f)
		},
	}
	p := cmd.Flags()
	p.StringVar(
		&f.topology,
		"topology",
		"ring:8,tree:3x2",
		"the switches and links; the parts are islands",
	)
	p.StringVar(&f.csv, "csv", "", "write the switch list here, atomically")
	p.IntVar(&f.ports, "ports", 24, "ports of each switch")
	p.IntVar(&f.hosts, "hosts", 2, "stations at each switch, -1 for none")
	p.IntVar(
		&f.fdb,
		"fdb",
		0,
		"addresses that the first switch knows besides, in its forwarding and ARP tables",
	)
	p.IntVar(
		&f.basePort,
		"base-port",
		0,
		"first UDP port; 0 is any free ones (1161 when each has its own address)",
	)
	p.StringVar(
		&f.listen,
		"listen-net",
		"127.0.0.1",
		"loopback address for all, or a network as 127.1.0.0/16 for one each",
	)
	p.IntVar(
		&f.cliPort,
		"cli-port",
		0,
		"command line of the D-Link switches: telnet at this TCP port, SSH at the next, login admin/password (--csv names it);\n0 for none; each needs an address of its own (--listen-net with a network)",
	)
	p.StringVar(
		&f.version,
		"snmp",
		"v2c",
		"v2c (public/private) or v3 (ops, SHA-256 authpass123, AES privpass123)",
	)
	p.StringSliceVar(
		&f.models,
		"model",
		nil,
		"makes that the switches take in turn, as D-Link_DGS-3650",
	)
	p.StringSliceVar(
		&f.discovery,
		"discovery",
		nil,
		"how the switches show their neighbours, in turn: lldp, lldp-v2, cdp, both, none",
	)
	p.StringSliceVar(
		&f.traps,
		"trap-to",
		nil,
		"IP:PORT that gets traps, or KIND:IP:PORT with v1, v2c, inform, v3 or v3inform",
	)
	p.BoolVar(&f.untilEOF, "until-eof", false, "end when standard input closes, too")
	p.BoolVar(&f.asJSON, "json", false, "print the ready line as JSON")
	cmd.PersistentFlags().StringVar(
		&f.control,
		"control",
		"",
		"unix socket to change the running network by",
	)
	cmd.AddCommand(clientCommands(&f.control)...)
	cmd.AddCommand(routersCommand(&f.control), routerCommand(&f.control))
	return cmd
}

// networkOptions checks the flags.
func (f *flags) networkOptions() (network.Options, error) {
	o := network.Options{
		Topology: f.topology,
		Ports:    f.ports,
		Hosts:    f.hosts,
		FDB:      f.fdb,
		BasePort: f.basePort,
		Models:   f.models,
	}
	listen := f.listen
	if !strings.Contains(listen, "/") {
		listen += "/32"
	}
	var err error
	if o.Listen, err = netip.ParsePrefix(listen); err != nil {
		return o, fmt.Errorf(
			"--listen-net %q: an address as 127.0.0.1 or a network as 127.1.0.0/16 belongs here",
			f.listen,
		)
	}
	switch f.version {
	case "v3":
		o.V3 = true
	case "v2c":
	default:
		return o, fmt.Errorf("--snmp %q: v2c or v3 belongs here", f.version)
	}
	for _, d := range f.discovery {
		o.Discovery = append(o.Discovery, simswitch.Discovery(d))
	}
	for _, t := range f.traps {
		target, err := parseTarget(t)
		if err != nil {
			return o, err
		}
		o.Targets = append(o.Targets, target)
	}
	return o, nil
}

// parseTarget reads IP:PORT with an optional kind of notification and a colon before it.
func parseTarget(text string) (snmpagent.Target, error) {
	t := snmpagent.Target{
		Version:   snmpwire.Version2c,
		Community: "private",
		Retries:   2,
	}
	rest := text
	kind, after, ok := strings.Cut(text, ":")
	if ok && strings.Contains(after, ":") {
		rest = after
		switch kind {
		case "v1":
			t.Version = snmpwire.Version1
		case "inform":
			t.Inform = true
		case "v3":
			t.Version = snmpwire.Version3
		case "v3inform":
			t.Version, t.Inform = snmpwire.Version3, true
		case "v2c":
		default:
			return t, fmt.Errorf(
				"trap target %q: v1, v2c, inform, v3 or v3inform may come before the address",
				text,
			)
		}
	}
	var err error
	if t.Addr, err = netip.ParseAddrPort(rest); err != nil || !t.Addr.Addr().IsLoopback() {
		return t, fmt.Errorf("trap target %q: a loopback IP:PORT belongs here", text)
	}
	return t, nil
}

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
		s, err := simdlink.Start(simdlink.Options{
			Model:     model,
			STPPort:   node.SetSTPEnabled,
			PortState: node.SetAdminUp,
			Telnet:    host + ":" + strconv.Itoa(port),
			SSH:       host + ":" + strconv.Itoa(port+1),
		})
		if err != nil {
			end()
			return nil, fmt.Errorf("--cli-port %d: %w", port, err)
		}
		all, node.CLIPort = append(all, s), port
	}
	return end, nil
}
