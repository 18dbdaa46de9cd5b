package dialect

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"ctl.internal/internal/netconf/xmltree"
)

// shown is what a router with BFR-id 3 in sub-domain 7 answers to StateFilter: of triples of a
// BFR-id, a length and a neighbour.
func shown(entries ...any) *xmltree.Node {
	b := nsBier
	at := xmltree.New(b, "bier", xmltree.New(b, "sub-domain", requiredNumberLeaf(b, "sub-domain-id", 7), stringLeaf(b, "address-family", "ipv4"), requiredNumberLeaf(b, "bfr-id", 3)))
	for i := 0; i < len(entries); i += 3 {
		at.Add(xmltree.New(b, "bift", requiredNumberLeaf(b, "bfr-id", uint32(entries[i].(int))), xmltree.New(b, "birt-bitstringlength",
			stringLeaf(b, "bsl", entries[i+1].(string)), xmltree.New(b, "bfr-nbr", stringLeaf(b, "bfr-nbr", entries[i+2].(string))))))
	}
	return xmltree.New("", "data", xmltree.New(nsRouting, "routing", at))
}

// What a router lists by BFR-id becomes a table for each length and set, with a mask for each neighbour.
func TestForwardingTables(t *testing.T) {
	d := mustNew(t, RFC8349)
	data := shown(1, "64-bit", "192.0.2.1/32", 2, "64-bit", "192.0.2.2/32", 3, "64-bit", "192.0.2.3/32", 64, "64-bit", "192.0.2.1/32",
		65, "64-bit", "192.0.2.2/32", 2, "128-bit", "192.0.2.2/32")
	more := data.Kids[0].Kids[0].All(nsBier, "bift")[1].Down("birt-bitstringlength") // an equal way to 2
	more.Add(xmltree.New(nsBier, "bfr-nbr", stringLeaf(nsBier, "bfr-nbr", "192.0.2.1/32")))
	tables, err := d.Forwarding(data)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, x := range tables {
		fmt.Fprintf(&got, "%d/%d/%d own %s:", x.SubDomainId, x.Bitstringlength, x.Si, hex.EncodeToString(x.Own))
		for _, n := range x.Neighbors {
			fmt.Fprintf(&got, " %s=%s", n.Name, hex.EncodeToString(n.FBm))
		}
		got.WriteString("\n")
	}
	const want = `7/64/0 own 0000000000000004: 192.0.2.1/32=8000000000000003 192.0.2.2/32=0000000000000002
7/64/1 own : 192.0.2.2/32=0000000000000001
7/128/0 own : 192.0.2.2/32=00000000000000000000000000000002
`
	if got.String() != want {
		t.Errorf("%s\nwant\n%s", got.String(), want)
	}
}

// What cannot be compared is said, and is not taken for an empty table.
func TestForwardingTablesThatAreNone(t *testing.T) {
	d := mustNew(t, RFC8349)
	two := shown(1, "64-bit", "192.0.2.1/32")
	two.Kids[0].Kids[0].Add(xmltree.New(nsBier, "sub-domain", requiredNumberLeaf(nsBier, "sub-domain-id", 8)))
	for want, data := range map[string]*xmltree.Node{
		"does not say of which one": two,
		"shows nothing in bift":     shown(),
		"bfr-id 0 with bit strings": shown(0, "64-bit", "192.0.2.1/32"),
		"with bit strings of 100":   shown(1, "100-bit", "192.0.2.1/32"),
		`holds "70000" as bfr-id`:   shown(70000, "64-bit", "192.0.2.1/32"),
	} {
		if x, err := d.Forwarding(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", want, x, err)
		}
	}
	if x, err := d.Forwarding(xmltree.New("", "data")); err != nil || x != nil {
		t.Errorf("a router without BIER: %v, %v", x, err)
	}
	if mustNew(t, Draft00).StateFilter() != nil {
		t.Error("ietf-bier of 2016 has forwarding tables")
	}
}
