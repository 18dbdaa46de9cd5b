package accounting_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/aaa/accounting"
	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/sdk/caller"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"bob": "bob", "a\nb": "a b", "\x1b[31mred": " [31mred", "a\u2028b": "a b", "a\u202eb": "a b", "\xff": "?", "ü": "ü",
		strings.Repeat("x", 300): strings.Repeat("x", 256) + "…",
	} {
		if got := accounting.Clean(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestListenerHearsWhatItWants(t *testing.T) {
	var log bytes.Buffer
	r := accounting.New(func(string) *slog.Logger { return slog.New(slog.NewTextHandler(&log, nil)) }, func() time.Time { return time.Unix(1, 0) })
	var heard []accounting.Event
	wanted := true
	r.Listen(func() bool { return wanted }, func(e accounting.Event) { heard = append(heard, e) })
	ctx := caller.With(context.Background(), caller.Caller{User: "admin", Domain: "sdn", RequestID: "7", Address: "192.0.2.1:5"})
	r.Login(ctx, authn.Attempt{User: "bob\n", Realm: "ldap", Address: netip.MustParseAddrPort("192.0.2.2:6"), Reason: "no"})
	r.Change(ctx, "create user", "bob@sdn")
	wanted = false
	r.Login(ctx, authn.Attempt{Throttled: true})
	r.Login(ctx, authn.Attempt{OK: true})
	if r.Accepted.Load() != 1 || r.Refused.Load() != 1 || r.Throttled.Load() != 1 {
		t.Errorf("%d accepted, %d refused, %d throttled", r.Accepted.Load(), r.Refused.Load(), r.Throttled.Load())
	}
	r.Change(ctx, "delete user", "bob@sdn")
	want := []accounting.Event{
		{Time: time.Unix(1, 0), Kind: "login", User: "bob ", Realm: "ldap", Address: "192.0.2.2:6", RequestID: "7", Reason: "no"},
		{Time: time.Unix(1, 0), Kind: "change", Action: "create user", Object: "bob@sdn", User: "admin@sdn", Address: "192.0.2.1:5", RequestID: "7", OK: true},
	}
	if len(heard) != 2 || heard[0] != want[0] || heard[1] != want[1] {
		t.Errorf("heard %+v, want %+v", heard, want)
	}
	if text := log.String(); strings.Contains(text, "authentication") || strings.Count(text, "audit:") != 2 {
		t.Errorf("log:\n%s", text)
	}
}
