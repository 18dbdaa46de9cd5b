package yang

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// everyModule is all modules of this tree: of the plugins, of the host and of the tests here.
func everyModule(t testing.TB) *Set {
	t.Helper()
	files := map[string][]byte{}
	for _, root := range []string{"../../plugins", "../../host", "../../examples", "../bier", "testdata"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yang") || strings.Contains(path, "ietf-restconf-monitoring") {
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
	set, err := Load(Source{Name: "all", Files: files})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestJSONAndXMLAreTheSame writes random instances of everything that all modules define as JSON and
// as XML and reads both back.
func TestJSONAndXMLAreTheSame(t *testing.T) {
	set := everyModule(t)
	r := rand.New(rand.NewPCG(1, 2))
	count := 0
	check := func(n *Node, at string) {
		for range 12 {
			b := builder{r: r}
			text := "{" + b.members(n, 0) + "}"
			d, err := n.Decode([]byte(text), Options{Partial: true})
			if err != nil {
				t.Fatalf("%s: %s: %v", at, text, err)
			}
			xml := d.AppendXML(nil)
			if n.Kind == Root {
				xml = append(append([]byte("<data>"), xml...), "</data>"...)
			}
			again, err := n.Decode(xml, Options{Partial: true, XML: true})
			if err != nil {
				t.Fatalf("%s: %s\n%s: %v", at, text, xml, err)
			}
			for _, s := range []Style{Canonical, RFC7951} {
				if got, want := string(again.Append(nil, s)), string(d.Append(nil, s)); got != want {
					t.Fatalf("%s\n%s\n got %s\nwant %s", at, xml, got, want)
				}
			}
			strict, err := n.Decode(again.Append(nil, RFC7951), Options{Partial: true})
			if err != nil || string(strict.AppendXML(nil)) != string(d.AppendXML(nil)) {
				t.Fatalf("%s: %s: %v", at, again.Append(nil, RFC7951), err)
			}
			count++
		}
	}
	check(set.Root, "the datastore")
	for _, m := range set.Modules() {
		for _, x := range m.RPCs {
			check(x.Input, m.Name+":"+x.Name)
			check(x.Output, m.Name+":"+x.Name)
		}
		for _, x := range m.Notifications {
			check(x, x.QName())
		}
	}
	if count < 100 {
		t.Errorf("only %d instances", count)
	}
}

// builder makes random valid instances.
type builder struct {
	r *rand.Rand
}

func (b *builder) members(n *Node, depth int) string {
	var out []string
	cases := map[*Node]*Node{}
	for _, m := range n.Members() {
		skip := !m.IsKey() && (b.r.IntN(3) == 0 || depth > 6)
		for cs := m.Parent; cs != nil && cs.Kind == Case; cs = cs.Parent.Parent {
			if have := cases[cs.Parent]; have != nil && have != cs {
				skip = true
			}
		}
		if skip {
			continue
		}
		text, ok := b.instance(m, depth+1)
		if !ok {
			continue
		}
		for cs := m.Parent; cs != nil && cs.Kind == Case; cs = cs.Parent.Parent {
			cases[cs.Parent] = cs
		}
		out = append(out, fmt.Sprintf("%q:%s", m.QName(), text))
	}
	return strings.Join(out, ",")
}

func (b *builder) instance(n *Node, depth int) (string, bool) {
	switch n.Kind {
	case Leaf:
		return b.value(n)
	case LeafList:
		v, ok := b.value(n)
		return "[" + v + "]", ok
	case AnyData:
		return `{"a":"x<&>","b":["1","2"],"c d":{"e":"ä"}}`, true
	case List:
		return "[{" + b.members(n, depth) + "}]", b.keys(n)
	}
	return "{" + b.members(n, depth) + "}", true
}

// keys reports whether values are known for all keys of a list.
func (b *builder) keys(n *Node) bool {
	for _, k := range n.Keys {
		if _, ok := b.value(k); !ok {
			return false
		}
	}
	return n.Min < 2
}

var samples = []string{"0", "1", "7", "64", "4094", "1.5", "true", "a", "ab", "eth0", " two  words ", "<&>\"'\r\n\t]]>", "ä€𝄞", "10.0.0.1", "10.0.0.0/8",
	"2001:db8::1", "00:11:22:33:44:55", "2024-01-01T00:00:00Z", "2024-01-01", "AQID", "AQI=", "1.3.6.1", "auto", "/every:settings/user[name='a \"b']/friend", "example.org", "near"}

func (b *builder) value(n *Node) (string, bool) {
	t := n.Type.Final()
	try := append([]string(nil), samples...)
	b.r.Shuffle(len(try), func(i, j int) { try[i], try[j] = try[j], try[i] })
	if len(t.Names) > 0 {
		try = append([]string{t.Names[b.r.IntN(len(t.Names))]}, try...)
	}
	if t.Base == Empty {
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
		text := d.Append(nil, RFC7951)
		if _, err := n.DecodeValue(text, Options{}); n.Kind == Leaf && err != nil {
			continue
		}
		return string(text), true
	}
	return "", false
}
