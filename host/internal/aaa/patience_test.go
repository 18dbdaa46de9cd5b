package aaa

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ctl.internal/sdk/realm"
)

func TestPatienceIsLostAndFound(t *testing.T) {
	now := time.Unix(1e9, 0)
	var p patience
	for i := range maxSlow {
		if !p.mayAskRealm(now) {
			t.Fatalf("not asked after %d late answers", i)
		}
		p.noteAnswer(now, true)
	}
	if p.mayAskRealm(now) {
		t.Error("asked at once again")
	}
	now = now.Add(slowPause)
	if !p.mayAskRealm(now) || p.mayAskRealm(now) {
		t.Error("not asked by exactly one, after the pause")
	}
	p.noteAnswer(now, true)
	if p.mayAskRealm(now) {
		t.Error("asked although it is late still")
	}
	now = now.Add(slowPause)
	if !p.mayAskRealm(now) {
		t.Error("never asked again")
	}
	p.noteAnswer(now, false)
	for range 2 {
		if !p.mayAskRealm(now) {
			t.Error("an answer in time does not end it")
		}
	}
	p.noteAnswer(now, true)
	if !p.mayAskRealm(now) {
		t.Error("lost at the first late answer")
	}
}

// hanging is a realm that answers when its time is over, until it is well again.
type hanging struct {
	asked int
	well  bool
}

func (h *hanging) Realm(context.Context, realm.Config) (realm.Realm, error) { return h, nil }
func (h *hanging) Epoch(string) uint64                                      { return 1 }
func (h *hanging) Close() error                                             { return nil }

func (h *hanging) Authenticate(ctx context.Context, _ realm.Credentials) (realm.Result, error) {
	h.asked++
	if h.well {
		return realm.Result{Outcome: realm.Authenticated}, nil
	}
	<-ctx.Done()
	return realm.Result{}, ctx.Err()
}

func TestARealmThatHangsIsNotWaitedForByEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{}
		o := Options{}
		o.setDefaults()
		now := time.Unix(1e9, 0)
		l := &late{config: realm.Config{Name: "r"}, source: h, log: o.Logger("x"), now: func() time.Time { return now }}
		ask := func() realm.Result {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			res, _ := l.Authenticate(ctx, realm.Credentials{})
			return res
		}
		for range 10 {
			if res := ask(); res.Outcome != realm.Unavailable {
				t.Fatalf("%+v", res)
			}
		}
		if h.asked != maxSlow {
			t.Errorf("asked %d times, want %d", h.asked, maxSlow)
		}
		if res := ask(); !strings.Contains(res.Reason, "not answered in time") {
			t.Errorf("%+v", res)
		}
		h.well = true
		now = now.Add(time.Minute)
		for range 2 {
			if res := ask(); res.Outcome != realm.Authenticated {
				t.Errorf("%+v", res)
			}
		}
	})
}
