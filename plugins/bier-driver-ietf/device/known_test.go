package device

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver"
)

// A router that reports changes by others is not read before each change, and what
// is read back is the change. Comparing reads all of it.
func TestKnownRouterIsNotReadFirst(t *testing.T) {
	for name, c := range map[string]struct {
		o    simrouter.Options
		want uint32 // requests for a change
	}{
		"candidate":           {simrouter.Options{}, 9}, // lock both, discard, edit, confirmed commit, read back, commit, unlock both
		"running":             {simrouter.Options{Leave: []string{netconf.Candidate}}, 5},
		"no confirmed commit": {simrouter.Options{Leave: []string{netconf.ConfirmedCommit}}, 9},
		"reports no changes":  {simrouter.Options{Leave: []string{netconf.Notifications}}, 10},
		"a second session":    {simrouter.Options{Leave: []string{netconf.Interleave}}, 9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, r := start(t, c.o)
			d := newDriver(quick())
			watch(t, d, r).state(bierdriver.Up)
			apply(t, d, r, config(3, 1, 2), bierdriver.Applied)
			reads := sim.Counts()["get-config"]
			if a := apply(t, d, r, config(3, 1, 2, 8), bierdriver.Applied); a.Messages != c.want {
				t.Errorf("%d requests, want %d", a.Messages, c.want)
			}
			if n := sim.Counts()["get-config"] - reads; n != 1 && name == "candidate" {
				t.Errorf("read %d times", n)
			}
			if a := apply(t, d, r, config(3, 1, 2, 8), bierdriver.Applied); a.Messages != 3 || len(a.Edits) > 0 {
				t.Errorf("comparing: %v", a)
			}
		})
	}
}

// What is taken for known may be wrong for a moment. The change succeeds all the same,
// and nothing of what others did stays.
func TestWhatIsKnownMayBeOld(t *testing.T) {
	for name, o := range map[string]simrouter.Options{"candidate": {}, "running": {Leave: []string{netconf.Candidate}}} {
		t.Run(name, func(t *testing.T) {
			sim, r := start(t, o)
			d := newDriver(quick())
			l, err := d.acquireLink(r)
			if err != nil {
				t.Fatal(err)
			}
			defer d.releaseLink(l)
			apply(t, d, r, config(3, 1, 2), bierdriver.Applied)
			l.setFollowedSession(l.session)
			for _, wrong := range []*bierdriver.Config{config(3, 1, 2, 9), config(7, 2), {}} {
				_, mark := l.recallConfig()
				l.learnConfig(wrong, mark)
				id := wrong.GetGlobal().GetBfrId() + 11
				apply(t, d, r, config(id, 4), bierdriver.Applied)
				apply(t, d, r, config(id, 4), bierdriver.Applied) // compares
				if o, err := newDriver(quick()).Read(within(t, time.Minute), r); err != nil || !proto.Equal(o.Config, config(id, 4)) {
					t.Errorf("%v, %v", o, err)
				}
			}
			// A change that was reported casts doubt: the next change reads first.
			_, mark := l.recallConfig()
			all := xmltree.New("", "")
			for _, n := range sim.Config().Kids {
				all.Add(xmltree.New(n.Space, n.Name).With(netconf.NS, "operation", "remove"))
			}
			if err := sim.Change(all); err != nil {
				t.Fatal(err)
			}
			l.forgetConfig()
			if c, now := l.recallConfig(); c != nil || now == mark {
				t.Error("what is known outlives doubt")
			}
			apply(t, d, r, config(5, 1), bierdriver.Applied)
			if o, err := newDriver(quick()).Read(within(t, time.Minute), r); err != nil || !proto.Equal(o.Config, config(5, 1)) {
				t.Errorf("%v, %v", o, err)
			}
		})
	}
}

// A router that does not answer several requests in one piece is asked one by one.
func TestRouterThatBearsOneRequestAtATime(t *testing.T) {
	sim, r := start(t, simrouter.Options{})
	s := quick()
	s.RPC.Duration = 2 * time.Second // silence is to be short
	d := newDriver(s)
	sim.Set(simrouter.Faults{Silent: "get-config"})
	apply(t, d, r, config(3, 1), bierdriver.Pending)
	if _, slow := d.memory.slow.Load(r.NodeId); !slow {
		t.Error("it is still sent several at once")
	}
	d.set.RPC = quick().RPC // only silence is to be short
	sim.Set(simrouter.Faults{Refuse: "lock"})
	before := sim.Counts()
	apply(t, d, r, config(3, 1), bierdriver.Failed)
	if sim.Counts()["get-config"] != before["get-config"] {
		t.Error("a request was sent after one that failed")
	}
	sim.Set(simrouter.Faults{})
	apply(t, d, r, config(3, 1), bierdriver.Applied)
}
