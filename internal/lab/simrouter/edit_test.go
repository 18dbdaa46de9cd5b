package simrouter

import (
	"errors"
	"strings"
	"testing"

	"ctl.internal/internal/netconf/xmltree"
)

const ops = `xmlns:nc="urn:ietf:params:xml:ns:netconf:base:1.0"`

// tree puts the content of bier-global in its place.
func tree(t *testing.T, global string) *xmltree.Node {
	t.Helper()
	n, err := xmltree.Parse([]byte(`<config ` + ops + `><routing xmlns="` + NSRoutingEx + `"><bier xmlns="` + NSBier + `">` + global + `</bier></routing></config>`))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func flat(n *xmltree.Node) string {
	s := strings.NewReplacer(` xmlns="`+NSRoutingEx+`"`, "", ` xmlns="`+NSBier+`"`, "").Replace(n.String())
	return strings.TrimSuffix(strings.TrimPrefix(s, "<routing><bier>"), "</bier></routing>")
}

func TestEdit(t *testing.T) {
	const one = "<bier-global><bfr-id>1</bfr-id><sub-domain><sub-domain-id>0</sub-domain-id><mt-id>5</mt-id></sub-domain></bier-global>"
	for name, c := range map[string]struct {
		edit, how string
		want, tag string
	}{
		"merge a leaf":       {"<bier-global><bfr-id>2</bfr-id></bier-global>", "merge", strings.Replace(one, ">1<", ">2<", 1), ""},
		"merge an entry":     {"<bier-global><sub-domain><sub-domain-id>0</sub-domain-id><bfr-id>9</bfr-id></sub-domain></bier-global>", "merge", strings.Replace(one, "<mt-id>5</mt-id>", "<mt-id>5</mt-id><bfr-id>9</bfr-id>", 1), ""},
		"replace an entry":   {`<bier-global><sub-domain nc:operation="replace"><sub-domain-id>0</sub-domain-id><bfr-id>9</bfr-id></sub-domain></bier-global>`, "none", strings.Replace(one, "<mt-id>5</mt-id>", "<bfr-id>9</bfr-id>", 1), ""},
		"create an entry":    {`<bier-global><sub-domain nc:operation="create"><sub-domain-id>0</sub-domain-id></sub-domain></bier-global>`, "merge", "", "data-exists"},
		"delete an entry":    {`<bier-global><sub-domain nc:operation="delete"><sub-domain-id>0</sub-domain-id></sub-domain></bier-global>`, "none", "<bier-global><bfr-id>1</bfr-id></bier-global>", ""},
		"delete what is not": {`<bier-global><sub-domain nc:operation="delete"><sub-domain-id>7</sub-domain-id></sub-domain></bier-global>`, "none", "", "data-missing"},
		"remove what is not": {`<bier-global><sub-domain nc:operation="remove"><sub-domain-id>7</sub-domain-id></sub-domain></bier-global>`, "none", one, ""},
		"remove a leaf":      {`<bier-global><bfr-id nc:operation="remove"/></bier-global>`, "none", strings.Replace(one, "<bfr-id>1</bfr-id>", "", 1), ""},
		"remove all":         {`<bier-global nc:operation="remove"/>`, "none", "<config/>", ""},
		"replace all":        {`<bier-global><bfr-id>3</bfr-id></bier-global>`, "replace", "<bier-global><bfr-id>3</bfr-id></bier-global>", ""},
		"none changes not":   {"<bier-global><bfr-id>2</bfr-id></bier-global>", "none", one, ""},
		"none needs entries": {"<bier-global><sub-domain><sub-domain-id>7</sub-domain-id></sub-domain></bier-global>", "none", "", "data-missing"},
		"identity, prefixed": {"<bier-global><encapsulation-type>b:bier-encapsulation-mpls</encapsulation-type></bier-global>", "replace", "<bier-global><encapsulation-type>bier-encapsulation-mpls</encapsulation-type></bier-global>", ""},
		"a wrong number":     {"<bier-global><bfr-id>65536</bfr-id></bier-global>", "merge", "", "invalid-value"},
		"a wrong prefix":     {"<bier-global><ipv4-bfr-prefix>2001:db8::/64</ipv4-bfr-prefix></bier-global>", "merge", "", "invalid-value"},
		"no such leaf":       {"<bier-global><colour>red</colour></bier-global>", "merge", "", "unknown-element"},
		"no such module":     {`<bier-global><x xmlns="urn:x"/></bier-global>`, "merge", "", "unknown-namespace"},
		"no key":             {"<bier-global><sub-domain><mt-id>1</mt-id></sub-domain></bier-global>", "merge", "", "missing-element"},
		"no such operation":  {`<bier-global nc:operation="burn"/>`, "merge", "", "bad-attribute"},
	} {
		cfg := xmltree.New("", "")
		s := Draft00().Root
		if err := s.Edit(cfg, tree(t, one), "merge"); err != nil {
			t.Fatal(err)
		}
		err := s.Edit(cfg, tree(t, c.edit), c.how)
		var f *Fault
		if errors.As(err, &f); (f == nil) != (c.tag == "") || f != nil && f.Tag != c.tag {
			t.Errorf("%s: %v, not %q", name, err, c.tag)
			continue
		}
		got := "<config/>"
		if len(cfg.Kids) > 0 {
			got = flat(cfg.Kids[0])
		}
		if err == nil && got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestSelect(t *testing.T) {
	cfg := xmltree.New("", "")
	if err := Draft00().Root.Edit(cfg, tree(t, `<bier-global><bfr-id>1</bfr-id><sub-domain><sub-domain-id>0</sub-domain-id><mt-id>5</mt-id></sub-domain>
		<sub-domain><sub-domain-id>1</sub-domain-id><mt-id>6</mt-id></sub-domain></bier-global>`), "merge"); err != nil {
		t.Fatal(err)
	}
	for filter, want := range map[string]string{
		"<bier-global><bfr-id/></bier-global>":                                                         "<bier-global><bfr-id>1</bfr-id></bier-global>",
		"<bier-global><bfr-id>1</bfr-id></bier-global>":                                                "whole",
		"<bier-global><bfr-id>2</bfr-id></bier-global>":                                                "nothing",
		"<bier-global><sub-domain><sub-domain-id>1</sub-domain-id></sub-domain></bier-global>":         "<bier-global><sub-domain><sub-domain-id>1</sub-domain-id><mt-id>6</mt-id></sub-domain></bier-global>",
		"<bier-global><sub-domain><sub-domain-id>1</sub-domain-id><mt-id/></sub-domain></bier-global>": "<bier-global><sub-domain><sub-domain-id>1</sub-domain-id><mt-id>6</mt-id></sub-domain></bier-global>",
		"<bier-global><sub-domain><sub-domain-id/></sub-domain></bier-global>":                         "<bier-global><sub-domain><sub-domain-id>0</sub-domain-id></sub-domain><sub-domain><sub-domain-id>1</sub-domain-id></sub-domain></bier-global>",
		"<nothing/>": "nothing",
	} {
		got := "nothing"
		if out := Select(cfg, tree(t, filter)); len(out) > 0 {
			if got = flat(out[0]); got == flat(cfg.Kids[0]) {
				got = "whole"
			}
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", filter, got, want)
		}
	}
	if len(Select(cfg, nil)) != 1 || len(Select(cfg, xmltree.New("", "filter"))) != 0 {
		t.Error("no filter selects all, an empty one nothing")
	}
}
