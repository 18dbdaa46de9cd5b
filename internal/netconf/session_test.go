package netconf_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/internal/netconf"
)

func TestCandidateIsCommitted(t *testing.T) {
	for name, o := range map[string]simrouter.Options{"chunks": {}, "marks": {Base10: true}} {
		t.Run(name, func(t *testing.T) {
			r := start(t, o)
			s := dial(t, r)
			ctx := within(t, time.Minute)
			if !s.Capabilities().Has(netconf.Candidate) || s.ID() == 0 || s.HostKey() != r.HostKey() {
				t.Fatalf("session %d, %v, key %q", s.ID(), s.Capabilities(), s.HostKey())
			}
			if m, ok := s.Capabilities().Module("ietf-bier"); !ok || m.Revision != "2016-07-23" || m.Namespace != simrouter.NSBier {
				t.Errorf("ietf-bier announced as %+v", m)
			}
			for _, op := range []netconf.Operation{netconf.LockOp(netconf.CandidateDS), edit(netconf.CandidateDS, bfr("7")),
				validate(netconf.CandidateDS), netconf.ConfirmedCommitOp(time.Minute), netconf.CommitOp(), netconf.UnlockOp(netconf.CandidateDS)} {
				if err := s.OK(ctx, op); err != nil {
					t.Fatalf("%s: %v", op.Name(), err)
				}
			}
			d, err := s.Data(ctx, netconf.GetConfigOp(netconf.Running))
			if err != nil || held(d) != "7" || held(r.Config()) != "7" {
				t.Errorf("read %s, the router holds %s, %v", d, r.Config(), err)
			}
		})
	}
}

func TestAllErrorsAreKept(t *testing.T) {
	r := start(t, simrouter.Options{})
	s := dial(t, r)
	r.Set(simrouter.Faults{Refuse: "edit-config", RefuseTag: "resource-denied"})
	err := s.OK(within(t, time.Minute), edit(netconf.Running, bfr("7")))
	no := netconf.Refused(err)
	if len(no) != 3 || !no.Has("resource-denied") || !no.Has("invalid-value") || no.Has("in-use") || no[1].Path != "/routing/bier" {
		t.Fatalf("refusal %v", err)
	}
	if !strings.Contains(err.Error(), "not today") || !strings.Contains(err.Error(), "nor tomorrow") {
		t.Errorf("the text leaves something out: %v", err)
	}
	r.Set(simrouter.Faults{})
	if err := s.OK(within(t, time.Minute), edit(netconf.Running, bfr("70000"))); !netconf.Refused(err).Has("invalid-value") {
		t.Errorf("a wrong number: %v", err)
	}
	if err := s.OK(within(t, time.Minute), edit(netconf.Running, bfr("7"))); err != nil {
		t.Errorf("a refusal ended the session: %v", err)
	}
}

// The faults after which an edit must not be called a success.
func TestFaultsAreNoSuccess(t *testing.T) {
	e := "edit-config"
	for name, c := range map[string]struct {
		f    simrouter.Faults
		long bool // only the deadline ends it
		open bool // the session goes on
		old  bool // base:1.0 only
	}{
		"no answer":                       {f: simrouter.Faults{Silent: e}, long: true},
		"half an answer":                  {f: simrouter.Faults{Stall: e}, long: true},
		"half an answer, marks":           {f: simrouter.Faults{Stall: e}, long: true, old: true},
		"half an answer and the end":      {f: simrouter.Faults{Half: e}},
		"half an answer, marks, the end":  {f: simrouter.Faults{Half: e}, old: true},
		"the end before":                  {f: simrouter.Faults{Hangup: e}},
		"the end after it":                {f: simrouter.Faults{HangupOK: e}},
		"an empty reply":                  {f: simrouter.Faults{Empty: e}, open: true},
		"ok, error, ok":                   {f: simrouter.Faults{Twice: e}, open: true},
		"no XML":                          {f: simrouter.Faults{Garbage: true}},
		"another message-id":              {f: simrouter.Faults{WrongID: true}},
		"no message-id":                   {f: simrouter.Faults{NoID: true}},
		"chunks though only base:1.0":     {f: simrouter.Faults{ChunksInOld: true}, old: true},
		"more than a message may be long": {f: simrouter.Faults{Pad: 3 << 20}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, simrouter.Options{Base10: c.old})
			to := target(r)
			to.MaxMessage = 2 << 20
			s, err := netconf.Dial(within(t, time.Minute), to)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close(within(t, time.Minute))
			r.Set(c.f)
			limit := time.Minute
			if c.long {
				limit = 300 * time.Millisecond
			}
			err = s.OK(within(t, limit), edit(netconf.Running, bfr("7")))
			if err == nil {
				t.Fatal("it was called a success")
			}
			if c.long != errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			r.Set(simrouter.Faults{})
			_, err = s.Data(within(t, time.Minute), netconf.GetOp())
			if c.open != (err == nil) {
				t.Errorf("afterwards: %v", err)
			}
			if c.open == (s.Err() != nil) {
				t.Errorf("the session's state: %v", s.Err())
			}
		})
	}
}

// The faults that an edit survives.
func TestFaultsThatAreBorne(t *testing.T) {
	for name, f := range map[string]simrouter.Faults{
		"octet by octet":        {Pieces: 1},
		"marks cut":             {Pieces: 7},
		"small chunks":          {ChunkSize: 5},
		"notifications between": {Events: true},
		"a megabyte of comment": {Pad: 1 << 20},
		"LF##LF inside":         {Pieces: 3, ChunkSize: 64},
	} {
		for _, old := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " base:1.0 ", old), func(t *testing.T) {
				t.Parallel()
				r := start(t, simrouter.Options{Base10: old})
				r.Set(f)
				s := dial(t, r)
				if err := s.OK(within(t, time.Minute), edit(netconf.Running, bfr("7"))); err != nil {
					t.Fatal(err)
				}
				d, err := s.Data(within(t, time.Minute), netconf.GetConfigOp(netconf.Running))
				if err != nil || held(d) != "7" {
					t.Errorf("%s, %v", d, err)
				}
			})
		}
	}
}

func TestTheFirstMessageMayBeLost(t *testing.T) {
	r := start(t, simrouter.Options{})
	r.Set(simrouter.Faults{LoseFirst: 1})
	s := dial(t, r)
	if err := s.OK(within(t, time.Minute), edit(netconf.Running, bfr("7"))); err != nil {
		t.Fatal(err)
	}
	if n := r.Counts()["edit-config"]; n != 1 {
		t.Errorf("%d edits were sent", n)
	}
}

func TestRepliesFindTheirCaller(t *testing.T) {
	r := start(t, simrouter.Options{})
	s := dial(t, r)
	r.Set(simrouter.Faults{Swap: true, Events: true})
	var all sync.WaitGroup
	for i := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			ctx := within(t, time.Minute)
			for range 50 {
				if i%2 == 0 {
					if d, err := s.Data(ctx, netconf.GetConfigOp(netconf.Running)); err != nil || d.Name != "data" {
						t.Errorf("get-config: %v", err)
						return
					}
				} else if err := s.OK(ctx, validate(netconf.Running)); err != nil {
					t.Errorf("validate: %v", err)
					return
				}
			}
		}()
	}
	all.Wait()
}

// Operations sent in one piece are done in their order, and one that is refused does
// not keep the rest from being done.
func TestManyInOnePiece(t *testing.T) {
	for name, o := range map[string]simrouter.Options{"chunks": {}, "marks": {Base10: true}} {
		t.Run(name, func(t *testing.T) {
			r := start(t, o)
			s := dial(t, r)
			get := netconf.GetConfigOp(netconf.Running)
			a := s.DoAll(within(t, time.Minute), edit(netconf.Running, bfr("7")), get, edit(netconf.Running, bfr("70000")), edit(netconf.Running, bfr("8")), get)
			first, err := a[1].Data(get)
			last, also := a[4].Data(get)
			if len(a) != 5 || a[0].OK(get) != nil || err != nil || held(first) != "7" || !netconf.Refused(a[2].Err).Has("invalid-value") || a[3].Err != nil || also != nil || held(last) != "8" {
				t.Errorf("%v %v %v", a, first, last)
			}
			r.Set(simrouter.Faults{Hangup: "commit"})
			a = s.DoAll(within(t, time.Minute), edit(netconf.CandidateDS, bfr("9")), netconf.CommitOp(), get)
			if a[1].Err == nil || a[2].Err == nil || s.Err() == nil {
				t.Errorf("the end of the session answers all: %v", a)
			}
			if a = s.DoAll(within(t, time.Minute), get, get); a[0].Err == nil || a[1].Err == nil {
				t.Errorf("after the end: %v", a)
			}
		})
	}
}
