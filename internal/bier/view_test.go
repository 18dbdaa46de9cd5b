package bier

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// sketch is a topology as one draws it: "a-b" is a link in both directions with a metric of 10, or the one
// after a colon, with an id that begins with the text after @. Nodes without a BFR-id are no members; 0 is transit only.
func sketch(links string, ids map[string]uint16) *Topology {
	t := &Topology{ID: "x", Domains: []Domain{{ID: 1, SubDomains: []SubDomainRef{{ID: 0}}}}}
	nodes := map[string]bool{}
	for l := range strings.FieldsSeq(links) {
		l, name, _ := strings.Cut(l, "@")
		l, metric, given := strings.Cut(l, ":")
		weight := uint64(10)
		if given {
			fmt.Sscan(metric, &weight)
		}
		a, b, _ := strings.Cut(l, "-")
		nodes[a], nodes[b] = true, true
		for _, x := range [][2]string{{a, b}, {b, a}} {
			t.Links = append(t.Links, Link{ID: name + x[0] + "-" + x[1], Metric: weight, Source: LinkFrom{Node: x[0]}, Dest: LinkTo{Node: x[1]}})
		}
	}
	for node := range nodes {
		n := Node{ID: node}
		if id, ok := ids[node]; ok {
			s := SubDomain{ID: 0, IGP: "ISIS", AF: AF{IPv4: []Encapsulation{{BSL: 64, Base: 100, Size: 4}}}}
			n.Params.Domains = []NodeDomain{{ID: 1, Global: Global{BSL: 64, BFRID: &id, SubDomains: []SubDomain{s}}}}
		}
		t.Nodes = append(t.Nodes, n)
	}
	t.Sort()
	return t
}

// routers are records of routers: "r2 failed" or "r2 lacks tunnel"; all others of the topology are applied.
func routers(t *Topology, what ...string) *look {
	l := &look{rows: map[string]*row{}, service: Status{Processed: 9}}
	for i := range t.Nodes {
		l.rows[t.Nodes[i].ID] = &row{known: true, Status: Status{State: Applied, Intent: 1, Answered: 1}}
	}
	for _, w := range what {
		f := strings.Fields(w)
		x := l.rows[f[0]]
		switch f[1] {
		case "lacks":
			x.Lacks = f[2]
		case "aside":
			x.Aside = []Aside{{Reason: "no such family", Channels: []string{"x " + f[2]}}}
		default:
			x.State, x.Reason = f[1], "because"
		}
	}
	return l
}

// The state of an egress node is that of all the ways that routers may choose.
func TestStateOfTheWholeWay(t *testing.T) {
	all := map[string]uint16{"r1": 1, "r2": 2, "r3": 3, "r4": 4, "r5": 5}
	without := func(nodes ...string) map[string]uint16 {
		out := map[string]uint16{}
		for k, v := range all {
			out[k] = v
		}
		for _, n := range nodes {
			delete(out, n)
		}
		return out
	}
	const line, square = "r1-r2 r2-r3", "r1-r2 r1-r3 r2-r4 r3-r4"
	for name, x := range map[string]struct {
		links        string
		ids          map[string]uint16
		what         []string
		to           string
		state        string // of the egress node
		reason       string // a part of it
		whole        string // of the channel, that of the egress node when empty
		transit      string
		notInReasons string
	}{
		"a line":                            {line, all, nil, "r3", Applied, "", "", "r2", ""},
		"transit failed":                    {line, all, []string{"r2 failed"}, "r3", Unreachable, "router r2 is failed: because", "", "r2", "may choose"},
		"transit not compared":              {line, all, []string{"r2 unverified"}, "r3", Unverified, "router r2 on the way is unverified", "", "r2", ""},
		"transit pending":                   {line, all, []string{"r2 pending"}, "r3", Pending, "router r2 on the way is pending", "", "r2", ""},
		"a channel of transit is aside":     {line, all, []string{"r2 aside c"}, "r3", Applied, "", "", "r2", ""},
		"the channel is aside at the end":   {line, all, []string{"r3 aside c"}, "r3", Failed, "no such family", "", "r2", ""},
		"another channel is aside there":    {line, all, []string{"r3 aside d"}, "r3", Applied, "", "", "r2", ""},
		"the channel is aside at the start": {line, all, []string{"r1 aside c"}, "r3", Applied, "", Failed, "r2", ""},
		"transit without id":                {line, map[string]uint16{"r1": 1, "r2": 0, "r3": 3}, []string{"r2 lacks transit"}, "r3", Unreachable, "router r2 cannot do", "", "r2", ""},
		"square":                            {square, all, nil, "r4", Applied, "", "", "r2 r3", ""},
		"square, one failed":                {square, all, []string{"r2 failed"}, "r4", AtRisk, "router r1 may choose r2: router r2 is failed", "", "r2 r3", ""},
		"square, the other failed":          {square, all, []string{"r3 failed"}, "r4", AtRisk, "router r1 may choose r3", "", "r2 r3", ""},
		"square, both failed":               {square, all, []string{"r2 failed", "r3 failed"}, "r4", Unreachable, "router r2 is failed", "", "r2 r3", ""},
		"square, one not compared":          {square, all, []string{"r3 unverified"}, "r4", Unverified, "router r3 on the way", "", "r2 r3", ""},
		"square, failed and not compared":   {square, all, []string{"r2 failed", "r3 unverified"}, "r4", Unverified, "router r3 on the way", "", "r2 r3", ""},
		"square, the end failed":            {square, all, []string{"r4 failed"}, "r4", Failed, "because", "", "r2 r3", ""},
		"no BFR, no tunnels":                {square, without("r2"), []string{"r1 lacks tunnel"}, "r4", AtRisk, "router r1 may choose r2: router r1 cannot do what is needed (tunnel, RFC 8279 section 6.9) to reach r4 over r2", "", "r3", ""},
		"no BFR, tunnels not known":         {square, without("r2"), nil, "r4", AtRisk, "router r1 needs a tunnel", "", "r3", ""},
		"no BFR, cheaper way":               {"r1-r2:5 r1-r3 r2-r4 r3-r4", without("r2"), []string{"r1 lacks tunnel"}, "r4", Unreachable, "router r1 cannot do", "", "", ""},
		"no BFR, dearer way":                {"r1-r2:15 r1-r3 r2-r4 r3-r4", without("r2"), []string{"r1 lacks tunnel"}, "r4", Applied, "", "", "r3", ""},
		"failed beyond the choice":          {"r1-r2 r2-r3 r2-r5 r3-r4 r5-r4", all, []string{"r5 failed"}, "r4", AtRisk, "router r2 may choose r5", "", "r2 r3 r5", "r1 may"},
		"two that are no BFRs":              {"r1-x r1-y x-r2 y-r2", map[string]uint16{"r1": 1, "r2": 2}, []string{"r1 lacks tunnel"}, "r2", Unreachable, "router r1 cannot do what is needed", "", "", ""},
		"a failed one behind a tunnel":      {"r1-x x-r2 r2-r3 r1-r4 r4-r5 r5-r3", all, []string{"r2 failed"}, "r3", AtRisk, "router r1 may choose r2", "", "r4 r2 r5", ""},
	} {
		top := sketch(x.links, x.ids)
		c := &Channel{Name: "c", DomainID: 1, IngressNode: "r1", EgressNodes: []EgressNode{{ID: x.to}}}
		plan, err := PlanChannel(top, c)
		got := routers(top, x.what...).plannedState("x", c, 1, plan, err)
		egress := got.Carriers[1]
		var transit []string
		for _, r := range got.Carriers[2:] {
			if r.Role != RoleTransit {
				t.Errorf("%s: %+v", name, r)
			}
			transit = append(transit, r.Node)
		}
		whole := x.whole
		if whole == "" {
			whole = x.state
		}
		if egress.State != x.state || !strings.Contains(egress.Reason, x.reason) || got.State != whole || strings.Join(transit, " ") != x.transit ||
			x.notInReasons != "" && strings.Contains(egress.Reason, x.notInReasons) {
			t.Errorf("%s: %s (%s), channel %s, transit %v; want %+v", name, egress.State, egress.Reason, got.State, transit, x)
		}
	}
}

// How links are called decides nothing: neither the state nor the way that is shown.
func TestNamesOfLinksDecideNothing(t *testing.T) {
	ids := map[string]uint16{"r1": 1, "r3": 3, "r4": 4}
	var said []string
	for _, name := range []string{"a", "z"} {
		top := sketch("r1-r2@"+name+" r1-r3@m r2-r4@"+name+" r3-r4@m", ids)
		c := &Channel{Name: "c", DomainID: 1, IngressNode: "r1", EgressNodes: []EgressNode{{ID: "r4"}}}
		plan, err := PlanChannel(top, c)
		x := routers(top, "r1 lacks tunnel").plannedState("x", c, 1, plan, err)
		said = append(said, fmt.Sprintf("%+v %v %v", x.Carriers, plan.Egress[0].Path, plan.Egress[0].Needs))
	}
	if said[0] != said[1] || !strings.Contains(said[0], AtRisk) {
		t.Errorf("%s\n%s", said[0], said[1])
	}
}

// A service that gives no sign of life is not believed, and what it knew last is unverified.
func TestASilentServiceIsNotBelieved(t *testing.T) {
	h, begun := &heard{}, time.Unix(1000, 0)
	service := Status{Processed: 9, Beat: 1, Every: time.Second}
	for _, x := range []struct {
		beat   uint64
		at     float64
		silent bool
	}{{1, 0, false}, {1, 3, false}, {1, 3.5, true}, {2, 4, false}, {2, 6.9, false}, {2, 7.1, true}} {
		service.Beat = x.beat
		if got := h.silentSince(service, begun.Add(time.Duration(x.at*float64(time.Second)))); got.IsZero() == x.silent {
			t.Errorf("beat %d after %v s: silent since %v", x.beat, x.at, got)
		}
	}
	top := sketch("r1-r2", map[string]uint16{"r1": 1, "r2": 2})
	l := routers(top)
	l.rows["r2"].Confirmed = begun
	l.silent = begun.Add(time.Minute)
	if x := l.latestState("r2"); x.State != Unverified || !strings.Contains(x.Reason, "nothing was heard of the BIER service since 1970-01-01T00:17:40Z") ||
		!strings.Contains(x.Reason, "last confirmed at 1970-01-01T00:16:40Z") {
		t.Errorf("%+v", x)
	}
}

// What is pending says whether the change was not tried, is under way, or the router is slow.
func TestWhyARouterIsPending(t *testing.T) {
	now := time.Unix(1000, 0)
	for name, x := range map[string]struct {
		s           Status
		waits, said string
	}{
		"not tried":         {Status{State: Pending, Intent: 5, Intended: now}, NotTried, "has not been tried"},
		"an older try":      {Status{State: Applied, Intent: 5, Answered: 4, Intended: now, Sent: now.Add(-time.Hour)}, NotTried, "has not been tried"},
		"under way":         {Status{State: Pending, Intent: 5, Intended: now.Add(-5 * time.Second), Sent: now.Add(-4 * time.Second)}, UnderWay, "under way"},
		"slow":              {Status{State: Pending, Intent: 5, Intended: now.Add(-20 * time.Second), Sent: now.Add(-15 * time.Second)}, Slow, "the router is slow"},
		"tried in vain":     {Status{State: Pending, Intent: 5, Answered: 5, Reason: "no route"}, NotTried, "no route"},
		"it did not answer": {Status{State: Pending, Intent: 5, Answered: 5, Reason: "deadline", Waits: Slow}, Slow, "deadline"},
	} {
		got := x.s.routerStateAt("r", 9, Session{}, now)
		if got.State != Pending || got.Waits != x.waits || !strings.Contains(got.Reason, x.said) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
