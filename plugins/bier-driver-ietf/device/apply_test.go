package device

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/internal/netconf"
	"ctl.internal/sdk/bierdriver"
)

// What a router may lack, and still gets its configuration.
func kinds() map[string]simrouter.Options {
	return map[string]simrouter.Options{
		"everything":                  {},
		"no confirmed commit":         {Leave: []string{netconf.ConfirmedCommit}},
		"only running":                {Leave: []string{netconf.Candidate, netconf.ConfirmedCommit}},
		"only running, whole or half": {Leave: []string{netconf.Candidate, netconf.ConfirmedCommit, netconf.RollbackOnError}},
		"only candidate":              {Leave: []string{netconf.WritableRunning}},
		"base:1.0":                    {Base10: true},
		"a later draft":               {Model: simrouter.RFC8349()},
	}
}

func TestApply(t *testing.T) {
	for name, o := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, r := start(t, o)
			d := newDriver(quick())
			first := apply(t, d, r, config(3, 1, 2), bierdriver.Applied)
			if len(first.Edits) == 0 || first.Messages < 4 || first.Session.State != bierdriver.Up || first.Session.HostKey != sim.HostKey() {
				t.Errorf("first: %v", first)
			}
			held, edits := sim.Config().String(), sim.Counts()["edit-config"]
			again := apply(t, d, r, config(3, 1, 2), bierdriver.Applied)
			if len(again.Edits) > 0 || sim.Counts()["edit-config"] != edits {
				t.Errorf("the same again was sent: %q", again.Edits)
			}
			one := apply(t, d, r, config(3, 1, 2, 8), bierdriver.Applied)
			if len(one.Edits) != 1 || !strings.Contains(one.Edits[0], "egress-node=8") {
				t.Errorf("one egress more: %q", one.Edits)
			}
			dry, err := d.Apply(within(t, time.Minute), r, &bierdriver.Config{}, nil)
			if err != nil || len(dry.Edits) == 0 || sim.Config().String() == held || sim.Counts()["edit-config"] != edits+1 {
				t.Errorf("a dry run: %v, %v", dry, err)
			}
			if o, err := d.Read(within(t, time.Minute), r); err != nil || o.Config.Channels[0].EgressBfrIds[2] != 8 {
				t.Errorf("read: %v, %v", o, err)
			}
			apply(t, d, r, &bierdriver.Config{}, bierdriver.Applied)
			if n := sim.Config(); len(n.Kids) > 0 {
				t.Errorf("left over: %s", n)
			}
			if sim.Counts()["lock"] != sim.Counts()["unlock"] {
				t.Errorf("locks: %v", sim.Counts())
			}
		})
	}
}

func TestReadReturnsWhatWasApplied(t *testing.T) {
	_, r := start(t, simrouter.Options{})
	d := newDriver(quick())
	apply(t, d, r, config(3, 1, 2), bierdriver.Applied)
	o, err := newDriver(quick()).Read(within(t, time.Minute), r)
	if err != nil || !proto.Equal(o.Config, config(3, 1, 2)) || o.Session.Dialect != "ietf-bier-2016-07-23" {
		t.Errorf("%v, %v", o, err)
	}
}

// Whatever happens in the middle, the router holds the old or the new, and the next
// try brings it there.
func TestFaultsLeaveNothingHalfApplied(t *testing.T) {
	type fault struct {
		f    simrouter.Faults
		want bierdriver.Outcome
	}
	faults := map[string]fault{"no edit answered": {simrouter.Faults{Silent: "edit-config"}, bierdriver.Pending}, "login": {simrouter.Faults{RefuseLogin: true}, bierdriver.Applied}}
	for _, op := range []string{"lock", "get-config", "edit-config", "commit"} {
		faults[op+" refused"] = fault{simrouter.Faults{Refuse: op}, bierdriver.Failed}
		faults[op+" denied for now"] = fault{simrouter.Faults{Refuse: op, RefuseTag: "in-use"}, bierdriver.Pending}
		faults[op+" empty"] = fault{simrouter.Faults{Empty: op}, bierdriver.Failed}
		faults[op+" twice"] = fault{simrouter.Faults{Twice: op}, bierdriver.Failed}
		faults[op+" hangs up before"] = fault{simrouter.Faults{Hangup: op}, bierdriver.Pending}
		faults[op+" hangs up after"] = fault{simrouter.Faults{HangupOK: op}, bierdriver.Pending}
		faults[op+" half"] = fault{simrouter.Faults{Half: op}, bierdriver.Pending}
	}
	faults["edit ignored"] = fault{simrouter.Faults{Ignore: "edit-config"}, bierdriver.Failed}
	all := kinds()
	all["everything, known"] = all["everything"] // what it holds is known, so that it is not read first
	for kind, o := range all {
		for name, c := range faults {
			t.Run(fmt.Sprint(kind, "/", name), func(t *testing.T) {
				t.Parallel()
				sim, r := start(t, o)
				s := quick()
				if c.f.Silent != "" { // silence is to be short
					s.RPC.Duration = 2 * time.Second
				}
				d := newDriver(s)
				l, err := d.acquireLink(r) // keeps the session between calls, as a watch does
				if err != nil {
					t.Fatal(err)
				}
				defer d.releaseLink(l)
				apply(t, d, r, config(3, 1, 2), bierdriver.Applied)
				if strings.HasSuffix(kind, "known") {
					l.setFollowedSession(l.session)
					apply(t, d, r, config(3, 1, 2), bierdriver.Applied)
				}
				before := sim.Config().String()
				sim.Set(c.f)
				a, err := d.Apply(within(t, time.Minute), r, config(4, 5), bierdriver.Always)
				if err != nil {
					t.Fatal(err)
				}
				reached := name != "commit" && strings.HasPrefix(name, "commit") && strings.HasPrefix(kind, "only running")
				if !reached && a.State != c.want {
					t.Errorf("%v: %s", a.State, a.Reason)
				}
				sim.Set(simrouter.Faults{})
				lost := a.State == bierdriver.Pending && l.session.Err() != nil
				if now := sim.Config().String(); a.State != bierdriver.Applied && !lost && now != before {
					t.Errorf("not applied (%s), but the router holds\n%s\ninstead of\n%s", a.Reason, now, before)
				}
				applyWhenFree(t, d, r, config(4, 5))
				if o, err := newDriver(quick()).Read(within(t, time.Minute), r); err != nil || kind != "a later draft" && !proto.Equal(o.Config, config(4, 5)) {
					t.Errorf("in the end: %v, %v", o, err)
				}
			})
		}
	}
}

func TestRouterThatCannotBeDriven(t *testing.T) {
	sim, r := start(t, simrouter.Options{Leave: []string{simrouter.NSBier, simrouter.NSMulticast}})
	d := newDriver(quick())
	p, err := d.Probe(within(t, time.Minute), r)
	if err != nil || p.Supported || !p.Reached || !strings.Contains(p.Reason, "ietf-bier") {
		t.Errorf("without ietf-bier: %v, %v", p, err)
	}
	apply(t, d, r, config(3), bierdriver.Failed)
	r.Password = "wrong"
	if a := apply(t, d, r, config(3), bierdriver.Failed); a.Session.State != bierdriver.Refused || strings.Contains(a.Reason, "wrong") {
		t.Errorf("a wrong password: %v", a)
	}
	r.Password = "lab"
	if err := sim.NewHostKey(); err != nil {
		t.Fatal(err)
	}
	if a := apply(t, d, r, config(3), bierdriver.Failed); a.Session.State != bierdriver.Refused || !strings.Contains(a.Reason, "host key") {
		t.Errorf("another host key: %v", a)
	}
	sim.Down()
	if a := apply(t, d, r, config(3), bierdriver.Pending); a.Session.State != bierdriver.Down {
		t.Errorf("a router that is off: %v", a)
	}
	if _, err := d.Read(within(t, time.Minute), r); err == nil {
		t.Error("a router that is off was read")
	}
}
