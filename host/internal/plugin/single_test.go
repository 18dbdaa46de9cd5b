package plugin

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"

	"google.golang.org/grpc"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/plugin/hostsvc"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// elections are roles that the test gives and takes.
type elections struct {
	offer chan *testTerm
	mu    sync.Mutex
	held  int
}

func (e *elections) Hold(ctx context.Context, _, _ string) (hostsvc.Term, error) {
	select {
	case t := <-e.offer:
		e.mu.Lock()
		defer e.mu.Unlock()
		e.held++
		return t, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type testTerm struct {
	epoch    uint64
	lost     chan struct{}
	renewed  chan struct{}
	released chan struct{}
	draining bool // set before renewed gets its value
}

func newTerm(epoch uint64) *testTerm {
	return &testTerm{epoch: epoch, lost: make(chan struct{}), renewed: make(chan struct{}, 1), released: make(chan struct{})}
}

func (t *testTerm) Epoch() uint64                { return t.epoch }
func (t *testTerm) Until() int64                 { return 0 }
func (t *testTerm) Renewed() <-chan struct{}     { return t.renewed }
func (t *testTerm) Lost() <-chan struct{}        { return t.lost }
func (t *testTerm) Condition() datastore.Compare { return datastore.Compare{} }
func (t *testTerm) Drain()                       { t.draining = true; t.renewed <- struct{}{} }
func (t *testTerm) Draining() bool               { return t.draining }
func (t *testTerm) Release()                     { close(t.released) }

// elsewhereConn is the connection to another node.
type elsewhereConn struct{ grpc.ClientConnInterface }

func (elsewhereConn) Invoke(_ context.Context, _ string, _, reply any, _ ...grpc.CallOption) error {
	reply.(*pluginv1.InvokeResponse).Output = []byte(`{"text":"from elsewhere"}`)
	return nil
}

// A plugin for one node runs while this node has its role; otherwise calls go elsewhere.
func TestAPluginForOneNodeFollowsItsRole(t *testing.T) {
	roles := &elections{offer: make(chan *testTerm)}
	r := newRig(t, func(o *Options) {
		o.Roles = roles
		o.Forward = func(string, string) grpc.ClientConnInterface { return elsewhereConn{} }
	})
	r.ensure(faulty("single")) // nobody offers the role: another node has it
	if i, _ := r.Info("faulty"); i.State != Standby || i.PID != 0 || i.Manifest == nil {
		t.Fatalf("without the role: %+v", i)
	}
	if got := r.must("echo", `{"text":"here"}`); got != `{"text":"from elsewhere"}` {
		t.Errorf("in standby echo answers %s", got)
	}
	if _, err := r.Here("faulty", 5); !errors.Is(err, ErrElsewhere) {
		t.Errorf("here: %v", err)
	}
	served := func(epoch uint64) *testTerm {
		t.Helper()
		term := newTerm(epoch)
		roles.offer <- term
		r.untilState("faulty", Ready)
		if got := r.must("echo", `{"text":"here"}`); got != `{"text":"here"}` {
			t.Errorf("with the role echo answers %s", got)
		}
		if _, err := r.Here("faulty", epoch); err != nil {
			t.Errorf("here: %v", err)
		}
		if _, err := r.Here("faulty", epoch-1); !errors.Is(err, ErrElsewhere) {
			t.Errorf("here, in an earlier term: %v", err)
		}
		return term
	}
	gone := func(term *testTerm, pid int) {
		t.Helper()
		<-term.released
		if _, err := os.Stat("/proc/" + itoa(pid)); err == nil {
			t.Error("the role is given up while the process lives")
		}
		if got := r.must("echo", `{}`); got != `{"text":"from elsewhere"}` {
			t.Errorf("after the term echo answers %s", got)
		}
	}
	for epoch, end := range map[uint64]func(*testTerm){
		5: func(t *testTerm) { close(t.lost) },
		6: (*testTerm).Drain,
	} {
		term := served(epoch)
		i, _ := r.Info("faulty")
		end(term)
		gone(term, i.PID)
		if i := r.untilState("faulty", Standby); i.Failures != 0 {
			t.Errorf("losing the role counts as %d failures", i.Failures)
		}
	}
	// Replaced and restarted it keeps the role; stopped it gives it up.
	term := served(7)
	if err := errors.Join(r.Reload(r.ctx(), "faulty"), r.Restart(r.ctx(), "faulty")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-term.released:
		t.Error("a reload gives the role up")
	default:
	}
	if err := r.Stop(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	<-term.released
	if _, err := r.call("echo", "{}"); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a call to a stopped plugin: %v", err)
	}
	go func() { roles.offer <- newTerm(8) }()
	if err := r.Start(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	r.untilState("faulty", Ready)
	if err := r.Remove(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
}
