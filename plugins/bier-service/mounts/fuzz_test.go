package mounts

import "testing"

// FuzzParseNode reads what users put into the tree of routers: a router with an address,
// or none.
func FuzzParseNode(f *testing.F) {
	f.Add(treeKey+"r1", []byte(`{"node-id":"r1","netconf-node-topology:host":"192.0.2.1","netconf-node-topology:port":830,"netconf-node-topology:keepalive-delay":70000}`))
	f.Add(treeKey+"%zz", []byte(`{}`))
	f.Add(treeKey+"r1/x", []byte(`[]`))
	f.Fuzz(func(t *testing.T, key string, text []byte) {
		if m := parseNode(key, text); m != nil && m.Host == "" {
			t.Errorf("%q %q: %+v", key, text, m)
		}
	})
}
