// Package mounts knows how routers are reached: the nodes of topology-netconf in the
// configuration tree network-topology, and the host keys they showed first. The controller
// keeps documents with passwords and keys sealed.
package mounts

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/netconf"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
)

// topology is that of network-topology in which routers are mounted.
const topology = bier.MountTopology

// Mount is a router as a user describes it: a node of the configuration tree, with the
// leaves of netconf-node-topology. One without a host mounts nothing.
type Mount struct {
	Node       string `json:"node-id"`
	Host       string `json:"netconf-node-topology:host,omitempty"`
	Port       uint16 `json:"netconf-node-topology:port,omitempty"`
	User       string `json:"netconf-node-topology:username,omitempty"`
	Password   string `json:"netconf-node-topology:password,omitempty"`
	PrivateKey string `json:"netconf-node-topology:private-key,omitempty"`
	HostKey    string `json:"netconf-node-topology:host-key,omitempty"`
	Driver     string `json:"netconf-node-topology:driver,omitempty"`
	Dialect    string `json:"netconf-node-topology:dialect,omitempty"`
	Keepalive  uint32 `json:"netconf-node-topology:keepalive-delay,omitempty"`
}

// node is a mount as it lies in the tree, in one of its two forms.
type node struct {
	Mount
	refused error // why it cannot be used
}

// UnmarshalJSON reads both forms.
func (n *node) UnmarshalJSON(text []byte) error {
	flat, refused := bier.FlattenMount(text)
	n.refused = refused
	n.Mount = Mount{}
	return json.Unmarshal(flat, &n.Mount)
}

// check says what is wrong with a mount of the tree.
func (n *node) check() error {
	if n.refused != nil {
		return fault.Wrap(fault.Invalid, n.refused, "mount of router %s: %v", n.Node, n.refused)
	}
	return n.Check()
}

// Trusted is a host key that a router showed first, at an address.
type Trusted struct {
	Key  string `json:"host-key"`
	Host string `json:"host"`
	Port uint16 `json:"port"`
}

// Check says what is wrong with a mount.
func (m *Mount) Check() error {
	switch {
	case m.Node == "":
		return fault.New(fault.Missing, "node-id is missing")
	case m.Host == "":
		return fault.New(fault.Missing, "host is missing: the address of router %s", m.Node)
	case m.User == "" && (m.Password != "" || m.PrivateKey != ""):
		return fault.New(fault.Missing, "username is missing")
	}
	if err := netconf.CheckHostKey(m.HostKey); err != nil {
		return fault.Wrap(fault.Invalid, err, "host-key of router %s: %v", m.Node, err)
	}
	if err := netconf.CheckPrivateKey([]byte(m.PrivateKey)); err != nil {
		return fault.Wrap(fault.Invalid, err, "private-key of router %s: %v", m.Node, err)
	}
	return nil
}

// Mounts is what is known of how routers are reached.
type Mounts struct {
	Store *state.Store
	// Allow refuses mounts that the network does not allow; others are the mounts of the same place. May be nil.
	Allow func(r state.Reader, m Mount, others []string) error
	nodes *state.Tree[node]
	keys  *state.Table[Trusted]
}

// New returns the mounts, which are there when a Store was opened with Views; changed is
// called with the ids of routers that may be reached otherwise now, nil for all.
func New(changed func(nodes []string)) *Mounts {
	m := &Mounts{nodes: state.NewTree[node]("/network-topology:network-topology/topology=*/node=*"),
		keys: state.NewTable[Trusted](state.Private("host-key/"))}
	m.nodes.Notify(func(paths []string) {
		var nodes []string
		for _, p := range paths {
			if k := m.nodes.Keys(p); k[0] == topology {
				nodes = append(nodes, k[1])
			}
		}
		if paths == nil || nodes != nil {
			changed(nodes)
		}
	})
	return m
}

// Views are what state.Open takes.
func (m *Mounts) Views() []state.View {
	return []state.View{m.nodes, m.keys}
}

// Get returns the access data of a router, nil if it is not mounted.
func (m *Mounts) Get(r state.Reader, node string) *bierdriver.Router {
	x, ok := m.nodes.Get(r, topology, node)
	if !ok || x.Host == "" || x.refused != nil {
		return nil
	}
	if t, ok := m.keys.Get(r, node); ok && x.HostKey == "" && t.Host == x.Host && t.Port == x.Port {
		x.HostKey = t.Key
	}
	return &bierdriver.Router{
		NodeId:           x.Node,
		Host:             x.Host,
		Port:             uint32(x.Port),
		User:             x.User,
		Password:         x.Password,
		PrivateKey:       x.PrivateKey,
		HostKey:          x.HostKey,
		Driver:           x.Driver,
		Dialect:          x.Dialect,
		KeepaliveSeconds: x.Keepalive,
	}
}

// Nodes lists the mounted routers, ascending.
func (m *Mounts) Nodes(r state.Reader) (out []string) {
	for _, x := range m.nodes.All(r, topology) {
		if x.Host != "" {
			out = append(out, x.Node)
		}
	}
	slices.Sort(out)
	return out
}

// Put mounts a router, or mounts it otherwise.
func (m *Mounts) Put(ctx context.Context, x Mount) error {
	x.Node = bier.ShortID(x.Node)
	if err := x.Check(); err != nil {
		return err
	}
	_, err := m.Store.Update(ctx, func(tx *state.Tx) error {
		if err := m.checkAllowed(tx, x); err != nil {
			return fault.New(fault.Invalid, "%v", err)
		}
		m.forgetHostKey(tx, x.Node, x)
		return m.nodes.Put(tx, node{Mount: x}, topology, x.Node)
	})
	return err
}

// checkAllowed asks Allow about a mount.
func (m *Mounts) checkAllowed(r state.Reader, x Mount) error {
	if m.Allow == nil {
		return nil
	}
	var others []string
	for _, o := range m.nodes.All(r, topology) {
		if o.Node != x.Node && o.Host != "" && o.routerPlace() == x.routerPlace() {
			others = append(others, o.Node)
		}
	}
	if len(others) == 0 {
		return nil
	}
	return m.Allow(r, x, others)
}

// routerPlace is where the router is reached.
func (m *Mount) routerPlace() string {
	return bier.Place(m.Host, m.Port, m.Driver)
}

// KeyOf returns another mounted router that is known by a host key, "" if none.
func (m *Mounts) KeyOf(r state.Reader, node, key string) string {
	for _, x := range m.nodes.All(r, topology) {
		if x.Host == "" || x.Node == node {
			continue
		}
		t, _ := m.keys.Get(r, x.Node)
		if key != "" && (x.HostKey == key || x.HostKey == "" && t.Key == key) {
			return x.Node
		}
	}
	return ""
}

// Remove forgets a mount.
func (m *Mounts) Remove(ctx context.Context, node string) error {
	if node == "" {
		return fault.New(fault.Missing, "node-id is missing")
	}
	node = bier.ShortID(node)
	_, err := m.Store.Update(ctx, func(tx *state.Tx) error {
		if _, ok := m.nodes.Get(tx, topology, node); !ok {
			return fault.New(fault.NotFound, "no router is mounted as %q", node)
		}
		m.forgetHostKey(tx, node, Mount{})
		m.nodes.Delete(tx, topology, node)
		return nil
	})
	return err
}

// forgetHostKey drops the host key that was trusted on first use, unless a router is still
// reached at the same address.
func (m *Mounts) forgetHostKey(tx *state.Tx, node string, now Mount) {
	t, ok := m.keys.Get(tx, node)
	if ok && (t.Host != now.Host || t.Port != now.Port) {
		m.keys.Delete(tx, node)
	}
}

// Check refuses changes of the tree by others that can never work, and has host keys
// forgotten; see sdk.Plugin.
func (m *Mounts) Check(_ context.Context, tx *state.Tx) error {
	now := m.Store.Now()
	var l fault.List
	for path, x := range m.nodes.All(tx.Snapshot(), topology) {
		before, _ := m.nodes.Get(now, topology, x.Node)
		if x.Host == "" && x.refused == nil || reflect.DeepEqual(before, x) {
			continue
		}
		err := x.check()
		if err == nil && (before.Host == "" || before.routerPlace() != x.routerPlace()) {
			err = m.checkAllowed(tx.Snapshot(), x.Mount)
		}
		if err != nil {
			l = append(l, fault.At(fault.Invalid, path, "%v", err))
		}
	}
	for node := range m.keys.All(now, "") {
		x, _ := m.nodes.Get(tx.Snapshot(), topology, node)
		m.forgetHostKey(tx, node, x.Mount)
	}
	return l.Err()
}

// Trust keeps the key that a router showed first. It reports whether it is news.
func (m *Mounts) Trust(
	ctx context.Context,
	term *state.Term,
	r *bierdriver.Router,
	key string,
) (bool, error) {
	if key == "" || r.HostKey != "" {
		return false, nil
	}
	kept := false
	_, err := term.Update(ctx, func(tx *state.Tx) error {
		kept = false
		x, ok := m.nodes.Get(tx, topology, r.NodeId)
		t, known := m.keys.Get(tx, r.NodeId)
		if !ok || x.HostKey != "" || x.Host != r.Host || uint32(x.Port) != r.Port ||
			known && t.Host == x.Host && t.Port == x.Port {
			return nil
		}
		kept = true
		return m.keys.Put(tx, r.NodeId, Trusted{
			Key:  key,
			Host: x.Host,
			Port: x.Port,
		})
	})
	return kept, err
}
