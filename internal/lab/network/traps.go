package network

import (
	"slices"

	"ctl.internal/internal/lab/simswitch"
	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

// SetTargets replaces who gets traps. Version 3 targets without a user get
// them as the user of the switch list.
func (n *Network) SetTargets(targets ...snmpagent.Target) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.targets = slices.Clone(targets)
}

// The kinds of traps that Trap sends.
const (
	ColdStart             = "1.3.6.1.6.3.1.1.5.1"
	LinkDown              = "1.3.6.1.6.3.1.1.5.3"
	LinkUp                = "1.3.6.1.6.3.1.1.5.4"
	AuthenticationFailure = "1.3.6.1.6.3.1.1.5.5"
	LLDPRemTablesChange   = "1.0.8802.1.1.2.0.0.1"
	LLDPV2RemTablesChange = "1.3.111.2.802.1.1.13.0.0.1"
)

// Trap sends a notification of a switch to all targets.
func (n *Network) Trap(name, trap string, list ...snmpwire.VarBind) error {
	node, err := n.Node(name)
	if err != nil {
		return err
	}
	id, err := snmpwire.ParseOID(trap)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.notifyTrap(node, id, list...)
	return nil
}

func (n *Network) notifyTrap(node *Node, trap snmpwire.OID, list ...snmpwire.VarBind) {
	if node.off {
		return
	}
	note := snmpagent.Notification{
		Trap:       trap,
		Enterprise: node.ObjectID(),
		UpTime:     node.UpTime(),
		VarBinds:   list,
	}
	for _, t := range n.targets {
		if t.User == nil {
			t.User = n.user
		}
		if !t.Inform {
			_ = node.Server.Notify(n.ctx, t, note) // lost, as traps may be
			continue
		}
		if n.ctx.Err() != nil {
			return
		}
		n.wg.Go(func() { _ = node.Server.Notify(n.ctx, t, note) })
	}
}

// linkTrap is linkDown or linkUp of IF-MIB: ifIndex, ifAdminStatus, ifOperStatus.
func (n *Network) linkTrap(node *Node, port int, up bool) {
	if len(n.targets) == 0 {
		return
	}
	index := node.IfIndex(port)
	bind := func(column uint32, v int) snmpwire.VarBind {
		return snmpwire.VarBind{
			Name:  snmpwire.OID{1, 3, 6, 1, 2, 1, 2, 2, 1, column, uint32(index)},
			Value: snmpwire.Int32(v),
		}
	}
	trap := LinkDown
	admin := 2
	oper := 2
	if node.AdminUp(port) {
		admin = 1
	}
	if up {
		trap, oper = LinkUp, 1
	}
	n.notifyTrap(node, snmpwire.MustOID(trap), bind(1, index), bind(7, admin), bind(8, oper))
}

// neighborTrap is lldpRemTablesChange of LLDP-MIB, or that of LLDP-V2-MIB.
func (n *Network) neighborTrap(node *Node) {
	if len(n.targets) == 0 {
		return
	}
	switch node.Discovery() {
	case simswitch.LLDP, simswitch.Both:
		n.notifyTrap(node, snmpwire.MustOID(LLDPRemTablesChange))
	case simswitch.LLDPV2:
		n.notifyTrap(node, snmpwire.MustOID(LLDPV2RemTablesChange))
	}
}

// authFailed runs in the agent's own goroutine.
func (n *Network) authFailed(node *Node) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.notifyTrap(node, snmpwire.MustOID(AuthenticationFailure))
}
