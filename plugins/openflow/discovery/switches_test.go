package discovery

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/plugins/openflow/ofp13"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Who does not begin as an OpenFlow 1.3 switch is sent away with a reason.
func TestFirstMessage(t *testing.T) {
	for name, k := range map[string]struct {
		version uint8
		m       ofp13.Message
		want    string
	}{
		"1.0":               {1, ofp13.Hello{}, "OpenFlow 1.3 is required; the switch offers 1.0"},
		"1.4 and 1.5":       {6, ofp13.Hello{Versions: 1<<5 | 1<<6}, "offers 1.4, 1.5"},
		"none":              {9, ofp13.Hello{Versions: 1 << 30}, "offers version number 30"},
		"no HELLO":          {4, ofp13.FeaturesReply{DatapathID: 1}, "first message is of type 6"},
		"an error":          {4, ofp13.Error{}, "does not speak OpenFlow 1.3"},
		"1.3 without a map": {4, ofp13.Hello{}, ""},
		"1.5 without a map": {6, ofp13.Hello{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, options())
			b := newBox(1, 1)
			b.deaf = true
			id := w.connect(b)
			w.core.Received(id, ofp13.Header{Version: k.version, Type: k.m.Type()}, k.m, w.now)
			w.run()
			if k.want == "" {
				if why, ok := w.closed[id]; ok {
					t.Errorf("refused: %s", why)
				}
				return
			}
			w.endsWith(id, k.want)
			refusal := slices.ContainsFunc(b.got, func(m ofp13.Message) bool {
				e, ok := m.(ofp13.Error)
				return ok && e.Kind == ofp13.ErrorHelloFailed && strings.Contains(string(e.Data), "protocols=OpenFlow13")
			})
			if _, hello := k.m.(ofp13.Hello); hello != refusal {
				t.Errorf("sent an ERROR: %v, sent a HELLO: %v", refusal, hello)
			}
		})
	}
}

func TestConnectionsThatAreEnded(t *testing.T) {
	for name, k := range map[string]struct {
		spoil func(w *world, id ConnID)
		want  string
	}{
		"silent": {func(w *world, id ConnID) { w.conns[id].deaf = true; w.wait(30 * time.Second) }, "not answered for 15s"},
		"another version": {func(w *world, id ConnID) {
			w.core.Received(id, ofp13.Header{Version: 1, Type: 10}, ofp13.Other{T: 10}, w.now)
			w.run()
		}, "version 1 after 1.3 was agreed"},
		"too many ports": {func(w *world, id ConnID) {
			for n := range uint32(100) {
				w.message(id, 0, ofp13.PortStatus{Port: ofp13.Port{Number: n + 1}})
			}
			w.run()
		}, "more than 64 ports"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, options())
			ids := w.ring(3)
			k.spoil(w, ids[0])
			w.endsWith(ids[0], k.want)
			w.want("2:1>3:2 3:2>2:1") // the others are not harmed
			if n := len(w.core.View(w.now).Nodes); n != 2 {
				t.Errorf("%d nodes", n)
			}
		})
	}
	w := newWorld(t, options())
	b := newBox(1, 1)
	b.deaf = true
	id := w.connect(b)
	w.wait(11 * time.Second)
	w.endsWith(id, "not ready within 10s")
}

// A connection that ends takes the switch and its links with it; when the switch
// comes back, they do.
func TestSwitchLeavesAndComesBack(t *testing.T) {
	w := newWorld(t, options())
	ids := w.ring(3)
	b := w.conns[ids[1]]
	delete(w.conns, ids[1])
	w.core.Closed(ids[1], "the switch closed it", w.now)
	w.run()
	w.want("1:2>3:1 3:1>1:2")
	w.connect(b)
	w.want(ring3)
}

// A switch that connects again while its old connection is not known to be dead has
// not to wait; a second switch with the datapath id of one that lives is refused.
func TestSameDatapathTwice(t *testing.T) {
	w := newWorld(t, options())
	ids := w.ring(3)
	second := w.connect(newBox(1, 2))
	w.endsWith(second, "openflow:1 is connected already, from switch-1")
	w.want(ring3)
	w.conns[ids[0]].deaf = true
	third := w.connect(newBox(1, 2))
	w.wait(1500 * time.Millisecond)
	w.endsWith(ids[0], "connected again")
	if w.conns[third] == nil {
		t.Fatalf("the new connection was ended: %s", w.closed[third])
	}
	w.want(ring3)
}

func TestRules(t *testing.T) {
	for miss, want := range map[TableMiss]string{MissDrop: "0 [] ", MissNone: "", MissNormal: "0 [{4294967290 0}] ", MissController: "0 [{4294967293 128}] "} {
		t.Run(string(miss), func(t *testing.T) {
			o := options()
			o.TableMiss = miss
			w := newWorld(t, o)
			b := newBox(1, 1)
			id := w.connect(b)
			var punt, table bool
			for _, m := range b.got {
				f, ok := m.(ofp13.FlowMod)
				if !ok || f.Command != ofp13.FlowAdd || f.Flags != 0 {
					continue
				}
				if f.Cookie != Cookie {
					t.Errorf("a rule without our mark: %+v", f)
				}
				if f.Match.EthType == nil {
					table = true
				} else {
					punt = *f.Match.EthType == 0x88cc && f.Outputs[0].Port == ofp13.PortController
				}
			}
			if !punt || table != (miss != MissNone) {
				t.Errorf("punt rule %v, table-miss rule %v, want %q", punt, table, want)
			}
			w.core.Leave(w.now)
			w.run()
			w.endsWith(id, "the controller stops")
			last := b.got[len(b.got)-2].(ofp13.FlowMod)
			if last.Command != ofp13.FlowDelete || last.Cookie != Cookie || last.CookieMask != ^uint64(0) || w.core.Left() != 0 {
				t.Errorf("at the end %+v, %d left", last, w.core.Left())
			}
		})
	}
}

// What a switch refuses is reported, and is no reason to lose it.
func TestRefusals(t *testing.T) {
	w := newWorld(t, options())
	b := newBox(1, 1)
	b.refuse[xidProbe] = ofp13.Error{Kind: 5, Code: 3}
	w.connect(b)
	for _, m := range b.got {
		if f, ok := m.(ofp13.FlowMod); ok && f.Command == ofp13.FlowAdd && f.Match.EthType == nil {
			t.Errorf("the table-miss rule of another controller was replaced: %+v", f)
		}
	}
	b = newBox(2, 1)
	b.refuse[xidPunt] = ofp13.Error{Kind: 5, Code: 1}
	w.connect(b)
	s := w.core.Switches()
	if len(s) != 2 || s[0].Problem != "" || !strings.Contains(s[1].Problem, "links to it are not seen") {
		t.Errorf("%+v", s)
	}
}

func TestMasterAgainstAnother(t *testing.T) {
	o := options()
	o.Role = ofp13.RoleMaster
	w := newWorld(t, o)
	b := newBox(1, 1)
	id := w.connect(b)
	if s := w.core.Switches(); s[0].Role != ofp13.RoleMaster {
		t.Fatalf("%+v", s)
	}
	roles := func() (n int) {
		for _, m := range b.got {
			if _, ok := m.(ofp13.RoleRequest); ok {
				n++
			}
		}
		return n
	}
	before := roles()
	slave := ofp13.Error{Kind: ofp13.ErrorBadRequest, Code: ofp13.CodeIsSlave}
	for range 50 { // another one became master; every frame is refused
		w.message(id, firstXID, slave)
		w.run()
	}
	if n := roles(); n != before {
		t.Errorf("asked %d times for the role within a moment", n-before)
	}
	w.wait(11 * time.Second)
	w.message(id, firstXID, slave)
	w.run()
	if s := w.core.Switches(); s[0].Role != ofp13.RoleMaster || roles() != before+1 {
		t.Errorf("after a while: %+v, %d requests", s, roles()-before)
	}
}

// A process that does not act sends nothing that changes a switch; when its turn comes it
// takes the role with its epoch as generation, and finds the links.
func TestOneActs(t *testing.T) {
	o := options()
	o.Role = ofp13.RoleMaster
	w := newWorld(t, o)
	w.core.Rest()
	one, two := newBox(1, 1), newBox(2, 1)
	w.cables[PortID{1, 1}], w.cables[PortID{2, 1}] = PortID{2, 1}, PortID{1, 1}
	w.connect(one)
	w.connect(two)
	acts := func() (n int, generation uint64) {
		for _, m := range append(one.got, two.got...) {
			switch m := m.(type) {
			case ofp13.RoleRequest:
				generation = m.Generation
				n++
			case ofp13.FlowMod, ofp13.PacketOut:
				n++
			}
		}
		return n, generation
	}
	w.wait(6 * time.Second)
	if n, _ := acts(); n != 0 || len(w.core.Switches()) != 2 || len(w.core.Links()) != 0 {
		t.Errorf("%d acts, %d switches", n, len(w.core.Switches()))
	}
	w.core.Act(42, w.now)
	w.run()
	w.wait(6 * time.Second)
	if n, generation := acts(); n == 0 || generation != 42 || len(w.core.Links()) != 2 {
		t.Errorf("%d acts with generation %d, %d links", n, generation, len(w.core.Links()))
	}
	w.core.Rest()
	before, _ := acts()
	w.wait(20 * time.Second)
	if n, _ := acts(); n != before || len(w.core.Links()) != 0 || len(w.core.Switches()) != 2 {
		t.Errorf("afterwards %d acts, %d links", n-before, len(w.core.Links()))
	}
}
