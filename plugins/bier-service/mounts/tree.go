package mounts

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// treeKey precedes the nodes of the topology in which routers are mounted: one
// document each, under its RFC 8040 path.
const treeKey = "/network-topology:network-topology/topology=topology-netconf/node="

// treeNode is a node of the tree, with the leaves of netconf-node-topology.
type treeNode struct {
	Node      string `json:"node-id"`
	Host      string `json:"netconf-node-topology:host"`
	Port      uint16 `json:"netconf-node-topology:port"`
	User      string `json:"netconf-node-topology:username"`
	Password  string `json:"netconf-node-topology:password"`
	Keepalive uint32 `json:"netconf-node-topology:keepalive-delay"`
	Driver    string `json:"netconf-node-topology:driver"`
	HostKey   string `json:"netconf-node-topology:host-key"`
}

// parseNode reads a document of the tree; nil when it mounts nothing.
func parseNode(key string, text []byte) *Mount {
	rest, ok := strings.CutPrefix(key, treeKey)
	if !ok || strings.Contains(rest, "/") {
		return nil
	}
	id, err := url.PathUnescape(rest)
	var n treeNode
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err != nil {
		slog.Warn("a node of topology-netconf cannot be read", "key", key, "err", err)
		return nil
	}
	if n.Host == "" {
		return nil
	}
	return &Mount{Node: id, Host: n.Host, Port: n.Port, User: n.User, Password: n.Password, Driver: n.Driver, HostKey: n.HostKey,
		Keepalive: uint16(min(n.Keepalive, 65535))}
}

// withSecrets adds the credentials that were kept for the router.
func (m *Mount) withSecrets(kept *Mount) *Mount {
	if kept == nil || m.Password != "" {
		return m
	}
	out := *m
	if out.User == "" {
		out.User = kept.User
	}
	out.Password, out.PrivateKey = kept.Password, kept.PrivateKey
	return &out
}

// Follow keeps the mounts equal to the configuration tree until ctx ends.
func (t *Table) Follow(ctx context.Context) {
	for ctx.Err() == nil {
		err := t.readTree(ctx)
		if err == nil {
			err = t.host.Datastore.Watch(ctx, host.Config, treeKey, 0, func(host.Batch) error { return t.readTree(ctx) })
		}
		if ctx.Err() != nil {
			return
		}
		if fault.KindOf(err) == fault.Denied {
			slog.Warn("routers mounted in the configuration tree are not seen", "err", err)
		}
		wait := time.NewTimer(time.Second)
		select {
		case <-ctx.Done():
		case <-wait.C:
		}
		wait.Stop()
	}
}

func (t *Table) readTree(ctx context.Context) error {
	all := map[string]*Mount{}
	for e, err := range t.host.Datastore.Range(ctx, host.Config, treeKey) {
		if err != nil {
			return err
		}
		if m := parseNode(e.Key, e.Value); m != nil {
			all[m.Node] = m
		}
	}
	t.SetTree(ctx, all)
	return nil
}
