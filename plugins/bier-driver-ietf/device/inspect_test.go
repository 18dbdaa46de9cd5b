package device

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
)

// bift is what a router shows of its way to one BFR.
func bift(id, neighbor string) *xmltree.Node {
	b := simrouter.NSBier
	return xmltree.New("", "", xmltree.New(simrouter.NSRouting, "routing", xmltree.New(b, "bier", xmltree.New(b, "bift", xmltree.Leaf(b, "bfr-id", id),
		xmltree.New(b, "birt-bitstringlength", xmltree.Leaf(b, "bsl", "256-bit"), xmltree.New(b, "bfr-nbr", xmltree.Leaf(b, "bfr-nbr", neighbor)))))))
}

// Forwarding tables are read where the router's module has them, by get or from the operational datastore, and are
// no part of its configuration.
func TestForwardingTablesOfRouters(t *testing.T) {
	for name, m := range map[string]simrouter.Model{"get": simrouter.RFC8349(), "get-data": simrouter.RFC8349().NMDA()} {
		t.Run(name, func(t *testing.T) {
			sim, r := start(t, simrouter.Options{Model: m})
			d := newDriver(quick())
			if x, err := d.Forwarding(within(t, time.Minute), r); err != nil || len(x) > 0 {
				t.Errorf("a router without BIER: %v, %v", x, err)
			}
			c := config(1)
			apply(t, d, r, c, bierdriver.Applied)
			if x, err := d.Forwarding(within(t, time.Minute), r); fault.KindOf(err) != fault.Downstream || !strings.Contains(fmt.Sprint(err), "shows nothing in bift") {
				t.Errorf("a router that shows nothing: %v, %v", x, err)
			}
			sim.SetPlane(simrouter.Plane{State: bift("2", "192.0.2.2/32")})
			x, err := d.Forwarding(within(t, time.Minute), r)
			if err != nil || len(x) != 1 || x[0].Bitstringlength != 256 || len(x[0].Neighbors) != 1 || x[0].Neighbors[0].Name != "192.0.2.2/32" || x[0].Neighbors[0].FBm[31] != 2 {
				t.Errorf("%v, %v", x, err)
			}
			before := sim.Counts()["edit-config"]
			apply(t, d, r, c, bierdriver.Applied)
			if sim.Counts()["edit-config"] != before {
				t.Error("what the router shows was taken for its configuration")
			}
			if got := sim.Counts(); (got["get-data"] > 0) != (name == "get-data") {
				t.Errorf("it was asked for %v", got)
			}
		})
	}
}

// A router pings others by the operation that its modules have; what comes back is counted.
func TestPing(t *testing.T) {
	sim, r := start(t, simrouter.Options{Model: simrouter.Draft00().Pings()})
	d := newDriver(quick())
	apply(t, d, r, config(1, 2, 3), bierdriver.Applied)
	sim.SetPlane(simrouter.Plane{Reaches: func(id, count uint64) uint64 { return map[uint64]uint64{2: count, 3: count - 1}[id] }})
	got, err := d.Ping(within(t, time.Minute), r, []*bierdriver.Member{{BfrId: 3}, {BfrId: 2}, {BfrId: 4}}, 5)
	if err != nil || len(got) != 3 || got[0].Sent != 5 || got[0].Received != 4 || got[1].Received != 5 || got[2].Sent != 5 || got[2].Received != 0 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := d.Ping(within(t, time.Minute), r, []*bierdriver.Member{{SubDomainId: 9, BfrId: 2}}, 1); !strings.Contains(fmt.Sprint(err), "no sub-domain 9") {
		t.Error(err)
	}
	sim.Set(simrouter.Faults{Refuse: "continuity-check"})
	if _, err := d.Ping(within(t, time.Minute), r, []*bierdriver.Member{{BfrId: 2}}, 1); fault.KindOf(err) != fault.Downstream {
		t.Errorf("a refused ping: %v", err)
	}
	sim.Set(simrouter.Faults{Ignore: "continuity-check"})
	if _, err := d.Ping(within(t, time.Minute), r, []*bierdriver.Member{{BfrId: 2}}, 1); !strings.Contains(fmt.Sprint(err), "does not say how many packets") {
		t.Errorf("a ping without an answer: %v", err)
	}
}

// A router whose modules have neither says so in its session, and is refused by name.
func TestWhatARouterHasNoModuleFor(t *testing.T) {
	for name, x := range map[string]struct {
		model simrouter.Model
		lacks []string
	}{
		"2016":           {simrouter.Draft00(), []string{"forwarding", "ping"}},
		"2016 and ping":  {simrouter.Draft00().Pings(), []string{"forwarding"}},
		"later":          {simrouter.RFC8349(), []string{"ping"}},
		"later and ping": {simrouter.RFC8349().Pings(), nil},
	} {
		_, r := start(t, simrouter.Options{Model: x.model})
		d := newDriver(quick())
		p, err := d.Probe(within(t, time.Minute), r)
		if err != nil || !p.Supported || !slices.Equal(p.Session.Lacks, x.lacks) {
			t.Errorf("%s: %v, %v", name, p, err)
		}
		_, err = d.Forwarding(within(t, time.Minute), r)
		if lacks := slices.Contains(x.lacks, "forwarding"); lacks != (fault.KindOf(err) == fault.Unsupported) || lacks && !strings.Contains(err.Error(), "this router's model (ietf-bier-2016-07-23) has no forwarding table to read") {
			t.Errorf("%s: %v", name, err)
		}
		_, err = d.Ping(within(t, time.Minute), r, []*bierdriver.Member{{BfrId: 2}}, 1)
		if slices.Contains(x.lacks, "ping") != (fault.KindOf(err) == fault.Unsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
