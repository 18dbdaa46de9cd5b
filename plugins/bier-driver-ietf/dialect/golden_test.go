package dialect

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver"
)

var update = flag.Bool("update", false, "write the golden files again")

// What is sent for each change of one router.
func TestEdits(t *testing.T) {
	for name, change := range map[string]func(*bierdriver.Config) *bierdriver.Config{
		"nothing":        func(c *bierdriver.Config) *bierdriver.Config { return c },
		"all-deleted":    func(*bierdriver.Config) *bierdriver.Config { return &bierdriver.Config{} },
		"global-deleted": func(c *bierdriver.Config) *bierdriver.Config { c.Global = nil; return c },
		"leaves": func(c *bierdriver.Config) *bierdriver.Config {
			c.Global.BfrId, c.Global.Bitstringlength, c.Global.Ipv6BfrPrefix = 4, 512, ""
			return c
		},
		"sub-domain-removed": func(c *bierdriver.Config) *bierdriver.Config {
			c.Global.SubDomains = c.Global.SubDomains[:1]
			return c
		},
		"label-moved": func(c *bierdriver.Config) *bierdriver.Config {
			c.Global.SubDomains[0].Ipv4[0].BierMplsLabelBase = 3000
			return c
		},
		"range-widened": func(c *bierdriver.Config) *bierdriver.Config {
			c.Global.SubDomains[0].Ipv6[0].BierMplsLabelRangeSize = 32
			return c
		},
		"egress-added": func(c *bierdriver.Config) *bierdriver.Config {
			c.Channels[0].EgressBfrIds = []uint32{1, 2, 8}
			return c
		},
		"egress-moved": func(c *bierdriver.Config) *bierdriver.Config {
			c.Channels[0].EgressBfrIds = []uint32{2, 5}
			return c
		},
		"ingress-moved": func(c *bierdriver.Config) *bierdriver.Config {
			c.Channels[1].IngressBfrId, c.Channels[1].SubDomain = 4, 0
			return c
		},
		"channel-removed": func(c *bierdriver.Config) *bierdriver.Config { c.Channels = c.Channels[1:]; return c },
	} {
		for _, dialect := range Names() {
			t.Run(dialect+"/"+name, func(t *testing.T) {
				d := mustNew(t, dialect)
				c := d.Diff(mustWant(t, d, ring()), mustWant(t, d, change(proto.CloneOf(ring()))))
				golden(t, dialect+"-"+name, c.Edits, c.Lines)
			})
		}
	}
	for _, dialect := range Names() {
		d := mustNew(t, dialect)
		c := d.Diff(xmltree.New("", ""), mustWant(t, d, ring()))
		golden(t, dialect+"-new", c.Edits, c.Lines)
	}
}

// golden compares with a file: the lines for people, then the XML, one element a line.
func golden(t *testing.T, name string, edits []*xmltree.Node, lines []string) {
	t.Helper()
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("# " + l + "\n")
	}
	for _, n := range edits {
		pretty(&b, n, "", "")
	}
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Error(d)
	}
}

func pretty(b *strings.Builder, n *xmltree.Node, indent, space string) {
	b.WriteString(indent + n.Name)
	if n.Space != space {
		b.WriteString(" {" + n.Space + "}")
	}
	for _, a := range n.Attrs {
		b.WriteString(" " + a.Name + "=" + a.Value)
	}
	if n.Text != "" {
		b.WriteString(": " + n.Text)
	}
	b.WriteByte('\n')
	for _, k := range n.Kids {
		pretty(b, k, indent+"  ", n.Space)
	}
}
