package bier

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"ctl.internal/sdk/host"
)

// keys are the keys of the lists of bier-topology and bier-channel.
var keys = map[string][]string{
	"bier-topology": {"topology-id"}, "bier-node": {"node-id"}, "bier-link": {"link-id"}, "bier-domain": {"domain-id"},
	"bier-sub-domain": {"sub-domain-id"}, "bier-termination-point": {"tp-id"}, "domain": {"domain-id"}, "sub-domain": {"sub-domain-id"},
	"ipv4": {"bitstringlength", "bier-mpls-label-base"}, "ipv6": {"bitstringlength", "bier-mpls-label-base"},
	"bier-channel": {"topology-id"}, "channel": {"name"}, "egress-node": {"node-id"},
}

// Documents takes a tree of bier-topology or bier-channel apart into what the
// controller keeps of it: a document for each entry of a list, under its RFC 8040
// path. root is the path of v.
func Documents(root string, v any) (map[string][]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var top map[string]any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&top); err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	return out, entry(out, root, top)
}

// entry adds the document of an entry, and those of the lists in it.
func entry(out map[string][]byte, path string, e map[string]any) error {
	if err := detach(out, path, e); err != nil {
		return err
	}
	raw, err := json.Marshal(e)
	out[path] = raw
	return err
}

// detach takes the lists out of a container and the containers in it.
func detach(out map[string][]byte, path string, c map[string]any) error {
	for name, v := range c {
		switch v := v.(type) {
		case map[string]any:
			if err := detach(out, path+"/"+name, v); err != nil {
				return err
			}
		case []any:
			delete(c, name)
			for _, x := range v {
				e, ok := x.(map[string]any)
				if !ok || keys[name] == nil {
					return fmt.Errorf("%s/%s is no list with keys", path, name)
				}
				at := make([]string, len(keys[name]))
				for i, k := range keys[name] {
					at[i] = escape(fmt.Sprint(e[k]))
				}
				if err := entry(out, path+"/"+name+"="+strings.Join(at, ","), e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// escape writes a key as the controller's trees have it.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~:@$*", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// Shown is a tree as it was published last. The zero Shown has published nothing.
type Shown struct{ last map[string][]byte }

// maxOps bounds the writes of one transaction.
const maxOps = 2000

// Show publishes a tree in the operational data, by what is different from the last
// time. After an error the next time writes everything again.
func (s *Shown) Show(ctx context.Context, d *host.Datastore, docs map[string][]byte) error {
	var ops []host.Op
	for key, text := range docs {
		if string(s.last[key]) != string(text) {
			ops = append(ops, host.Op{Key: key, Value: text})
		}
	}
	for key := range s.last {
		if _, ok := docs[key]; !ok {
			ops = append(ops, host.Op{Key: key, Delete: true})
		}
	}
	for len(ops) > 0 {
		n := min(len(ops), maxOps)
		if _, err := d.Commit(ctx, host.Operational, host.Txn{Ops: ops[:n], Volatile: true}); err != nil {
			for key := range docs { // what was written is not known; what must go still is
				s.last = forget(s.last, key)
			}
			return err
		}
		ops = ops[n:]
	}
	s.last = maps.Clone(docs)
	return nil
}

// forget makes the text of a key unknown, but not that it is there.
func forget(last map[string][]byte, key string) map[string][]byte {
	if last == nil {
		last = map[string][]byte{}
	}
	last[key] = nil
	return last
}
