package mibdriver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
)

const (
	sixArcs = `1.3.6.1.2.1.17.7.1.2.2.1.2.252.236.218.44.166.201|2|3
1.3.6.1.2.1.17.7.1.2.2.1.2.252.236.218.44.166.202|2|3
`
	withoutVLANs = `1.3.6.1.2.1.17.4.3.1.2.252.236.218.44.166.201|2|10
1.3.6.1.2.1.17.4.3.1.3.252.236.218.44.166.201|2|3
`
)

// Rows that cannot be decoded make a table partial; where none can be, the other table is asked.
func TestForwardingTableThatSaysNothing(t *testing.T) {
	for name, k := range map[string]struct {
		lines   string
		want    []string
		partial bool
	}{
		"address alone, the other table is right": {sixArcs + withoutVLANs, []string{"0 fc:ec:da:2c:a6:c9 10"}, false},
		"address alone, and no other table":       {sixArcs, nil, true},
		"some rows":                               {sixArcs + "1.3.6.1.2.1.17.7.1.2.2.1.2.7.2.0.0.0.0.1|2|4\n" + withoutVLANs, []string{"7 02:00:00:00:00:01 4"}, true},
		"a port that is no number": {"1.3.6.1.2.1.17.7.1.2.2.1.2.7.2.0.0.0.0.1|4|four\n1.3.6.1.2.1.17.7.1.2.2.1.2.7.2.0.0.0.0.2|2|4\n",
			[]string{"7 02:00:00:00:00:02 4"}, true},
		"no table": {"1.3.6.1.2.1.1.3.0|67|1\n", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			d, sw := agent(t, k.lines)
			p, err := d.FDBPage(deadline(t), sw, driver.Query{Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range p.Entries {
				got = append(got, fmt.Sprintf("%d %s %d", e.VlanId, macText(e.Mac), e.Port))
			}
			if diff := cmp.Diff(k.want, got); diff != "" {
				t.Error("(-want +got):\n" + diff)
			}
			if len(p.Partial) > 0 != k.partial || k.partial && p.Partial[0].Table != "dot1qTpFdbTable" {
				t.Errorf("partial %v, want %v", p.Partial, k.partial)
			}
		})
	}
	d, sw := agent(t, sixArcs+withoutVLANs)
	p, err := d.FDBPage(deadline(t), sw, driver.Query{MAC: 0xfcecda2ca6c9, Limit: 10})
	if err != nil || len(p.Entries) != 1 || p.Entries[0].Port != 10 {
		t.Errorf("asked for the address: %v, %v", p.Entries, err)
	}
}

func macText(m uint64) string {
	s := fmt.Sprintf("%012x", m)
	return strings.Join([]string{s[:2], s[2:4], s[4:6], s[6:8], s[8:10], s[10:]}, ":")
}

const (
	media = `1.3.6.1.2.1.4.22.1.2.5.10.0.0.1|4x|020000000001
1.3.6.1.2.1.4.22.1.4.5.10.0.0.1|2|3
`
	physical = `1.3.6.1.2.1.4.35.1.4.5.1.4.10.0.0.1|4x|020000000001
1.3.6.1.2.1.4.35.1.4.5.1.4.10.0.0.2|4x|020000000002
1.3.6.1.2.1.4.35.1.4.5.2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.7|4x|020000000007
1.3.6.1.2.1.4.35.1.4.6.4.20.254.128.0.0.0.0.0.0.0.0.0.0.0.0.0.8.0.0.0.6|4x|020000000008
1.3.6.1.2.1.4.35.1.6.5.1.4.10.0.0.1|2|4
1.3.6.1.2.1.4.35.1.6.5.2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.7|2|3
`
)

// The neighbours of IPv6 are read, and those of IPv4 once: from ipNetToMediaTable, where that has any.
func TestARPOfBothTables(t *testing.T) {
	six := []string{"2001:db8::7 02:00:00:00:00:07", "fe80::8 02:00:00:00:00:08"}
	for name, k := range map[string]struct {
		lines string
		want  []string
	}{
		"both tables":          {media + physical, append([]string{"10.0.0.1 02:00:00:00:00:01"}, six...)},
		"ipNetToPhysicalTable": {physical, append([]string{"10.0.0.1 02:00:00:00:00:01", "10.0.0.2 02:00:00:00:00:02"}, six...)},
		"ipNetToMediaTable":    {media, []string{"10.0.0.1 02:00:00:00:00:01"}},
		"none":                 {"1.3.6.1.2.1.1.3.0|67|1\n", nil},
	} {
		for _, limit := range []int{1, 2, 100} {
			d, sw := agent(t, k.lines)
			var got []string
			for q := (driver.Query{Limit: limit}); ; {
				p, err := d.ARPPage(deadline(t), sw, q)
				if err != nil {
					t.Fatal(name, err)
				}
				if len(p.Partial) > 0 || len(p.Entries) > limit {
					t.Errorf("%s: partial %v, %d entries", name, p.Partial, len(p.Entries))
				}
				for _, e := range p.Entries {
					got = append(got, e.IpAddress+" "+macText(e.Mac))
				}
				if q.Cursor = p.Next; q.Cursor == "" {
					break
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(k.want, got); diff != "" {
				t.Errorf("%s in pages of %d (-want +got):\n%s", name, limit, diff)
			}
		}
		d, sw := agent(t, k.lines)
		if all, err := d.ReadARP(deadline(t), sw, "2001:db8::7"); (err == nil) != (strings.Contains(k.lines, "1.4.35")) || err == nil && len(all) != 1 {
			t.Errorf("%s: asked for an IPv6 address: %v, %v", name, all, err)
		}
	}
}

// Neighbours by the protocols of vendors: of CDP also where the switch has no name of its own in it, with ids that are
// octets.
func TestNeighborsOfVendors(t *testing.T) {
	ports := "1.3.6.1.2.1.2.2.1.2.7|4|seven\n1.3.6.1.2.1.17.1.4.1.2.1|2|7\n"
	for name, k := range map[string]struct {
		lines string
		want  string
	}{
		"CDP without cdpGlobalDeviceId": {`1.3.6.1.4.1.9.9.23.1.2.1.1.6.7.1|4|sw2.example
1.3.6.1.4.1.9.9.23.1.2.1.1.7.7.1|4|GigabitEthernet1/0/4
`, "1 cdp sw2.example/GigabitEthernet1/0/4 sw2.example"},
		"CDP with octets": {`1.3.6.1.4.1.9.9.23.1.2.1.1.6.7.1|4x|001b0000aa00
1.3.6.1.4.1.9.9.23.1.2.1.1.7.7.1|4|1
`, "1 cdp 00:1b:00:00:aa:00/1 "},
		"FDP": {`1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.1991.1.3.1
1.3.6.1.4.1.1991.1.1.3.20.1.2.1.1.3.7.1|4|icx2
1.3.6.1.4.1.1991.1.1.3.20.1.2.1.1.5.7.1|4x|0a000002
1.3.6.1.4.1.1991.1.1.3.20.1.2.1.1.7.7.1|4|ethernet1/1/3
`, "1 fdp icx2/ethernet1/1/3 icx2 10.0.0.2"},
		"EDP": {`1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.1916.2.1
1.3.6.1.4.1.1916.1.13.2.1.3.7.0.0.0.4.150.1.2.3|4|x2
1.3.6.1.4.1.1916.1.13.2.1.5.7.0.0.0.4.150.1.2.3|2|2
1.3.6.1.4.1.1916.1.13.2.1.6.7.0.0.0.4.150.1.2.3|2|24
`, "1 edp 00:04:96:01:02:03/2:24 x2"},
	} {
		d, sw := agent(t, ports+k.lines)
		o, err := d.Observe(deadline(t), sw)
		if err != nil {
			t.Fatal(name, err)
		}
		if len(o.Neighbors) != 1 {
			t.Errorf("%s: %d neighbours, notes %q", name, len(o.Neighbors), o.Notes)
			continue
		}
		n := o.Neighbors[0]
		got := fmt.Sprintf("%s %s %s/%s %s", n.LocalPort, n.Protocol, n.Chassis, n.Port, n.SysName)
		for _, a := range n.Addresses {
			got += " " + a.String()
		}
		if got != k.want {
			t.Errorf("%s: %q, want %q", name, got, k.want)
		}
	}
}

// Evidence keeps, beside the switches that are looked for, what all of them may know.
func TestEvidenceOfStations(t *testing.T) {
	d, sw := agent(t, media+`1.3.6.1.2.1.17.1.4.1.2.1|2|1
1.3.6.1.2.1.17.1.4.1.2.2|2|2
1.3.6.1.2.1.17.7.1.2.2.1.2.7.2.0.0.0.0.1|2|1
1.3.6.1.2.1.17.7.1.2.2.1.2.7.2.0.0.0.0.9|2|2
`)
	o, err := d.Observe(deadline(t), sw)
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.Evidence(deadline(t), sw, o, map[mib.MAC]bool{0x020000000001: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Seen["1"]) != 1 || e.Others[0x020000000009] != "2" || len(e.ARP) != 1 {
		t.Errorf("%+v", e)
	}
}
