// Package randomdata makes random valid instances of YANG nodes, for property tests.
package randomdata

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/internal/yang"
)

// Schema is all modules below directories of the tree, of which root is the top. Those of tests are left out, unless a
// directory is theirs: some are called as modules of plugins are.
func Schema(t testing.TB, root string, dirs ...string) *yang.Set {
	t.Helper()
	files := map[string][]byte{}
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "testdata" && path != filepath.Join(root, dir) {
				return filepath.SkipDir
			}
			if err != nil ||
				d.IsDir() ||
				!strings.HasSuffix(path, ".yang") ||
				strings.Contains(path, "ietf-restconf-monitoring") {
				return err
			}
			text, err := os.ReadFile(path)
			files[path] = text
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	set, err := yang.Load(yang.Source{
		Name:  "all",
		Files: files,
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Members is a JSON object with random members of a node; keep says which nodes it may have.
func Members(r *rand.Rand, n *yang.Node, keep func(*yang.Node) bool) string {
	b := builder{r, keep}
	return "{" + b.randomMembers(n, 0) + "}"
}

// builder makes random valid instances.
type builder struct {
	r    *rand.Rand
	keep func(*yang.Node) bool
}

func (b *builder) randomMembers(n *yang.Node, depth int) string {
	var out []string
	cases := map[*yang.Node]*yang.Node{}
	for _, m := range n.Members() {
		skip := !b.keep(m) || !m.IsKey() && (b.r.IntN(3) == 0 || depth > 6)
		for cs := m.Parent; cs != nil && cs.Kind == yang.Case; cs = cs.Parent.Parent {
			have := cases[cs.Parent]
			if have != nil && have != cs {
				skip = true
			}
		}
		if skip {
			continue
		}
		text, ok := b.randomInstance(m, depth+1)
		if !ok {
			continue
		}
		for cs := m.Parent; cs != nil && cs.Kind == yang.Case; cs = cs.Parent.Parent {
			cases[cs.Parent] = cs
		}
		out = append(out, fmt.Sprintf("%q:%s", m.QName(), text))
	}
	return strings.Join(out, ",")
}

func (b *builder) randomInstance(n *yang.Node, depth int) (string, bool) {
	switch n.Kind {
	case yang.Leaf:
		return b.randomValue(n)
	case yang.LeafList:
		v, ok := b.randomValue(n)
		return "[" + v + "]", ok
	case yang.AnyData:
		return `{"a":"x<&>","b":["1","2"],"c d":{"e":"ä"}}`, true
	case yang.List:
		return "[{" + b.randomMembers(n, depth) + "}]", b.knowsKeys(n)
	}
	return "{" + b.randomMembers(n, depth) + "}", true
}

// knowsKeys reports whether values are known for all keys of a list.
func (b *builder) knowsKeys(n *yang.Node) bool {
	for _, k := range n.Keys {
		if _, ok := b.randomValue(k); !ok {
			return false
		}
	}
	return n.Min < 2
}

var samples = []string{"0", "1", "7", "64", "4094", "1.5", "true", "a", "ab", "eth0", " two  words ", "<&>\"'\r\n\t]]>", "ä€𝄞", "10.0.0.1", "10.0.0.0/8",
	"2001:db8::1", "00:11:22:33:44:55", "2024-01-01T00:00:00Z", "2024-01-01", "AQID", "AQI=", "1.3.6.1", "auto", "/every:settings/user[name='a \"b']/friend", "example.org", "near"}

func (b *builder) randomValue(n *yang.Node) (string, bool) {
	t := n.Type.Final()
	try := append([]string(nil), samples...)
	b.r.Shuffle(len(try), func(i, j int) { try[i], try[j] = try[j], try[i] })
	if len(t.Names) > 0 {
		try = append([]string{t.Names[b.r.IntN(len(t.Names))]}, try...)
	}
	if t.Base == yang.Empty {
		return "[null]", true
	}
	if low, high := t.Bounds(); low != "" {
		try = append([]string{low, high}[b.r.IntN(2):][:1:1], try...)
	}
	for _, s := range try {
		d, err := n.NewLeaf(s)
		if err != nil {
			continue
		}
		text := d.Append(nil, yang.RFC7951)
		if _, err := n.DecodeValue(text, yang.Options{}); n.Kind == yang.Leaf && err != nil {
			continue
		}
		return string(text), true
	}
	return "", false
}
