package labctl

import (
	"fmt"
	"strconv"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/snmpagent"
)

// switchView is a switch as the control socket shows it.
type switchView struct {
	Name   string          `json:"name"`
	MAC    string          `json:"mac"`
	Addr   string          `json:"addr"`
	Model  string          `json:"model"`
	Faults string          `json:"faults"`
	Stats  snmpagent.Stats `json:"stats"`
}

// linkView is a link as the control socket shows it.
type linkView struct {
	A     string `json:"a"`
	APort int    `json:"a-port"`
	B     string `json:"b"`
	BPort int    `json:"b-port"`
	Up    bool   `json:"up"`
}

// networkRequests are those of a network of switches.
func networkRequests() []request[*network.Network] {
	return []request[*network.Network]{
		{"link A B up|down", "cut or mend the links between two switches", func(n *network.Network, args []string) (any, error) {
			if state := args[2]; state != "up" && state != "down" {
				return nil, fmt.Errorf("link state %.20q: up or down belongs here", state)
			}
			return nil, n.SetLink(args[0], args[1], args[2] == "up")
		}},
		{"fault SWITCH|all FAULTS", "make a switch misbehave, as loss=20,delay=100ms; none heals it", setFaults},
		{"restart SWITCH", "switch it off and on", func(n *network.Network, args []string) (any, error) { return nil, n.Restart(args[0]) }},
		{"trap SWITCH OID", "send a notification", func(n *network.Network, args []string) (any, error) { return nil, n.Trap(args[0], args[1]) }},
		{"traps-to TARGET", "send all traps to [KIND:]IP:PORT from now on, kinds as for --trap-to", func(n *network.Network, args []string) (any, error) {
			t, err := parseTarget(args[0])
			if err == nil {
				n.SetTargets(t)
			}
			return nil, err
		}},
		{"traffic SWITCH PORT BITS ERRORS", "let so many bits a second pass a port, and so many faulty frames a second", setTraffic},
		{"links", "print the links as JSON", links},
		{"switches", "print the switches as JSON", switches},
	}
}

func setFaults(n *network.Network, args []string) (any, error) {
	f, err := faults.Parse(args[1])
	if err != nil {
		return nil, err
	}
	if args[0] != "all" {
		return nil, n.SetFaults(args[0], f)
	}
	for _, node := range n.Nodes() {
		node.Server.Agent().SetFaults(f)
	}
	return nil, nil
}

func setTraffic(n *network.Network, args []string) (any, error) {
	node, err := n.Node(args[0])
	if err != nil {
		return nil, err
	}
	var number [3]uint64
	for i, what := range []string{"port", "bits", "errors"} {
		if number[i], err = strconv.ParseUint(args[i+1], 10, 40); err != nil {
			return nil, fmt.Errorf("%s %.20q: a number from 0 to 2^40 belongs here", what, args[i+1])
		}
	}
	return nil, node.SetTraffic(int(number[0]), number[1], number[2])
}

func links(n *network.Network, _ []string) (any, error) {
	views := []linkView{}
	for _, l := range n.Links() {
		views = append(views, linkView{l.A.Switch, l.A.Port, l.B.Switch, l.B.Port, l.Up})
	}
	return views, nil
}

func switches(n *network.Network, _ []string) (any, error) {
	views := []switchView{}
	for _, node := range n.Nodes() {
		a := node.Server.Agent()
		views = append(views, switchView{node.Name(), node.MAC().String(), node.Server.Addr().String(),
			node.Profile().Model, a.Faults().String(), a.Stats()})
	}
	return views, nil
}
