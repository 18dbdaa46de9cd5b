package mounts

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/netconf"
)

// Mount is a router as a user describes it.
type Mount struct {
	Node       string `json:"node-id"`
	Host       string `json:"host"`
	Port       uint16 `json:"port,omitempty"`
	User       string `json:"username,omitempty"`
	Password   string `json:"password,omitempty"`
	PrivateKey string `json:"private-key,omitempty"`
	HostKey    string `json:"host-key,omitempty"`
	Driver     string `json:"driver,omitempty"`
	Dialect    string `json:"dialect,omitempty"`
	Keepalive  uint16 `json:"keepalive,omitempty"`
}

// Router is the mount as drivers get it.
func (m *Mount) Router() *bierdriver.Router {
	return &bierdriver.Router{NodeId: m.Node, Host: m.Host, Port: uint32(m.Port), User: m.User, Password: m.Password,
		PrivateKey: m.PrivateKey, HostKey: m.HostKey, Driver: m.Driver, Dialect: m.Dialect, KeepaliveSeconds: uint32(m.Keepalive)}
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

// purpose of the sealed text.
const purpose = "bier router"

// Table is the mounts. It is safe for concurrent use.
type Table struct {
	host    *host.Client
	changed func(node string)

	mu      sync.Mutex
	kept    map[string]*Mount             // by RPC and shell
	tree    map[string]*Mount             // by the configuration tree; comes first
	trusted map[string]string             // host keys taken on first use
	routers map[string]*bierdriver.Router // what counts
}

// New returns an empty table; changed is called with the id of each router that is
// reached differently now.
func New(h *host.Client, changed func(node string)) *Table {
	return &Table{host: h, changed: changed, kept: map[string]*Mount{}, tree: map[string]*Mount{}, trusted: map[string]string{}, routers: map[string]*bierdriver.Router{}}
}

func mountKey(node string) string { return "mount/" + url.PathEscape(node) }
func trustKey(node string) string { return "host-key/" + url.PathEscape(node) }

// Load reads what was kept.
func (t *Table) Load(ctx context.Context) error {
	for e, err := range t.host.Datastore.Range(ctx, host.Private, "mount/") {
		if err != nil {
			return err
		}
		m := &Mount{}
		text, err := t.host.Secrets.Open(ctx, purpose, e.Value)
		if err == nil {
			err = json.Unmarshal(text, m)
		}
		if err != nil {
			slog.Warn("a mounted router is left out: its entry cannot be opened; mount it again", "key", e.Key, "err", err)
			continue
		}
		t.kept[m.Node] = m
	}
	for e, err := range t.host.Datastore.Range(ctx, host.Private, "host-key/") {
		if err != nil {
			return err
		}
		if node, err := url.PathUnescape(e.Key[len("host-key/"):]); err == nil {
			t.trusted[node] = string(e.Value)
		}
	}
	for node := range t.kept {
		t.settle(node)
	}
	return nil
}

// settle computes what counts for a router and reports whether that is different.
func (t *Table) settle(node string) bool {
	m := t.kept[node]
	if in := t.tree[node]; in != nil {
		m = in.withSecrets(m)
	}
	if m == nil {
		_, had := t.routers[node]
		delete(t.routers, node)
		return had
	}
	r := m.Router()
	if r.HostKey == "" {
		r.HostKey = t.trusted[node]
	}
	if proto.Equal(t.routers[node], r) {
		return false
	}
	t.routers[node] = r
	return true
}

// Put keeps a mount. A host key that was trusted on first use is forgotten when the
// router is reached elsewhere now.
func (t *Table) Put(ctx context.Context, m Mount) error {
	if err := m.Check(); err != nil {
		return err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "the mount cannot be encoded")
	}
	sealed, err := t.host.Secrets.Seal(ctx, purpose, text)
	if err != nil {
		return err
	}
	x := host.Txn{Ops: []host.Op{{Key: mountKey(m.Node), Value: sealed}}}
	t.mu.Lock()
	old := t.kept[m.Node]
	t.mu.Unlock()
	elsewhere := old != nil && (old.Host != m.Host || old.Port != m.Port)
	if elsewhere {
		x.Ops = append(x.Ops, host.Op{Key: trustKey(m.Node), Delete: true})
	}
	if _, err := t.host.Datastore.Commit(ctx, x); err != nil {
		return err
	}
	t.update(m.Node, func() {
		t.kept[m.Node] = &m
		if elsewhere {
			delete(t.trusted, m.Node)
		}
	})
	return nil
}

// Remove forgets a mount.
func (t *Table) Remove(ctx context.Context, node string) error {
	if node == "" {
		return fault.New(fault.Missing, "node-id is missing")
	}
	t.mu.Lock()
	_, kept := t.kept[node]
	_, tree := t.tree[node]
	t.mu.Unlock()
	switch {
	case !kept && tree:
		return fault.New(fault.InUse, "router %s is mounted in the configuration tree network-topology; remove it there", node)
	case !kept:
		return fault.New(fault.NotFound, "no router is mounted as %q", node)
	}
	x := host.Txn{Ops: []host.Op{{Key: mountKey(node), Delete: true}, {Key: trustKey(node), Delete: true}}}
	if _, err := t.host.Datastore.Commit(ctx, x); err != nil {
		return err
	}
	t.update(node, func() { delete(t.kept, node); delete(t.trusted, node) })
	return nil
}

// SetTree replaces the mounts of the configuration tree. As by Put and Remove, a host
// key that was trusted on first use is forgotten when its router is taken out or
// reached elsewhere now.
func (t *Table) SetTree(ctx context.Context, all map[string]*Mount) {
	t.mu.Lock()
	nodes := maps.Clone(t.tree)
	maps.Copy(nodes, all)
	t.tree = all
	var different, forgotten []string
	for node := range nodes {
		before := t.routers[node]
		if !t.settle(node) {
			continue
		}
		different = append(different, node)
		now := t.routers[node]
		if before != nil && (now == nil || now.Host != before.Host || now.Port != before.Port) && t.trusted[node] != "" {
			delete(t.trusted, node)
			t.settle(node)
			forgotten = append(forgotten, node)
		}
	}
	t.mu.Unlock()
	for _, node := range forgotten {
		if err := t.host.Datastore.Delete(ctx, trustKey(node)); err != nil {
			slog.Warn("the host key of a router that was taken out is still kept; bier:router-remove forgets it", "node", node, "err", err)
		}
	}
	for _, node := range different {
		t.changed(node)
	}
}

// Trust keeps the key that a router showed first.
func (t *Table) Trust(ctx context.Context, node, key string) {
	t.mu.Lock()
	r := t.routers[node]
	first := key != "" && r != nil && r.HostKey == ""
	t.mu.Unlock()
	if !first {
		return
	}
	if err := t.host.Datastore.Put(ctx, trustKey(node), []byte(key)); err != nil {
		slog.Warn("the host key of a router was not kept", "node", node, "err", err)
		return
	}
	slog.Warn("the host key of a router is trusted because it is the first it showed; compare it with the router's", "node", node, "host-key", key)
	t.update(node, func() { t.trusted[node] = key })
}

func (t *Table) update(node string, f func()) {
	t.mu.Lock()
	f()
	different := t.settle(node)
	t.mu.Unlock()
	if different {
		t.changed(node)
	}
}

// Get returns how a router is reached, nil if nobody said. Do not change it.
func (t *Table) Get(node string) *bierdriver.Router {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.routers[node]
}

// Nodes lists the mounted routers, ascending.
func (t *Table) Nodes() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.routers))
}
