package server

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/plugin"
	"ctl.internal/host/internal/troubles"
)

// A remedy is pasted into a shell: a name that somebody else chose is in its command only when it is a plain word.
func TestNamesInRemedies(t *testing.T) {
	for name, want := range map[string]string{
		"bob@sdn":        "bob@sdn",
		"ctl-switch_2.x": "ctl-switch_2.x",
		"192.0.2.1":      "192.0.2.1",
		"2001:db8::1":    "2001:db8::1",
		"":               "NAME",
		"-rf":            "NAME",
		"a;reboot":       "NAME",
		"$(reboot)":      "NAME",
		"`reboot`":       "NAME",
		"a b":            "NAME",
		"a\nreboot":      "NAME",
		"a\n":            "NAME",
		"x>y":            "NAME",
		"~root":          "NAME",
	} {
		if got := argument(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	bad := "x;reboot"
	all := []troubles.Trouble{
		lockoutTrouble(throttle.Lockout{User: bad}),
		lockoutTrouble(throttle.Lockout{User: bad, From: netip.MustParseAddr("192.0.2.1")}),
	}
	for _, state := range []plugin.State{plugin.Degraded, plugin.Backoff, plugin.Stopped, plugin.Failed} {
		all = append(all, pluginTroubles(plugin.Info{Name: bad, State: state}, "refused", time.Now())...)
	}
	for _, one := range all {
		if strings.Contains(one.Remedy, "reboot") || !strings.Contains(one.Remedy, "NAME") {
			t.Errorf("%s of %s: %s", one.Kind, one.Resource, one.Remedy)
		}
	}
	from := lockoutTrouble(throttle.Lockout{From: netip.MustParseAddr("2001:db8::1")})
	if !strings.Contains(from.Remedy, "access:unblock 2001:db8::1 ends") || from.Resource != "address 2001:db8::1" {
		t.Errorf("%+v", from)
	}
}

// A plugin that fails again and again is one trouble, with its acknowledgement, also at the moments when it starts.
func TestAcknowledgedPluginThatFailsAgain(t *testing.T) {
	r := troubles.New(troubles.Options{
		Store:  storetest.New(storetest.Options{}),
		Node:   "a",
		Living: func(string) bool { return true },
		Now:    time.Now,
	})
	now := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	list := func(state plugin.State, after time.Duration) []troubles.Entry {
		t.Helper()
		p := plugin.Info{Name: "x", State: state, Since: now}
		if err := r.Report(t.Context(), reporterHost, pluginTroubles(p, "", now.Add(after))); err != nil {
			t.Fatal(err)
		}
		all, err := r.List()
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := list(plugin.Starting, time.Second); len(all) != 0 {
		t.Errorf("it starts for the first time: %+v", all)
	}
	if all := list(plugin.Starting, startsWithin); len(all) != 1 {
		t.Errorf("it starts for long: %+v", all)
	}
	all := list(plugin.Backoff, 0)
	if len(all) != 1 {
		t.Fatalf("it has failed: %+v", all)
	}
	if err := r.Acknowledge(t.Context(), all[0].ID, &troubles.Mark{By: "admin@sdn"}); err != nil {
		t.Fatal(err)
	}
	for _, state := range []plugin.State{plugin.Starting, plugin.Backoff} {
		if all := list(state, time.Second); len(all) != 1 || all[0].Counts() {
			t.Errorf("%s: %+v", state, all)
		}
	}
	if all := list(plugin.Ready, time.Second); len(all) != 0 {
		t.Errorf("it serves: %+v", all)
	}
}
