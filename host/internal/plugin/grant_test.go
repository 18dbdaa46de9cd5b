package plugin

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/grant"
	"ctl.internal/sdk/fault"
)

func TestAPluginStartsOnceItsRequestsAreDecided(t *testing.T) {
	r := newRig(t, nil)
	spec := faulty()
	spec.Held = grant.Held{}
	err := r.Ensure(r.ctx(), spec)
	var needed *grant.NeededError
	if !errors.As(err, &needed) || len(needed.Requests) < 5 {
		t.Fatalf("without a decision: %v", err)
	}
	if i := r.untilState("faulty", Failed); !strings.Contains(i.Reason, "needs a decision") || len(i.Grants) != len(needed.Requests) {
		t.Errorf("%+v", i)
	}
	all := grant.Held{}
	for _, q := range needed.Requests {
		all = all.Refuse("test", time.Time{}, q.Grant)
	}
	r.Grant("faulty", all)
	if err := r.Start(r.ctx(), "faulty"); err != nil {
		t.Fatalf("a refusal is a decision: %v", err)
	}
	if _, err := r.host(r.ctx(), "put", "x"); fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), "service datastore") {
		t.Errorf("refused data: %v", err)
	}
}

func TestARevokedGrantEndsAtOnce(t *testing.T) {
	r, _ := servicesRig(t)
	if _, err := r.host(r.ctx(), "put", "x"); err != nil {
		t.Fatal(err)
	}
	before, _ := r.Info("faulty")
	held := faultyGrants.Refuse("ann", time.Time{}, grant.Grant{Kind: grant.Service, Value: grant.Datastore}, grant.Grant{Kind: grant.Plugins, Value: "topology"})
	r.Grant("faulty", held)
	if _, err := r.host(r.ctx(), "get", ""); fault.KindOf(err) != fault.Denied {
		t.Errorf("revoked data: %v", err)
	}
	if _, err := r.host(r.ctx(), "providers", "topology"); fault.KindOf(err) != fault.Denied {
		t.Errorf("revoked plugins: %v", err)
	}
	if _, err := r.host(r.ctx(), "seal", "x"); fault.KindOf(err) == fault.Denied {
		t.Errorf("what was not revoked: %v", err)
	}
	r.Grant("faulty", faultyGrants)
	if _, err := r.host(r.ctx(), "get", ""); err != nil {
		t.Errorf("granted again: %v", err)
	}
	if i, _ := r.Info("faulty"); i.PID != before.PID || i.Denied != before.Denied+2 {
		t.Errorf("%+v", i)
	}
}
