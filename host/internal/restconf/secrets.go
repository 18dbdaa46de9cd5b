package restconf

import (
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
)

// mask is shown in place of a secret.
const mask = "********"

// secretTop is the one top-level node with secrets below it.
const secretTop = "network-topology:network-topology"

// secret reports whether a leaf holds a secret. The documents these leaves are in lie
// sealed in the datastore (package server).
func secret(n *yang.Node) bool {
	return n != nil && n.Module == "netconf-node-topology" && (n.Name == "password" || n.Name == "private-key")
}

// hide masks the secrets of an answer. Answers that can have none cost nothing.
func hide(p tree.Path, at *yang.Data) (*yang.Data, error) {
	switch {
	case len(p) == 0: // the whole datastore
		for c := at.First(); c != nil; c = c.Next() {
			if c.Node != nil && c.Node.QName() == secretTop {
				return at, hideBelow(c)
			}
		}
		return at, nil
	case p[0].Node.QName() != secretTop:
		return at, nil
	case secret(at.Node):
		return masked(at.Node)
	}
	return at, hideBelow(at)
}

func hideBelow(d *yang.Data) error {
	for c := d.First(); c != nil; {
		next := c.Next()
		switch {
		case secret(c.Node):
			m, err := masked(c.Node)
			if err != nil {
				return err
			}
			d.Put(m)
		case c.Node == nil || c.Node.Kind != yang.AnyData:
			if err := hideBelow(c); err != nil {
				return err
			}
		}
		c = next
	}
	return nil
}

func masked(n *yang.Node) (*yang.Data, error) {
	return n.DecodeValue([]byte(`"`+mask+`"`), yang.Options{})
}
