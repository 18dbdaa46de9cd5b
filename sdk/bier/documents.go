package bier

import (
	"context"
	"encoding/json"
	"fmt"
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
					at[i] = Key(fmt.Sprint(e[k]))
				}
				if err := entry(out, path+"/"+name+"="+strings.Join(at, ","), e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Key writes the value of a key as the controller's trees have it in paths.
func Key(s string) string {
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

// Shown is a tree as it was published last, in parts. The zero Shown has published
// nothing.
type Shown struct{ last map[string]map[string][]byte }

// maxOps bounds the writes of one transaction.
const maxOps = 2000

// Show publishes a whole tree in the operational data, by what is different from the
// last time. After an error the next time writes everything again.
func (s *Shown) Show(ctx context.Context, d *host.Datastore, docs map[string][]byte) error {
	return s.ShowParts(ctx, d, map[string]map[string][]byte{"": docs})
}

// ShowParts publishes parts of a tree, documents by their names; nil removes a part.
// Parts that are not named stay. After an error all of them must be shown again.
func (s *Shown) ShowParts(ctx context.Context, d *host.Datastore, parts map[string]map[string][]byte) error {
	if s.last == nil {
		s.last = map[string]map[string][]byte{}
	}
	var ops []host.Op
	for name, docs := range parts {
		last := s.last[name]
		for key, text := range docs {
			if old, ok := last[key]; !ok || string(old) != string(text) {
				ops = append(ops, host.Op{Key: key, Value: text})
			}
		}
		for key := range last {
			if _, ok := docs[key]; !ok {
				ops = append(ops, host.Op{Key: key, Delete: true})
			}
		}
	}
	for len(ops) > 0 {
		n := min(len(ops), maxOps)
		if _, err := d.Commit(ctx, host.Txn{Ops: ops[:n], Volatile: true}); err != nil {
			for name, docs := range parts { // what was written is not known; what must go still is
				s.last[name] = doubtful(s.last[name], docs)
			}
			return err
		}
		ops = ops[n:]
	}
	for name, docs := range parts {
		if docs == nil {
			delete(s.last, name)
		} else {
			s.last[name] = docs
		}
	}
	return nil
}

// doubtful keeps the keys of both, without their texts.
func doubtful(last, docs map[string][]byte) map[string][]byte {
	out := map[string][]byte{}
	for key := range last {
		out[key] = nil
	}
	for key := range docs {
		out[key] = nil
	}
	return out
}
