package device

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/internal/netconf"
	"ctl.internal/sdk/bierdriver"
)

// process is one that may act, or has ceased to.
type process struct {
	former            []string
	begin, commit     error
	session           string
	begun, committing int
}

func (h *process) Begin(_ context.Context, session string) ([]string, error) {
	h.begun++
	h.session = session
	return h.former, h.begin
}

func (h *process) Commit(context.Context) error {
	h.committing++
	return h.commit
}

// A process that lost its role between the change and the moment it counts leaves the
// router as it was; one that lost it before does not even lock it.
func TestWhoMayNotActAnyMoreChangesNothing(t *testing.T) {
	for name, o := range map[string]simrouter.Options{"candidate": {}, "running": {Leave: []string{netconf.Candidate}}, "no confirmed commit": {Leave: []string{netconf.ConfirmedCommit}}} {
		t.Run(name, func(t *testing.T) {
			sim, r := start(t, o)
			d := newDriver(quick())
			before := sim.Config().String()
			late := &process{commit: errors.New("the role is another's")}
			res, err := d.Apply(within(t, time.Minute), r, config(1, 1, 2), late)
			if err != nil || res.State != bierdriver.Pending || !strings.Contains(res.Reason, "another's") || late.committing != 1 {
				t.Fatalf("%v, %v, %+v", res, err, late)
			}
			locks := sim.Counts()["lock"]
			res, err = d.Apply(within(t, time.Minute), r, config(1, 1, 2), &process{begin: errors.New("the role is another's")})
			if err != nil || res.State != bierdriver.Pending || sim.Counts()["lock"] != locks {
				t.Fatalf("%v, %v", res, err)
			}
			if now := sim.Config().String(); now != before {
				t.Errorf("the router holds\n%s\nit held\n%s", now, before)
			}
			ok := &process{}
			if res, err = d.Apply(within(t, time.Minute), r, config(1, 1, 2), ok); err != nil || res.State != bierdriver.Applied || ok.session == "" {
				t.Fatalf("%v, %v", res, err)
			}
			id, _ := strconv.Atoi(ok.session)
			edits := slices.DeleteFunc(sim.Acts(), func(a simrouter.Act) bool { return a.What != "confirm" && a.What != "commit" || int(a.Session) != id })
			if o.Leave == nil && len(edits) != 1 {
				t.Errorf("confirmed %d times: %v", len(edits), sim.Acts())
			}
		})
	}
}

// The lock of a process that is gone is taken from it, that of another process is not.
func TestTheLockOfAFormerSessionIsTaken(t *testing.T) {
	sim, r := start(t, simrouter.Options{})
	other, err := netconf.Dial(within(t, time.Minute), netconf.Target{Host: r.Host, Port: int(r.Port), User: r.User, Password: r.Password, HostKey: r.HostKey})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeSoon(other, slog.Default()) })
	if err := other.OK(within(t, time.Minute), netconf.LockOp(netconf.CandidateDS)); err != nil {
		t.Fatal(err)
	}
	d := newDriver(quick())
	res, err := d.Apply(within(t, time.Minute), r, config(1, 1, 2), &process{former: []string{"12345"}})
	if err != nil || res.State != bierdriver.Pending {
		t.Fatalf("%v, %v", res, err)
	}
	res, err = d.Apply(within(t, time.Minute), r, config(1, 1, 2), &process{former: []string{"12345", fmt.Sprint(other.ID())}})
	if err != nil || res.State != bierdriver.Applied || !slices.ContainsFunc(sim.Acts(), func(a simrouter.Act) bool { return a.What == "kill-session" }) {
		t.Fatalf("%v, %v, %v", res, err, sim.Acts())
	}
}
