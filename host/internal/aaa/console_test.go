package aaa_test

import (
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/sdk/fault"
)

func TestConsole(t *testing.T) {
	l := open(t, defaultINI, func(o *aaa.Options) { o.Throttle = throttle.Settings{UserFree: 3, UserBlock: 3} })
	c := l.Console()
	who, err := c.Password(ctx, "admin", "admin", "127.0.0.1:5000")
	if err != nil || !who.HasRole("admin") || who.Address != "127.0.0.1:5000" {
		t.Errorf("%+v, %v", who, err)
	}
	if _, err := c.Password(ctx, "admin", "wrong", ""); fault.KindOf(err) != fault.Denied {
		t.Errorf("a wrong password: %v", err)
	}
	l.user("bob", "admin")
	if _, err := c.Current(ctx, "bob"); err != nil {
		t.Error(err)
	}
	no := false
	_, err = l.Identity().UpdateUser(ctx, "bob@sdn", identity.UserChange{Enabled: &no})
	must(t, err)
	if _, err := c.Current(ctx, "bob"); fault.KindOf(err) != fault.Denied {
		t.Errorf("a disabled user stays: %v", err)
	}
	if _, err := c.Current(ctx, "none"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an unknown user stays: %v", err)
	}
	for range 4 {
		_, err = c.Password(ctx, "user", "wrong", "192.0.2.1:1")
	}
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("guessing goes on: %v", err)
	}
}

func TestConsoleUsersOfAnotherRealm(t *testing.T) {
	d := &directory{users: map[string]string{"sdnadmin@sdn": "pw"}, roles: []string{"admin"}}
	l := open(t, idsvcINI, func(o *aaa.Options) { o.Realms = d })
	c := l.Console()
	if _, err := c.Current(ctx, "sdnadmin"); err == nil {
		t.Error("somebody who never logged in is current")
	}
	_, err := c.Password(ctx, "sdnadmin@sdn", "pw", "")
	must(t, err)
	if who, err := c.Current(ctx, "sdnadmin"); err != nil || !who.HasRole("admin") {
		t.Errorf("%+v, %v", who, err)
	}
}
