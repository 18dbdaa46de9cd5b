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
func hide(p tree.Path, at *yang.Data) {
	if len(p) == 0 || p[0].Node.QName() == secretTop {
		at.Mask(secret, mask)
	}
}
