package realmjwt

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"ctl.internal/sdk/realm"
)

func (i *issuer) pass(d time.Duration) {
	i.set(func() { i.now = i.now.Add(d) })
}

// good fails the test unless a new token is taken.
func (i *issuer) good(j *jwtRealm, when string) {
	i.t.Helper()
	got, err := ask(i.t, j, i.token(i.claims()))
	if err != nil || got.Outcome != realm.Authenticated {
		i.t.Errorf("%s: %+v, %v", when, got, err)
	}
}

func TestKeysAreAskedForOnceWhileTheyAreFresh(t *testing.T) {
	i := newIssuer(t)
	j := i.mustRealm(nil)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { i.good(j, "at the start") })
	}
	all.Wait()
	if n := i.calls(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	i.pass(239 * time.Second) // of 300: four fifths are not over
	i.good(j, "later")
	if n := i.calls(); n != 1 {
		t.Errorf("asked %d times while the keys are fresh", n)
	}
	i.pass(2 * time.Second)
	i.good(j, "before the end")
	j.keys.background.Wait()
	if n := i.calls(); n != 2 {
		t.Errorf("asked %d times, want again before the end", n)
	}
	i.pass(301 * time.Second)
	i.good(j, "after the end")
	if n := i.calls(); n != 3 {
		t.Errorf("asked %d times, want again after the end", n)
	}
}

func TestRotation(t *testing.T) {
	i := newIssuer(t)
	j := i.mustRealm(nil)
	i.good(j, "before")
	fresh := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	old := i.token(i.claims())
	i.set(func() {
		i.keys["ec2"] = fresh
		delete(i.keys, "ec")
	})
	i.pass(31 * time.Second)
	got, err := ask(t, j, sign(jose.ES256, fresh, header("kid", "ec2"), i.claims()))
	if err != nil || got.Outcome != realm.Authenticated {
		t.Errorf("the new key: %+v, %v", got, err)
	}
	if got, err := ask(t, j, old); err != nil || got.Outcome != realm.Unknown {
		t.Errorf("the key that is gone: %+v, %v", got, err)
	}
	// Tokens that name keys which do not exist make the provider be asked once in a pause.
	before := i.calls()
	for range 50 {
		if got, err := ask(t, j, sign(jose.ES256, fresh, header("kid", "none"), i.claims())); err != nil || got.Outcome != realm.Unknown {
			t.Errorf("no such key: %+v, %v", got, err)
		}
	}
	if n := i.calls() - before; n > 1 {
		t.Errorf("asked %d times", n)
	}
}

// A day without the provider: its last keys are good for as long as the setting says, and not longer.
func TestTheProviderIsAwayForADay(t *testing.T) {
	i := newIssuer(t)
	j := i.mustRealm(nil) // keys-kept-seconds is a day
	i.good(j, "before")
	i.set(func() { i.fault = "fails" })
	for range 23 {
		i.pass(time.Hour)
		i.good(j, "while it is away")
	}
	i.pass(time.Hour)
	if got, err := ask(t, j, i.token(i.claims())); err == nil {
		t.Errorf("after a day: %+v", got)
	}
	i.set(func() { i.fault = "" })
	i.pass(31 * time.Second)
	i.good(j, "when it is back")
}

func TestAProviderThatFails(t *testing.T) {
	for _, fault := range []string{"rubbish", "fails", "redirects", "huge", "no keys", "symmetric key"} {
		i := newIssuer(t)
		i.fault = fault
		j := i.mustRealm(map[string]realm.Property{"retry-jwks-retrieval": {Value: "true"}})
		if got, err := ask(t, j, i.token(i.claims())); err == nil {
			t.Errorf("%s: %+v", fault, got)
		}
		i.set(func() { i.fault = "" })
		if got, err := ask(t, j, i.token(i.claims())); err == nil {
			t.Errorf("%s: asked again at once: %+v", fault, got)
		}
		i.pass(31 * time.Second)
		i.good(j, "after "+fault)
	}
	i := newIssuer(t)
	i.other = "https://login.example.org"
	if got, err := ask(t, i.mustRealm(nil), i.token(i.claims())); err == nil {
		t.Errorf("another issuer: %+v", got)
	}
}

func TestAProviderThatHangs(t *testing.T) {
	i := newIssuer(t)
	j := i.mustRealm(nil)
	i.good(j, "before")
	i.set(func() { i.fault = "hangs" })
	i.pass(10 * time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	got, err := j.Authenticate(ctx, realm.Credentials{Bearer: i.token(i.claims())})
	if err != nil || got.Outcome != realm.Authenticated {
		t.Errorf("with the keys at hand: %+v, %v", got, err)
	}
	first := i.mustRealm(nil)
	short, end := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer end()
	if got, err := first.Authenticate(short, realm.Credentials{Bearer: i.token(i.claims())}); !errors.Is(err, errNoKeys) {
		t.Errorf("without keys: %+v, %v", got, err)
	}
}

// Anybody can send tokens that name keys which are not there. While the provider hangs they are refused, as others are, and keep
// nobody waiting: the realm must not count as unavailable for those whose keys are at hand.
func TestStrangersWhileTheProviderHangs(t *testing.T) {
	i := newIssuer(t)
	j := i.mustRealm(nil)
	j.keys.timeout, j.keys.slowAfter = time.Hour, time.Millisecond
	i.good(j, "before")
	stranger := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	i.set(func() { i.fault = "hangs" })
	i.pass(31 * time.Second)
	for n := range 100 {
		got, err := ask(t, j, sign(jose.ES256, stranger, header("kid", fmt.Sprint("none", n)), i.claims()))
		if err != nil || got.Outcome != realm.Unknown {
			t.Fatalf("a stranger: %+v, %v", got, err)
		}
		i.good(j, "with the keys at hand")
	}
	i.pass(10 * time.Minute) // the keys are old, and kept
	i.good(j, "with old keys")
	j.keys.mu.Lock()
	defer j.keys.mu.Unlock()
	if j.keys.underWay == nil {
		t.Error("somebody waited until the provider was given up")
	}
}

// A provider that fails at once refuses no good token either, and a key that it does not return is none.
func TestStrangersWhileTheProviderFails(t *testing.T) {
	i := newIssuer(t)
	j := i.mustRealm(nil)
	i.good(j, "before")
	i.set(func() { i.fault = "fails" })
	i.pass(31 * time.Second)
	stranger := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	if got, err := ask(t, j, sign(jose.ES256, stranger, header("kid", "none"), i.claims())); err != nil || got.Outcome != realm.Unknown {
		t.Errorf("a stranger: %+v, %v", got, err)
	}
	i.good(j, "with the keys at hand")
}
