package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/test/harness"
)

// end marks the end of the switch list.
const end = "# end"

// serveAgents runs the agents until it is ended: chains of switches, and one with nothing but a
// forwarding table, the last of the list, which it prints.
func (o options) serveAgents(ctx context.Context) error {
	n, err := network.Start(network.Options{
		Topology:   o.topologySpec(),
		Ports:      o.ports,
		MaxMessage: o.message,
		Listen:     netip.MustParsePrefix("127.1.0.0/16"),
		BasePort:   20161,
	})
	if err != nil {
		return err
	}
	defer n.Close()
	if err := o.injectFaults(n); err != nil {
		return err
	}
	h := snmpagent.NewHost()
	defer h.Close()
	table, err := listenTable(newBigTable(o.fdb), h, o.message)
	if err != nil {
		return err
	}
	fmt.Printf("%s%s\n%s\n", n.CSV(), table, end)
	<-ctx.Done()
	return nil
}

// injectFaults makes some agents misbehave, spread over all.
func (o options) injectFaults(n *network.Network) error {
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

// topologySpec has exactly as many switches as asked for: chains of ten.
func (o options) topologySpec() string {
	parts := make([]string, 0, o.switches/10+1)
	for left := o.switches; left > 0; left -= 10 {
		parts = append(parts, fmt.Sprintf("chain:%d", min(left, 10)))
	}
	return strings.Join(parts, ",")
}

// startAgents starts this program again to serve the agents; stop ends it.
func (o options) startAgents() (list []switchlist.Entry, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	child, err := harness.Launch(
		end,
		exec.Command(self, append([]string{"-agents"}, os.Args[1:]...)...),
	)
	if err != nil {
		return nil, nil, err
	}
	list, problems := switchlist.Parse("agents", []byte(strings.TrimSuffix(child.Said, end+"\n")))
	if len(list) != o.switches+1 {
		child.Stop()
		return nil, nil, fmt.Errorf(
			"%d agents came up, %d were asked for %v",
			len(list),
			o.switches+1,
			problems,
		)
	}
	return list, child.Stop, nil
}
