package network

import "ctl.internal/internal/lab/snmpwire"

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
			n.refresh(l)
		}
	}
	node.Switch.Restart()
	node.Server.Agent().Restart()
	node.off = false
	n.notify(node, snmpwire.MustOID(ColdStart))
	for _, l := range lost {
		l.cut = false
		n.refresh(l)
	}
	n.converge()
	return nil
}
