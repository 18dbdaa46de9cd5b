package dialect

import (
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver"
)

func models() map[string]simrouter.Model {
	return map[string]simrouter.Model{Draft00: simrouter.Draft00(), RFC8349: simrouter.RFC8349()}
}

// From any configuration to any other, the edit leads exactly there on a router that
// does edit-config by the RFC; and nothing is sent when there is nothing to change.
func TestEditsLeadThere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, m := range models() {
		d := mustNew(t, name)
		cfg := xmltree.New("", "")
		for i := range 400 {
			desired := some(r)
			want := mustWant(t, d, desired)
			c := d.Diff(cfg, want)
			if (len(c.Edits) == 0) != (len(c.Lines) == 0) || len(c.Edits) != len(c.Filter) {
				t.Fatalf("%s %d: %d edits with %d lines", name, i, len(c.Edits), len(c.Lines))
			}
			touched := func() *xmltree.Node { // what get-config answers
				return xmltree.New("", "", simrouter.Select(cfg, xmltree.New(netconf.NS, "filter", c.Filter...))...)
			}
			if before := d.Diff(touched(), c.Part); len(c.Edits) > 0 && len(before.Edits) == 0 {
				t.Fatalf("%s %d: %q is not seen by reading %s", name, i, c.Lines, c.Filter)
			}
			config := xmltree.New(netconf.NS, "config", c.Edits...)
			if err := m.Root.Edit(cfg, config, "merge"); err != nil {
				t.Fatalf("%s %d: %v for %s", name, i, err, config)
			}
			if again := d.Diff(cfg, want); len(again.Edits) > 0 {
				t.Fatalf("%s %d: left to do: %q\nsent %s", name, i, again.Lines, config)
			}
			if left := d.Diff(touched(), c.Part); len(left.Edits) > 0 {
				t.Fatalf("%s %d: reading back what was sent: %q\nsent %s\nread %s", name, i, left.Lines, config, touched())
			}
			back, err := d.Read(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if name == Draft00 && !proto.Equal(back, desired) {
				t.Fatalf("%s %d: read\n%v, written\n%v", name, i, back, desired)
			}
			if c := d.Diff(cfg, mustWant(t, d, back)); len(c.Edits) > 0 {
				t.Fatalf("%s %d: what is read says another thing: %q", name, i, c.Lines)
			}
		}
	}
}

func TestWhatIsTheRoutersOwnStays(t *testing.T) {
	d := mustNew(t, Draft00)
	have := mustWant(t, d, ring())
	have.Kids[0].Add(xmltree.Leaf(nsRoutingEx, "router-id", "192.0.2.9"))
	have.Kids[0].Kid(nsBier, "bier").Down("bier-global").Add(xmltree.Leaf("urn:vendor", "colour", "red"))
	if c := d.Diff(have, mustWant(t, d, ring())); len(c.Edits) > 0 {
		t.Errorf("touched: %q", c.Lines)
	}
}

// Forms that servers answer with are no differences.
func TestFormsOfAServer(t *testing.T) {
	d := mustNew(t, Draft00)
	text := mustWant(t, d, ring()).Kids[0].String()
	for _, change := range [][2]string{
		{">bier-encapsulation-mpls<", "> b:bier-encapsulation-mpls <"},
		{"<encapsulation-type>bier-encapsulation-mpls</encapsulation-type>", ""},
		{"<bfr-id>3</bfr-id>", "<bfr-id>3</bfr-id><router-own/>"},
		{"2001:db8::3/128", "2001:DB8:0:0:0:0:0:3/128"},
		{"<igp-type>ISIS</igp-type>", "<igp-type>ISIS</igp-type><mt-id>0</mt-id><bfr-id>0</bfr-id>"},
	} {
		if !strings.Contains(text, change[0]) {
			t.Fatalf("nothing to change: %s", change[0])
		}
		n, err := xmltree.Parse([]byte(strings.Replace(text, change[0], change[1], 1)))
		if err != nil {
			t.Fatal(err)
		}
		c := ring()
		c.Channels = nil
		if x := d.Diff(xmltree.New("", "", n), mustWant(t, d, c)); len(x.Edits) > 0 {
			t.Errorf("%s: %q", change[1], x.Lines)
		}
	}
}

func TestUnreadable(t *testing.T) {
	d := mustNew(t, Draft00)
	for _, change := range [][2]string{{">1000<", ">1048576<"}, {">3<", ">x<"}, {">256-bit<", ">long<"}, {">16<", ">256<"}} {
		n, err := xmltree.Parse([]byte(strings.Replace(mustWant(t, d, ring()).Kids[0].String(), change[0], change[1], 1)))
		if err != nil {
			t.Fatal(err)
		}
		if c, err := d.Read(xmltree.New("", "", n)); err == nil {
			t.Errorf("%s was read as %v", change[1], c)
		}
	}
}

func TestChoice(t *testing.T) {
	bier, ex, rt := nsBier+"?module=ietf-bier&revision=", nsRoutingEx+"?module=ietf-routing-ex&revision=2016-10-20", nsRouting+"?module=ietf-routing&revision=2018-03-13"
	mc := nsMulticast + "?module=ietf-multicast-information&revision=2016-10-28"
	for name, c := range map[string]struct {
		caps   netconf.Capabilities
		wanted string
		want   string // empty: refused
	}{
		"the first draft":       {netconf.Capabilities{bier + "2016-07-23", ex, mc}, "", Draft00},
		"without its routing":   {netconf.Capabilities{bier + "2016-07-23", mc}, "", Draft00},
		"a later draft":         {netconf.Capabilities{bier + "2023-09-12", rt, mc}, "", RFC8349},
		"both routings":         {netconf.Capabilities{bier + "2016-07-23", ex, rt, mc}, "", Draft00},
		"the operator's choice": {netconf.Capabilities{bier + "2016-07-23", ex, mc}, RFC8349, RFC8349},
		"an unknown choice":     {netconf.Capabilities{bier + "2016-07-23", ex, mc}, "latin", ""},
		"no BIER":               {netconf.Capabilities{rt, mc}, "", ""},
		"another ietf-bier":     {netconf.Capabilities{"urn:x?module=ietf-bier&revision=2016-07-23"}, "", ""},
	} {
		d, err := For(c.caps, c.wanted)
		if (err == nil) != (c.want != "") || d != nil && d.Name != c.want {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	d, err := For(netconf.Capabilities{bier + "2016-07-23", ex}, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Want(ring()); err == nil || !strings.Contains(err.Error(), "ietf-multicast-information") {
		t.Errorf("channels without the module: %v", err)
	}
	if _, err := d.Want(&bierdriver.Config{Global: ring().Global}); err != nil || len(d.Filter()) != 1 {
		t.Errorf("no channels are needed: %v", err)
	}
}

func TestTwoRangesOfOneLength(t *testing.T) {
	c := ring()
	sub := c.Global.SubDomains[0]
	sub.Ipv4 = append(sub.Ipv4, &bierdriver.Encapsulation{Bitstringlength: 256, BierMplsLabelBase: 5000, BierMplsLabelRangeSize: 4})
	if _, err := mustNew(t, Draft00).Want(c); err != nil {
		t.Error(err)
	}
	if _, err := mustNew(t, RFC8349).Want(c); err == nil || !strings.Contains(err.Error(), "256 bits in ipv4") {
		t.Errorf("silently left out: %v", err)
	}
}
