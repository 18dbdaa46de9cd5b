package mibdriver_test

import (
	"fmt"
	"slices"
	"testing"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/snmpwire"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/sdk/switchdriver"
)

func fdbPages(t *testing.T, b *bench, q driver.Query) (all []*switchdriver.FDBEntry, pages int, cut []discovery.Cut) {
	t.Helper()
	for {
		p, err := b.driver.FDBPage(deadline(t), b.switches[0], q)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Entries) > q.Limit {
			t.Fatalf("%d entries in a page of %d", len(p.Entries), q.Limit)
		}
		all, cut, pages = append(all, p.Entries...), append(cut, p.Partial...), pages+1
		if p.Next == "" {
			return all, pages, cut
		}
		q.Cursor = p.Next
	}
}

// A table in pages of any size is the table, each entry once, whatever is asked for.
func TestTableInPages(t *testing.T) {
	const n = 1000
	b := newLab(t, network.Options{Topology: "single:1", Ports: 10, Hosts: -1, FDB: n})
	whole, err := b.driver.ReadFDB(deadline(t), b.switches[0], 0, 0)
	if err != nil || len(whole) != n {
		t.Fatalf("%d entries, %v", len(whole), err)
	}
	for _, limit := range []int{1000, 999, 100, 7, n + 1} {
		got, pages, _ := fdbPages(t, b, driver.Query{Limit: limit})
		if !slices.EqualFunc(got, whole, func(x, y *switchdriver.FDBEntry) bool { return x.String() == y.String() }) {
			t.Errorf("in pages of %d: %d entries that are not those of the table", limit, len(got))
		}
		if want := (n + limit - 1) / limit; pages < want || pages > want+1 {
			t.Errorf("%d pages of %d", pages, limit)
		}
	}
	for name, k := range map[string]struct {
		q    driver.Query
		want int
	}{
		"a port":              {driver.Query{Port: 3, Limit: 7}, n / 10},
		"a VLAN":              {driver.Query{VLAN: 1, Limit: 300}, n},
		"a VLAN without any":  {driver.Query{VLAN: 2, Limit: 300}, 0},
		"an address":          {driver.Query{MAC: 0x0a0000000007, Limit: 5}, 1},
		"one that is not":     {driver.Query{MAC: 0x0a0000ffffff, Limit: 5}, 0},
		"address and port":    {driver.Query{MAC: 0x0a0000000007, Port: 8, Limit: 5}, 1},
		"at another port":     {driver.Query{MAC: 0x0a0000000007, Port: 9, Limit: 5}, 0},
		"address and VLAN":    {driver.Query{MAC: 0x0a0000000007, VLAN: 1, Limit: 5}, 1},
		"in another VLAN":     {driver.Query{MAC: 0x0a0000000007, VLAN: 2, Limit: 5}, 0},
		"beyond the last one": {driver.Query{Cursor: "q1.255.255.255.255.255.255", Limit: 5}, 0},
	} {
		if got, _, _ := fdbPages(t, b, k.q); len(got) != k.want {
			t.Errorf("%s: %d entries, want %d", name, len(got), k.want)
		}
	}
	for _, cursor := range []string{"x1.2", "q", "q1..2", "q-1", "q1.2.3.4.5.6.7.8.9", "a1.2"} {
		if _, err := b.driver.FDBPage(deadline(t), b.switches[0], driver.Query{Cursor: cursor, Limit: 5}); err == nil {
			t.Errorf("the cursor %q was taken", cursor)
		}
	}
	arp := 0
	for q := (driver.Query{Limit: 64}); ; {
		p, err := b.driver.ARPPage(deadline(t), b.switches[0], q)
		if err != nil {
			t.Fatal(err)
		}
		arp += len(p.Entries)
		if q.Cursor = p.Next; q.Cursor == "" {
			break
		}
	}
	if arp != n {
		t.Errorf("%d ARP entries in pages", arp)
	}
}

// A table that goes in a circle is answered up to there and named; nothing is cut without a word.
func TestTableThatIsCut(t *testing.T) {
	b := newLab(t, network.Options{Topology: "single:1", Ports: 10, FDB: 200})
	if err := b.SetFaults("sw1", faults.Set{Loop: true, Within: []snmpwire.OID{snmpwire.MustOID("1.3.6.1.2.1.17.7.1.2.2.1.2")}}); err != nil {
		t.Fatal(err)
	}
	_, _, cut := fdbPages(t, b, driver.Query{Limit: 50})
	if fmt.Sprint(cut) == "[]" || cut[0].Table != "dot1qTpFdbTable" {
		t.Errorf("cut: %v", cut)
	}
	if all, err := b.driver.ReadFDB(deadline(t), b.switches[0], 0, 0); err == nil {
		t.Errorf("the whole table, of which a part came, is no error: %d entries", len(all))
	}
	if err := b.SetFaults("sw1", faults.Set{Loop: true, Within: []snmpwire.OID{snmpwire.MustOID("1.3.6.1.2.1.2.2.1.7")}}); err != nil {
		t.Fatal(err)
	}
	o, err := b.driver.Observe(deadline(t), b.switches[0])
	if err != nil || len(o.Cut) != 1 || o.Cut[0].Table != "ifTable" {
		t.Errorf("observed with cut tables %v, %v", o.Cut, err)
	}
}
