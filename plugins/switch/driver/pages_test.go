package driver_test

import (
	"fmt"
	"testing"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/sdk/switchdriver"
)

// A table that a driver reads whole comes in pages all the same: each entry once, in order.
func TestPartsOfAWholeTable(t *testing.T) {
	table := func() (all []*switchdriver.FDBEntry) {
		for i := range 100 {
			all = append(all, &switchdriver.FDBEntry{VlanId: uint32(1 + i%3*1000), Mac: uint64(1000 - i*7), Port: uint32(1 + i%4), Type: 3})
		}
		return all
	}
	for _, q := range []driver.Query{{Limit: 100}, {Limit: 7}, {Limit: 7, Port: 2}, {Limit: 3, VLAN: 1001}, {Limit: 1, MAC: 993}} {
		want := map[string]bool{}
		for _, e := range table() {
			if (q.Port == 0 || e.Port == q.Port) && (q.VLAN == 0 || e.VlanId == q.VLAN) && (q.MAC == 0 || e.Mac == q.MAC) {
				want[fmt.Sprint(e.VlanId, e.Mac)] = true
			}
		}
		expected, before := len(want), [2]uint64{}
		for {
			p, err := driver.FDBPart(table(), q)
			if err != nil || len(p.Entries) > q.Limit {
				t.Fatalf("%+v: %d entries, %v", q, len(p.Entries), err)
			}
			for _, e := range p.Entries {
				now := [2]uint64{uint64(e.VlanId), e.Mac}
				if now[0] < before[0] || now[0] == before[0] && now[1] <= before[1] || !want[fmt.Sprint(e.VlanId, e.Mac)] {
					t.Fatalf("%+v: the entry %v is out of order or was not asked for", q, e)
				}
				delete(want, fmt.Sprint(e.VlanId, e.Mac))
				before = now
			}
			if q.Cursor = p.Next; q.Cursor == "" {
				break
			}
		}
		if len(want) != 0 {
			t.Errorf("%+v: %d of %d entries are missing", q, len(want), expected)
		}
	}
	if _, err := driver.FDBPart(table(), driver.Query{Limit: 5, Cursor: "q1.2"}); err == nil {
		t.Error("the cursor of another table was taken")
	}
}
