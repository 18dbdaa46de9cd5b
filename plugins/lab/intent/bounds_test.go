package intent

import (
	"fmt"
	"strings"
	"testing"

	"ctl.internal/sdk/fault"
)

const cableHeader = "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,status\n"

// The value that an alias or a merged mapping names is read, in each form.
func TestAliasesAreRead(t *testing.T) {
	for text, want := range map[string]string{
		"topology:\n  nodes: {a: {}, b: {}}\n  links:\n  - endpoints: [&x 'a:1', 'b:1']\n  - endpoints: ['a:2', 'b:2']\n    vars: *x": "[a:1 -- b:1 a:2 -- b:2]",
		"x: &x 'a:1'\ntopology: {nodes: {a: {}, b: {}}, links: [{endpoints: [*x, 'b:1']}]}":                                           "[a:1 -- b:1]",
		"x: &x r1\nnodes: [*x, r2]\nlinks:\n- [*x, r2]":                                                                               "[r1 -- r2]",
		"x: &x [r1, r2]\nnodes: *x\nlinks:\n- r1-r2":                                                                                  "[r1 -- r2]",
		"d: &d {r1: {ifname: e1}, r2: {ifname: e2}}\nnodes: [r1, r2]\nlinks:\n- {<<: *d, r2: {ifname: e3}}":                           "[r2:e3 -- r1:e1]",
		"nodes:\n- name: r1\n- name: r-2\nlinks:\n- r1-r-2":                                                                           "[r1 -- r-2]",
		"links:\n- &l {a: 'a:1', b: 'b:1'}\n- {<<: *l, a: 'a:2', b: 'c:1'}":                                                           "[a:1 -- b:1 a:2 -- c:1]",
	} {
		lab, _, err := Read([]byte(text), "")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := linksOf(lab); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func linksOf(l *Lab) string {
	var out []string
	for _, x := range l.Links {
		out = append(out, x.String())
	}
	return fmt.Sprint(out)
}

func TestFaultsOfYAMLAndCSV(t *testing.T) {
	for text, want := range map[string]string{
		"links: [a:1 -- b:1]\n---\nlinks: [c:1 -- d:1]": "line 2: a second document begins here",
		"links:\n- a:1 -- b:1\n-\n":                     "line 3: links: an entry is empty",
		"vlans:\n- {id: 1, ports: ['a:1', ~]}":          "line 2: ports: an entry is empty",
		"vlans:\n-\n":                                   "line 2: vlans: an entry is empty",
		"topology:\n  nodes: {a: }\n  links:\n  -\n":    "line 4: links: an entry is empty",
		"nodes: [a, ~]":                                 "line 1: nodes: an entry is empty",
		"nodes: [a, b]\nlinks:\n-\n":                    "line 3: links: an entry is empty",
		"nodes: [a, b]\nlinks:\n- interfaces: [{}, {}]": "line 3: an end of a link names no node",
		"links: &x [*x]":                                "line 1: the anchor x contains itself",
		"links: something":                              "line 1: links: a list is expected",
		"- links":                                       "is no lab that is known",
		"devices:\n  a: {}\n  a: {}":                    "line 3: devices: a is there already, in line 2",
		"<<: [a]\nlinks: []":                            "line 1: << merges mappings only",
		strings.ReplaceAll(cableHeader, ",", ";") + "a;;1;b;;1;connected": "line 1: the columns are separated by semicolons",
		"\n" + strings.ReplaceAll(cableHeader, ",", "\t"):                 "line 2: the columns are separated by tabs",
		"side_a_device,side_a_name\na,1":                                  "line 1: the list of cables has no column side_b_device: its columns are side_a_device,side_a_name",
		"nodes: [a]\nlinks:\n- " + strings.Repeat("a-", 200):              "line 3: the link has more than 64 names",
	} {
		_, _, err := Read([]byte(text), "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, _, err := Read([]byte("a,b\n1,2\n"), NetBox); err == nil || !strings.Contains(err.Error(), "no column side_a_device: its columns are a,b") {
		t.Errorf("a list without the columns: %v", err)
	}
}

// What of NetBox's list is no cable between ports of a network, or is not there, is a note with its line.
func TestRowsThatAreLeftOut(t *testing.T) {
	text := strings.ToUpper(cableHeader) + "sw1,dcim.powerport,PSU1,pdu1,dcim.poweroutlet,1,connected\n" +
		"sw1,dcim.interface,1,,circuits.circuittermination,X,connected\nsw1,dcim.interface,1,sw2,dcim.interface,1,planned\n" +
		"sw1,,2,sw2,dcim.frontport,2,connected\nsw1,dcim.rearport,3,sw2,interface,3,\n"
	lab, form, err := Read([]byte("\n"+text), "")
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(lab.Notes, "\n")
	const want = "line 3: the cable is left out: it ends at a dcim.powerport, which is no port of a network\n" +
		"line 4: the cable is left out: it ends at a circuits.circuittermination, which is no port of a network\n" +
		"line 5: the cable is left out: its status is planned"
	if form != NetBox || linksOf(lab) != "[sw1:2 -- sw2:2 sw1:3 -- sw2:3]" || notes != want {
		t.Errorf("%s: %s\n%s", form, linksOf(lab), notes)
	}
}

// A document has bounds: of its faults and notes, of what its aliases repeat, and of its entries.
func TestBoundsOfDocuments(t *testing.T) {
	lines := func(head, each string, n int) string { return head + strings.Repeat(each, n) }
	_, _, err := Read([]byte(lines("links:\n", "- x\n", 1000)), "")
	if list := fault.All(err); len(list) != maxFaults+1 || list[maxFaults].Text != "and 950 more" {
		t.Errorf("%d faults, the last %v", len(list), list[len(list)-1])
	}
	lab, _, err := Read([]byte(lines(cableHeader, "a,,1,b,,1,planned\n", 60)), "")
	if err != nil || len(lab.Notes) != maxNotes+1 || lab.Notes[maxNotes] != "and 10 more" {
		t.Errorf("%v: notes %q", err, lab.Notes)
	}
	ports := "vlans:\n- {id: 1, ports: &p [" + strings.Repeat("'a:1', ", 1000) + "]}\n"
	for text, want := range map[string]string{
		lines(ports, "- {id: 1, ports: *p}\n", 200):                                 "aliases repeat more than 100000 values",
		"vlans:\n- {id: 1, ports: [" + strings.Repeat("'a:1', ", maxEntries) + "]}": "at most 100000 of each",
		lines("links:\n", "- x\n", maxEntries+1):                                    "line 2: links: it has 100001 entries, more than 100000",
		lines("devices:\n", " x:\n", maxEntries+1):                                  "line 2: devices: it has 100001 members, more than 100000",
	} {
		if _, _, err := Read([]byte(text), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	var whole strings.Builder
	whole.WriteString("devices:\n")
	for i := range 50_000 {
		fmt.Fprintf(&whole, " n%d: {}\n", i)
	}
	whole.WriteString("links:\n")
	for i := range 50_000 {
		fmt.Fprintf(&whole, "- n%d:1 -- n%d:2\n", i, (i+1)%50_000)
	}
	if lab, _, err := Read([]byte(whole.String()), ""); err != nil || len(lab.Links) != 50_000 {
		t.Error(err)
	}
}
