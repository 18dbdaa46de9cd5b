package aaa_test

import (
	"sync"
	"testing"
	"time"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/host/internal/aaa/token"
	"ctl.internal/sdk/fault"
)

func TestConsole(t *testing.T) {
	l := open(t, defaultINI, func(o *aaa.Options) { o.Throttle = throttle.Settings{UserFree: 3, UserBlock: 3} })
	c := l.Console()
	who, _, err := c.Password(ctx, "admin", "admin", "127.0.0.1:5000")
	if err != nil || !who.HasRole("admin") || who.Address != "127.0.0.1:5000" {
		t.Errorf("%+v, %v", who, err)
	}
	if _, _, err := c.Password(ctx, "admin", "wrong", ""); fault.KindOf(err) != fault.Denied {
		t.Errorf("a wrong password: %v", err)
	}
	l.user("bob", "admin")
	_, bob, err := c.Password(ctx, "bob", "password1", "")
	must(t, err)
	if _, err := bob(ctx); err != nil {
		t.Error(err)
	}
	no := false
	_, err = l.Identity().UpdateUser(ctx, "bob@sdn", identity.UserChange{Enabled: &no})
	must(t, err)
	if _, err := bob(ctx); fault.KindOf(err) != fault.Denied {
		t.Errorf("a disabled user stays: %v", err)
	}
	must(t, l.Identity().DeleteUser(ctx, "bob@sdn"))
	if _, err := bob(ctx); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an unknown user stays: %v", err)
	}
	for range 4 {
		_, _, err = c.Password(ctx, "user", "wrong", "192.0.2.1:1")
	}
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("guessing goes on: %v", err)
	}
}

// A user of another realm stays at the console as long as the realm confirms the user, or for 30 minutes where it cannot look users
// up, with the rights of that user and never with those of a user of this controller who has the same name.
func TestConsoleUsersOfAnotherRealm(t *testing.T) {
	for _, account := range []bool{true, false} {
		d := &finding{directory{users: map[string]string{"ann@": "pw"}, roles: []string{"admin"}}, account}
		now := time.Now()
		var mu sync.Mutex
		clock := func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		}
		pass := func(d time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(d)
		}
		l := withDirectory(t, func(o *aaa.Options) { o.Realms, o.Now = d, clock })
		c := l.Console()
		_, ann, err := c.Password(ctx, "ann", "pw", "192.0.2.1:1")
		must(t, err)
		l.user("ann", "user")
		_, local, err := c.Password(ctx, "ann", "password1", "192.0.2.1:2")
		must(t, err)
		for range 2 {
			if who, err := ann(ctx); err != nil || !who.HasRole("admin") || who.Address != "192.0.2.1:1" {
				t.Errorf("account %v: %+v, %v", account, who, err)
			} else if who.ID() == "ann@sdn" {
				t.Errorf("account %v: she is taken for the user of this controller who is called the same", account)
			}
			if who, err := local(ctx); err != nil || who.HasRole("admin") {
				t.Errorf("the user of this controller has the rights of another: %+v, %v", who, err)
			}
			pass(token.HeldFor - time.Second)
		}
		_, err = ann(ctx)
		if account != (err == nil) || !account && fault.KindOf(err) != fault.Denied {
			t.Errorf("a system account %v, after more than 30 minutes: %v", account, err)
		}
		d.roles = nil
		pass(2 * time.Minute)
		if who, err := ann(ctx); fault.KindOf(err) != fault.Denied {
			t.Errorf("a system account %v, without roles: %+v, %v", account, who, err)
		}
	}
}
