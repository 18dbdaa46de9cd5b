// Package network joins simulated switches to networks that controllers can
// discover: links that LLDP shows at both ends, a spanning tree, learned
// addresses, traps. It starts the agents, writes the switch list and knows the
// truth that a test compares a discovery with.
//
// One switch alone is package simswitch on package snmpagent.
package network

import (
	"context"
	"fmt"
	"sync"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/simswitch"
	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

// Node is a switch in the network.
type Node struct {
	*simswitch.Switch
	Server *snmpagent.Server
	Hosts  []Host

	index  int
	byPort map[int]*cable
	off    bool // sends no traps

	// CLIPort is the TCP port of the switch's telnet, for the switch list; 0: it has none.
	// It is set before CSV is called.
	CLIPort int
}

// Host is a station at an edge port; it answers nothing, but its address is learned.
type Host struct {
	MAC  simswitch.MAC
	Port int
}

// Network is a set of running switches. Its methods may be called at the same time.
type Network struct {
	opts   Options
	host   *snmpagent.Host
	nodes  []*Node
	byName map[string]*Node
	links  []*cable
	ctx    context.Context
	cancel context.CancelFunc
	user   *snmpwire.User // of version 3
	wg     sync.WaitGroup

	mu      sync.Mutex // the state of links and what follows from it
	targets []snmpagent.Target
}

// Start builds the network and starts its agents. Switches are named sw1, sw2 …
// Close ends it.
func Start(opts Options) (*Network, error) {
	if err := opts.setDefaults(); err != nil {
		return nil, err
	}
	plan, err := parseTopology(opts.Topology)
	if err != nil {
		return nil, err
	}
	n := &Network{
		opts:    opts,
		byName:  make(map[string]*Node, plan.switches),
		host:    snmpagent.NewHost(),
		targets: opts.Targets,
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	if err := n.build(plan); err != nil {
		n.Close()
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.links {
		n.updateCarrier(l)
	}
	n.converge()
	return n, nil
}

func (n *Network) build(p plan) error {
	schemas := map[simswitch.Discovery]*snmpagent.Schema[*simswitch.Switch]{}
	var err error
	if n.user, err = snmpwire.NewUser(
		userName,
		authProtocol,
		authPassword,
		privProtocol,
		privPassword,
	); err != nil {
		return err
	}
	var users []*snmpwire.User
	if n.opts.V3 {
		users = append(users, n.user)
	}
	for i := range p.switches {
		at, err := n.opts.agentEndpoint(i)
		if err != nil {
			return err
		}
		profile := simswitch.Profile{}
		if m := n.opts.Models; len(m) > 0 {
			if profile, err = simswitch.ProfileOf(m[i%len(m)]); err != nil {
				return err
			}
		}
		var shows simswitch.Discovery
		if d := n.opts.Discovery; len(d) > 0 {
			shows = d[i%len(d)]
		}
		node := &Node{index: i, byPort: map[int]*cable{}}
		node.Switch, err = simswitch.New(simswitch.Config{
			Name:      fmt.Sprintf("sw%d", i+1),
			MAC:       switchMAC(i),
			Address:   n.opts.managementPrefix(i, at),
			Ports:     n.opts.Ports,
			Profile:   profile,
			Discovery: shows,
			Clock:     n.opts.Clock,
			UpTime:    upTime,
			PortAdmin: func(port int, _ bool) { n.portChanged(node, port) },
			TreeSet:   n.Relearn,
		})
		if err != nil {
			return err
		}
		schema := schemas[node.Discovery()]
		if schema == nil {
			schema = simswitch.NewSchema(node.Discovery())
			schemas[node.Discovery()] = schema
		}
		agent := snmpagent.New(n.agentConfig(node, schema, users))
		if node.Server, err = n.host.Listen(at, agent); err != nil {
			return err
		}
		n.nodes = append(n.nodes, node)
		n.byName[node.Name()] = node
	}
	return n.wireCables(p)
}

func (n *Network) agentConfig(
	node *Node,
	schema *snmpagent.Schema[*simswitch.Switch],
	users []*snmpwire.User,
) snmpagent.Config {
	cfg := snmpagent.Config{
		MIB:         node.MIB(schema),
		Users:       users,
		EngineID:    engineID(node.MAC()),
		Clock:       n.opts.Clock,
		MaxMessage:  n.opts.MaxMessage,
		Seed:        uint64(node.index),
		AuthFailure: func() { n.authFailed(node) },
	}
	if !n.opts.V3 {
		cfg.ReadCommunity, cfg.WriteCommunity = readCommunity, writeCommunity
	}
	return cfg
}

// engineID is of the MAC address kind (RFC 3411, SnmpEngineID), enterprise 99999.
func engineID(m simswitch.MAC) []byte {
	return append([]byte{0x80, 0x01, 0x86, 0x9f, 3}, m[:]...)
}

// Close ends the agents and waits for them.
func (n *Network) Close() {
	n.mu.Lock() // so that no inform starts after it
	n.cancel()
	n.mu.Unlock()
	n.host.Close()
	n.wg.Wait()
}

// Nodes returns the switches in the order of their numbers.
func (n *Network) Nodes() []*Node { return n.nodes }

// Node returns a switch by its name.
func (n *Network) Node(name string) (*Node, error) {
	if node, ok := n.byName[name]; ok {
		return node, nil
	}
	return nil, fmt.Errorf(
		"there is no switch %.40q; they are named sw1 to sw%d",
		name,
		len(n.nodes),
	)
}

// SetFaults makes a switch misbehave from its next request on.
func (n *Network) SetFaults(name string, f faults.Set) error {
	node, err := n.Node(name)
	if err != nil {
		return err
	}
	node.Server.Agent().SetFaults(f)
	return nil
}

// Restart switches a switch off and on: its links go down and come back, it
// forgets what it learned, its engine boots again, and it sends coldStart.
func (n *Network) Restart(name string) error {
	node, err := n.Node(name)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var lost []*cable
	node.off = true
	for _, l := range node.byPort {
		if l.live {
			lost = append(lost, l)
			l.cut = true
			n.refreshCable(l)
		}
	}
	node.Switch.Restart()
	node.Server.Agent().Restart()
	node.off = false
	n.notifyTrap(node, snmpwire.MustOID(ColdStart))
	for _, l := range lost {
		l.cut = false
		n.refreshCable(l)
	}
	n.converge()
	return nil
}
