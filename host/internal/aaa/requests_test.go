package aaa_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// A user asks for a role, another administrator approves it, it is there at once and ends by itself; nobody approves his own.
func TestARoleForAWhile(t *testing.T) {
	now := time.Now()
	var mu sync.Mutex
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	l := open(t, strings.Replace(defaultINI, "[urls]\n", "[urls]\n/ops = authcBasic, roles[ops]\n", 1), func(o *aaa.Options) { o.Now = clock })
	l.want(201, "POST", "/auth/v1/roles", adm, `{"name":"ops","domainid":"sdn"}`)
	bob := l.user("bob", "user")
	ask := func(role, long string) (string, error) {
		c, _ := commands.Find(l.OwnCommands(), "access:request")
		out := &strings.Builder{}
		err := c.Run(ctx, &commands.Invocation{
			Caller:  caller.Caller{User: "bob", Domain: "sdn", Roles: []string{"user"}, Address: "192.0.2.1:1"},
			Args:    map[string][]string{"role": {role}},
			Options: map[string]string{"for": long, "reason": "a test"},
			Stdout:  out,
		})
		id, _, _ := strings.Cut(strings.TrimPrefix(out.String(), "request "), " ")
		return id, err
	}
	for _, x := range []struct{ role, long string }{{"none", "1h"}, {"ops", "soon"}, {"ops", "1s"}, {"ops", "1000h"}} {
		if _, err := ask(x.role, x.long); err == nil {
			t.Errorf("%v is asked for", x)
		}
	}
	id, err := ask("ops", "2h")
	must(t, err)
	l.want(401, "GET", "/ops", "bob:password1", "")
	if _, err := l.Identity().Decide(ctx, id, bob, false, true); fault.KindOf(err) != fault.Denied {
		t.Errorf("his own request is approved: %v", err)
	}
	if out, err := l.runCommand("access:requests", nil); err != nil || !strings.Contains(out, id) || !strings.Contains(out, "waiting") {
		t.Errorf("%s, %v", out, err)
	}
	tok := l.token("bob", "password1")
	_, err = l.runCommand("access:approve", nil, id)
	must(t, err)
	l.want(200, "GET", "/ops", "bob:password1", "")
	l.want(200, "GET", "/ops", tok, "")
	if _, err := l.runCommand("access:approve", nil, id); fault.KindOf(err) != fault.InUse {
		t.Errorf("approved twice: %v", err)
	}
	mu.Lock()
	now = now.Add(2 * time.Hour)
	mu.Unlock()
	if _, err := l.runCommand("access:deny", nil, id); fault.KindOf(err) != fault.InUse {
		t.Errorf("a right whose time is over is taken back: %v", err)
	}
	l.want(401, "GET", "/ops", "bob:password1", "")
	l.want(200, "GET", "/x", "bob:password1", "")

	id, err = ask("ops", "1h")
	must(t, err)
	_, err = l.runCommand("access:deny", nil, id)
	must(t, err)
	l.want(401, "GET", "/ops", "bob:password1", "")
	late, err := ask("ops", "1h")
	must(t, err)
	mu.Lock()
	now = now.Add(25 * time.Hour)
	mu.Unlock()
	if _, err := l.runCommand("access:approve", nil, late); fault.KindOf(err) != fault.InUse {
		t.Errorf("a request of yesterday is approved: %v", err)
	}
	for range 10 {
		id, err = ask("ops", "1h")
		must(t, err)
	}
	if _, err := ask("ops", "1h"); fault.KindOf(err) != fault.InUse {
		t.Errorf("an eleventh request: %v", err)
	}
	_, err = l.runCommand("access:approve", nil, id)
	must(t, err)
	l.want(200, "GET", "/ops", "bob:password1", "")
	holders, err := l.Identity().Holders(ctx, "ops")
	if err != nil || len(holders) != 1 || holders[0] != bob {
		t.Errorf("the role is held by %v, %v", holders, err)
	}
	l.want(204, "DELETE", "/auth/v1/roles/ops@sdn", adm, "")
	p, err := l.Identity().Principal(ctx, bob)
	if err != nil || len(p.Roles) != 1 {
		t.Errorf("a role that is gone is still had: %+v, %v", p, err)
	}
	l.want(201, "POST", "/auth/v1/roles", adm, `{"name":"ops","domainid":"sdn"}`)
	l.want(204, "DELETE", "/auth/v1/users/"+bob, adm, "")
	l.user("bob", "user")
	l.want(401, "GET", "/ops", "bob:password1", "")
}

// A role that was approved can be taken back; of several approvals the one that ends last holds.
func TestAnApprovedRoleIsTakenBack(t *testing.T) {
	now := time.Now()
	l := open(t, strings.Replace(defaultINI, "[urls]\n", "[urls]\n/ops = authcBasic, roles[ops]\n", 1), func(o *aaa.Options) {
		o.Now = func() time.Time { return now }
	})
	s := l.Identity()
	l.want(201, "POST", "/auth/v1/roles", adm, `{"name":"ops","domainid":"sdn"}`)
	bob := l.user("bob", "user")
	approve := func(long time.Duration) string {
		r, err := s.Ask(ctx, bob, "ops", "", long)
		must(t, err)
		_, err = s.Decide(ctx, r.ID, "admin@sdn", false, true)
		must(t, err)
		return r.ID
	}
	deny := func(id string) {
		_, err := l.runCommand("access:deny", nil, id)
		must(t, err)
	}
	one := approve(2 * time.Hour)
	tok := l.token("bob", "password1")
	l.want(200, "GET", "/ops", tok, "")
	if _, err := s.Decide(ctx, one, bob, false, false); fault.KindOf(err) != fault.Denied {
		t.Errorf("his own right is decided on: %v", err)
	}
	deny(one)
	l.want(401, "GET", "/ops", tok, "")
	l.want(401, "GET", "/ops", "bob:password1", "")
	for _, decide := range []string{"access:approve", "access:deny"} {
		if _, err := l.runCommand(decide, nil, one); fault.KindOf(err) != fault.InUse {
			t.Errorf("%s of one that was taken back: %v", decide, err)
		}
	}
	all, err := s.Requests(ctx)
	if err != nil || len(all) != 1 || all[0].State != "denied" || all[0].Until.After(now) {
		t.Errorf("%+v, %v", all, err)
	}

	until := func() time.Time {
		p, err := s.Principal(ctx, bob)
		must(t, err)
		return p.Until
	}
	long := approve(3 * time.Hour)
	short := approve(time.Hour)
	if end := until(); !end.Equal(now.Add(3 * time.Hour)) {
		t.Errorf("a shorter approval leaves the role until %v", end)
	}
	deny(short)
	l.want(200, "GET", "/ops", tok, "")
	short = approve(time.Hour)
	deny(long)
	if end := until(); !end.Equal(now.Add(time.Hour)) {
		t.Errorf("the longer one is taken back, and the role is there until %v", end)
	}
	longer := approve(4 * time.Hour)
	if end := until(); !end.Equal(now.Add(4 * time.Hour)) {
		t.Errorf("a longer approval leaves the role until %v", end)
	}
	deny(short)
	deny(longer)
	l.want(401, "GET", "/ops", tok, "")
}

// A request that waits ends with its user: who is called the same later does not have it.
func TestARequestEndsWithItsUser(t *testing.T) {
	now := time.Now()
	l := open(t, defaultINI, func(o *aaa.Options) { o.Now = func() time.Time { return now } })
	s := l.Identity()
	l.want(201, "POST", "/auth/v1/roles", adm, `{"name":"ops","domainid":"sdn"}`)
	bob := l.user("bob", "user")
	ann := l.user("ann", "user")
	waiting, err := s.Ask(ctx, bob, "ops", "", time.Hour)
	must(t, err)
	other, err := s.Ask(ctx, ann, "ops", "", time.Hour)
	must(t, err)
	approved, err := s.Ask(ctx, bob, "ops", "", 20*time.Hour)
	must(t, err)
	_, err = s.Decide(ctx, approved.ID, "admin@sdn", false, true)
	must(t, err)
	l.want(204, "DELETE", "/auth/v1/users/"+bob, adm, "")
	now = now.Add(time.Minute)
	l.user("bob", "user")
	if _, err := s.Decide(ctx, waiting.ID, "admin@sdn", false, true); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the request of a user who is deleted is approved: %v", err)
	}
	_, err = s.Decide(ctx, other.ID, "admin@sdn", false, true)
	must(t, err)
	// A right of the user who is deleted does not come back with that of another of the same name.
	fresh, err := s.Ask(ctx, bob, "ops", "", time.Hour)
	must(t, err)
	_, err = s.Decide(ctx, fresh.ID, "admin@sdn", false, true)
	must(t, err)
	p, err := s.Principal(ctx, bob)
	if err != nil || !p.Until.Equal(now.Add(time.Hour)) {
		t.Errorf("%+v, %v", p, err)
	}
	_, err = s.Decide(ctx, fresh.ID, "admin@sdn", false, false)
	must(t, err)
	if p, err := s.Principal(ctx, bob); err != nil || len(p.Roles) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}
