package aaa

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"ctl.internal/sdk/realm"
)

// ofKind is a realm that a plugin serves, and its source: it lets everybody in by one kind of credentials.
type ofKind struct {
	takes realm.Kind
	given int
	asked []realm.Kind
	epoch uint64
	none  bool // it takes nothing that is known here
}

func (o *ofKind) Realm(context.Context, realm.Config) (realm.Realm, error) {
	o.given++
	return o, nil
}

func (o *ofKind) Epoch(string) uint64 { return o.epoch }

func (o *ofKind) Takes() []realm.Kind {
	if o.none {
		return nil
	}
	return []realm.Kind{o.takes}
}

func (o *ofKind) Authenticate(_ context.Context, c realm.Credentials) (realm.Result, error) {
	o.asked = append(o.asked, c.Kind())
	return realm.Result{Outcome: realm.Authenticated, Principal: "ann"}, nil
}

func (o *ofKind) Close() error { return nil }

func TestARealmIsSentTheCredentialsThatItTakesAlone(t *testing.T) {
	for _, takes := range []realm.Kind{realm.Password, realm.Bearer} {
		o := &ofKind{takes: takes}
		l := &late{source: o, log: slog.New(slog.DiscardHandler), now: time.Now}
		for _, sent := range []realm.Credentials{{Bearer: "t"}, {User: "u", Password: "p"}, {Bearer: "t"}} {
			if !realm.Takes(l, sent.Kind()) {
				if o.given == 0 {
					t.Errorf("%v: it is not known what it takes, and it was not asked", takes)
				}
				continue
			}
			res, err := l.Authenticate(t.Context(), sent)
			if err != nil || (res.Outcome == realm.Authenticated) != (sent.Kind() == takes) {
				t.Errorf("takes %v, sent %v: %+v, %v", takes, sent.Kind(), res, err)
			}
		}
		for _, k := range o.asked {
			if k != takes {
				t.Errorf("takes %v, was sent %v", takes, k)
			}
		}
		if len(o.asked) == 0 || realm.Takes(l, 1-takes) {
			t.Errorf("takes %v: asked %v; what it takes is not remembered", takes, o.asked)
		}
	}
}

// What a realm takes is learnt again when its plugin is replaced, and while it takes nothing that is known here.
func TestWhatARealmTakesIsLearntAgain(t *testing.T) {
	o := &ofKind{takes: realm.Password, epoch: 1}
	l := &late{source: o, log: slog.New(slog.DiscardHandler), now: time.Now}
	good := func(c realm.Credentials) bool {
		if !realm.Takes(l, c.Kind()) {
			return false
		}
		res, err := l.Authenticate(t.Context(), c)
		return err == nil && res.Outcome == realm.Authenticated
	}
	token, password := realm.Credentials{Bearer: "t"}, realm.Credentials{User: "u", Password: "p"}
	if !good(password) || realm.Takes(l, realm.Bearer) {
		t.Fatal("a realm of passwords")
	}
	o.takes, o.epoch = realm.Bearer, 2
	if !good(token) || good(password) {
		t.Error("the plugin was replaced by one that takes tokens")
	}
	o.none, o.epoch = true, 3
	if good(token) || good(password) {
		t.Error("a plugin that takes nothing")
	}
	o.none = false // after a crash, which leaves the epoch as it is, the plugin is another
	if !good(token) {
		t.Error("what was empty is not learnt again")
	}
	o.epoch = 4
	l.declared = []realm.Kind{realm.Bearer}
	if realm.Takes(l, realm.Password) || !good(token) {
		t.Error("what the manifest says does not hold before the plugin is asked")
	}
}

// What the controller's plugins take is known before they run: a token must not wait for a realm of passwords.
func TestWhatShippedRealmsTakeIsKnown(t *testing.T) {
	for _, kind := range shippedKinds() {
		if len(factsOf(kind).takes) == 0 {
			t.Errorf("the label realm-takes of the plugin of %s is not known", kind)
		}
	}
}
