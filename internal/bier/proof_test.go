package bier

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// asked is when all is looked at in these tests.
var asked = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// readings adds to routers what they show: "r1 3>r2 3>r4" is a table with the bit of BFR-id 3 at the neighbours r2 and
// r4, "r1 4>?" one at a neighbour that nobody knows, "r3 late" that r3 came to its state after it was read, "r1 nothing" an empty table, "r1 old 4>r2" one of long ago. Every
// router came to its state an hour ago.
func readings(l *look, top *Topology, what ...string) *look {
	l.now = asked
	g := top.Graph(1, 0)
	for _, x := range l.rows {
		x.Since = asked.Add(-time.Hour)
	}
	for _, w := range what {
		f := strings.Fields(w)
		r := &Reading{
			At:     asked.Add(-time.Minute),
			Every:  5 * time.Minute,
			Graphs: map[string]string{GraphKey(top.ID, 1, 0): g.Print()},
			Tables: []Table{},
		}
		masks := map[string][]byte{}
		for _, entry := range f[1:] {
			switch entry {
			case "nothing":
				continue
			case "old":
				r.At = asked.Add(-time.Hour)
				continue
			case "late": // it came to its state after that
				l.rows[f[0]].Since = asked.Add(-10 * time.Second)
				continue
			case "other":
				r.Graphs[GraphKey(top.ID, 1, 0)] = "another network"
				continue
			}
			id, node, _ := strings.Cut(entry, ">")
			if masks[node] == nil {
				masks[node] = make([]byte, 8)
			}
			var n int
			fmt.Sscan(id, &n)
			masks[node][7-(n-1)/8] |= 1 << ((n - 1) % 8)
		}
		t := Table{BSL: 64}
		for _, node := range slices.Sorted(maps.Keys(masks)) {
			n := TableNeighbor{Node: node, Name: node, Mask: masks[node]}
			if node == "?" {
				n.Node = ""
			}
			t.Neighbors = append(t.Neighbors, n)
		}
		r.Tables = append(r.Tables, t)
		l.rows[f[0]].reading = r
	}
	return l
}

// Where routers show which next hops they use, those decide; where they do not, or did so before something changed,
// every way that they may choose counts.
func TestNextHopsThatAreReadDecide(t *testing.T) {
	all := map[string]uint16{"r1": 1, "r2": 2, "r3": 3, "r4": 4, "r5": 5}
	withoutR2 := map[string]uint16{"r1": 1, "r3": 3, "r4": 4}
	const square = "r1-r2 r1-r3 r2-r4 r3-r4"
	for name, x := range map[string]struct {
		links  string
		ids    map[string]uint16
		what   []string // of routers
		shown  []string // of readings
		state  string
		reason string
		proved string
	}{
		"the good way is used": {square, withoutR2, []string{"r1 lacks tunnel"}, []string{"r1 4>r3", "r3 4>r4"},
			Applied, "", ByTables},
		"the bad way is used": {square, withoutR2, []string{"r1 lacks tunnel"}, []string{"r1 4>r2"},
			Unreachable, "router r1 cannot do what is needed (tunnel", ""},
		"both are used": {square, withoutR2, []string{"r1 lacks tunnel"}, []string{"r1 4>r2 4>r3", "r3 4>r4"},
			AtRisk, "router r1 may choose r2: router r1 cannot do", ""},
		"no way is used": {square, withoutR2, []string{"r1 lacks tunnel"}, []string{"r1 3>r3"},
			Unreachable, "router r1 shows no way to BFR-id 4 (r4) in its forwarding table", ""},
		"an empty table": {square, all, nil, []string{"r1 nothing"},
			Unreachable, "router r1 shows no way to BFR-id 4 (r4)", ""},
		"transit has no way": {"r1-r2 r2-r3", all, nil, []string{"r1 3>r2", "r2 1>r1"},
			Unreachable, "router r2 shows no way to BFR-id 3 (r3)", ""},
		"what was read is old": {square, withoutR2, []string{"r1 lacks tunnel"}, []string{"r1 old 4>r3"},
			AtRisk, "router r1 may choose r2", ""},
		"what was read is of another network": {square, withoutR2, []string{"r1 lacks tunnel"}, []string{"r1 other 4>r3"},
			AtRisk, "router r1 may choose r2", ""},
		"a router has changed since": {square, withoutR2, []string{"r1 lacks tunnel"}, []string{"r1 4>r3", "r3 late 4>r4"},
			AtRisk, "router r1 may choose r2", ""},
		"which neighbour it is is not known": {square, withoutR2, []string{"r1 lacks tunnel"}, []string{"r1 4>?"},
			AtRisk, "router r1 may choose r2", ""},
		"the failed one is not used": {square, all, []string{"r2 failed"}, []string{"r1 4>r3"},
			Applied, "", ""},
		"the failed one is used": {square, all, []string{"r2 failed"}, []string{"r1 4>r2"},
			Unreachable, "router r2 is failed", ""},
		"one that is not compared is not used": {square, all, []string{"r2 unverified"}, []string{"r1 4>r3"},
			Applied, "", ""},
		"one that is not compared is used": {square, all, []string{"r2 unverified"}, []string{"r1 4>r2"},
			Unverified, "router r2 on the way is unverified", ""},
		"all show their ways": {square, all, nil, []string{"r1 4>r2 4>r3", "r2 4>r4", "r3 4>r4"},
			Applied, "", ByTables},
		"one of them does not": {square, all, nil, []string{"r1 4>r2 4>r3", "r2 4>r4"},
			Applied, "", ""},
		"a way beside the computed ones": {"r1-r2 r2-r4 r1-r3:20 r3-r4", all, nil, []string{"r1 4>r3", "r3 4>r4"},
			Applied, "", ByTables},
		"beside them over a failed one": {"r1-r2 r2-r4 r1-r3:20 r3-r4", all, []string{"r3 failed"}, []string{"r1 4>r3"},
			Unreachable, "router r1 sends packets to r3 (forwarding table of", ""},
		"beside them over one not compared": {"r1-r2 r2-r4 r1-r3:20 r3-r4", all, []string{"r3 unverified"}, []string{"r1 4>r3"},
			Unverified, "router r3 on the way is unverified", ""},
		"in a circle": {"r1-r2 r2-r4 r1-r3:20 r3-r4", all, nil, []string{"r1 4>r3", "r3 4>r1"},
			Unreachable, "they come to r1 again and again", ""},
		"back on the line": {"r1-r2 r2-r3 r3-r4", all, nil, []string{"r1 4>r2", "r2 4>r1"},
			Unreachable, "they come to", ""},
		"to one that is no member": {"r1-r2 r2-r4 r1-x", map[string]uint16{"r1": 1, "r2": 2, "r4": 4}, nil, []string{"r1 4>x"},
			Unreachable, "x is not in sub-domain 0 of domain 1", ""},
	} {
		top := sketch(x.links, x.ids)
		to := "r4"
		if name == "transit has no way" {
			to = "r3"
		}
		c := &Channel{Name: "c", DomainID: 1, IngressNode: "r1", EgressNodes: []EgressNode{{ID: to}}}
		plan, err := PlanChannel(top, c)
		got := readings(routers(top, x.what...), top, x.shown...).plannedState("x", c, 1, plan, err)
		egress := got.Carriers[1]
		if egress.State != x.state || !strings.Contains(egress.Reason, x.reason) || egress.ProvedBy != x.proved {
			t.Errorf("%s: %s (%s), proved by %q; want %+v", name, egress.State, egress.Reason, egress.ProvedBy, x)
		}
		if egress.Proved.IsZero() != (x.proved == "") || !got.Proved.Equal(egress.Proved) {
			t.Errorf("%s: proved at %v, the channel at %v", name, egress.Proved, got.Proved)
		}
	}
}

// counter is one that was read every minute, last at the time asked.
func counter(revision uint64, values ...uint64) ChannelCount {
	c := ChannelCount{Revision: revision}
	for i, n := range values {
		c.Add(Sample{At: asked.Add(time.Duration(i-len(values)+1) * time.Minute), Packets: n})
	}
	return c
}

// What counters and pings say of an egress node.
func TestWhatIsMeasuredCounts(t *testing.T) {
	ping := func(ago time.Duration, revision uint64, received uint32) *Pinged {
		return &Pinged{Domain: 1, Node: "r3", At: asked.Add(-ago), Revision: revision, Sent: 3, Received: received}
	}
	for name, x := range map[string]struct {
		in, out *ChannelCount
		ping    *Pinged
		since   time.Duration // how long ago a router came to its state
		state   string
		reason  string
		proved  string
		silent  bool
	}{
		"nothing is known":                  {state: Applied},
		"both count":                        {in: at(counter(1, 5, 9)), out: at(counter(1, 2, 6)), state: Applied, proved: ByCounters},
		"the egress does not":               {in: at(counter(1, 5, 9, 14)), out: at(counter(1, 2, 2, 2)), state: Unreachable, reason: "r1 has counted packets of the channel between", silent: true},
		"neither does":                      {in: at(counter(1, 5, 5)), out: at(counter(1, 2, 2)), state: Applied},
		"only the egress does":              {in: at(counter(1, 5, 5)), out: at(counter(1, 2, 6)), state: Applied},
		"the ingress does not show it":      {out: at(counter(1, 2, 6)), state: Applied, proved: ByCounters},
		"the egress does not show it":       {in: at(counter(1, 5, 9)), state: Applied},
		"counters of before":                {in: at(counter(1, 5, 9)), out: at(counter(0, 2, 2)), state: Applied},
		"before a router changed":           {in: at(counter(1, 5, 9, 14)), out: at(counter(1, 2, 2, 2)), since: 10 * time.Second, state: Applied},
		"one reading":                       {in: at(counter(1, 5)), out: at(counter(1, 2)), state: Applied},
		"reset":                             {in: at(counter(1, 5, 9)), out: at(counter(1, 9, 2)), state: Applied},
		"ping":                              {ping: ping(time.Minute, 1, 3), state: Applied, proved: ByPing},
		"ping that none answered":           {ping: ping(time.Minute, 1, 0), state: Unreachable, reason: "BIER ping of r1: none of 3 packets was answered"},
		"ping that some answered":           {ping: ping(time.Minute, 1, 2), state: AtRisk, reason: "BIER ping of r1: 2 of 3 packets were answered", proved: ByPing},
		"ping of before":                    {ping: ping(time.Minute, 0, 0), state: Applied},
		"lost, before a router changed":     {ping: ping(time.Minute, 1, 0), since: 10 * time.Second, state: Applied},
		"lost, but counted since":           {in: at(counter(1, 5, 9)), out: at(counter(1, 2, 6)), ping: ping(time.Minute, 1, 0), state: Applied, proved: ByCounters},
		"counted before and after the loss": {in: at(counter(1, 5, 9)), out: at(counter(1, 2, 6)), ping: ping(30*time.Second, 1, 0), state: Unreachable, reason: "none of 3 packets"},
		"lost in part, counted around it":   {in: at(counter(1, 5, 9)), out: at(counter(1, 2, 6)), ping: ping(30*time.Second, 1, 1), state: AtRisk, reason: "1 of 3 packets", proved: ByCounters},
		"lost again and again, but counted": {in: at(counter(1, 5, 9)), out: at(counter(1, 2, 6)), ping: failing(ping(time.Second, 1, 0), 2*time.Minute), state: Applied, proved: ByCounters},
		"counted, but lost since":           {in: at(counter(1, 5, 9, 9)), out: at(counter(1, 2, 6, 6)), ping: ping(time.Second, 1, 0), state: Unreachable, reason: "none of 3 packets"},
	} {
		top := sketch("r1-r2 r2-r3", map[string]uint16{"r1": 1, "r2": 2, "r3": 3})
		c := &Channel{Name: "c", DomainID: 1, IngressNode: "r1", EgressNodes: []EgressNode{{ID: "r3"}}}
		l := readings(routers(top), top)
		if x.since > 0 {
			l.rows["r2"].Since = asked.Add(-x.since)
		}
		if x.in != nil {
			l.rows["r1"].counts = Counts{"x c": *x.in}
		}
		if x.out != nil {
			l.rows["r3"].counts = Counts{"x c": *x.out}
		}
		if x.ping != nil {
			l.rows["r1"].reading = &Reading{At: x.ping.At, Every: 5 * time.Minute, Pings: []Pinged{*x.ping}}
		}
		plan, err := PlanChannel(top, c)
		got := l.plannedState("x", c, 1, plan, err)
		egress := got.Carriers[1]
		if egress.State != x.state || !strings.Contains(egress.Reason, x.reason) || egress.ProvedBy != x.proved || len(got.Silent) > 0 != x.silent {
			t.Errorf("%s: %s (%s), proved by %q, silent %q; want %+v", name, egress.State, egress.Reason, egress.ProvedBy, got.Silent, x)
		}
		if n := len(egress.Path); n != 3 {
			t.Errorf("%s: the way has %d routers", name, n)
		}
		if x.out != nil && x.out.Revision == 1 && (egress.Packets != x.out.Samples[len(x.out.Samples)-1].Packets || !egress.Counted.Equal(asked)) {
			t.Errorf("%s: %d packets at %v", name, egress.Packets, egress.Counted)
		}
		silent := slices.ContainsFunc(got.alarms("x", "c"), func(a Alarm) bool { return a.Type == ChannelSilent })
		if silent != x.silent {
			t.Errorf("%s: alarms %+v", name, got.alarms("x", "c"))
		}
	}
}

func at(c ChannelCount) *ChannelCount { return &c }

// failing is a ping that fails for this long.
func failing(p *Pinged, ago time.Duration) *Pinged {
	p.Failing = asked.Add(-ago)
	return p
}

// What was read in a turn is believed for three intervals after the turn has ended, however long the turn took.
func TestAReadingIsBelievedFromTheEndOfItsTurn(t *testing.T) {
	const every = time.Minute
	for name, x := range map[string]struct {
		at, until time.Duration // before it is asked for
		fresh     bool
	}{
		"a short turn":                     {2 * every, 2*every - time.Second, true},
		"a short turn of long ago":         {4 * every, 4*every - time.Second, false},
		"a turn longer than intervals":     {10 * every, every, true},
		"such a turn of long ago":          {20 * every, 4 * every, false},
		"the end of the turn is not known": {2 * every, -1, true},
	} {
		r := &Reading{At: asked.Add(-x.at), Every: every}
		if x.until >= 0 {
			r.Until = asked.Add(-x.until)
		}
		if got := r.fresh(asked); got != x.fresh {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A channel is proved when all of its egress nodes are, at the earliest time and by the least of what proves them.
func TestAChannelIsProvedByTheLeast(t *testing.T) {
	early, late := asked.Add(-time.Hour), asked
	for name, x := range map[string]struct {
		egress []RouterState
		at     time.Time
		by     string
	}{
		"all":         {[]RouterState{{Proved: late, ProvedBy: ByCounters}, {Proved: early, ProvedBy: ByPing}}, early, ByPing},
		"not one":     {[]RouterState{{Proved: late, ProvedBy: ByCounters}, {}}, time.Time{}, ""},
		"not first":   {[]RouterState{{}, {Proved: late, ProvedBy: ByCounters}}, time.Time{}, ""},
		"by the last": {[]RouterState{{Proved: early, ProvedBy: ByCounters}, {Proved: late, ProvedBy: ByTables}}, early, ByTables},
	} {
		var c ChannelState
		for i := range x.egress {
			c.prove(i, &x.egress[i])
		}
		if !c.Proved.Equal(x.at) || c.ProvedBy != x.by {
			t.Errorf("%s: %v by %q", name, c.Proved, c.ProvedBy)
		}
	}
}
