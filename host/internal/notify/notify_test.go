package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/troubles"
	"ctl.internal/internal/together"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listOf is a list of troubles that a test changes.
type listOf struct {
	mu      sync.Mutex
	all     map[string]troubles.Entry
	changed together.Signal
}

func (l *listOf) List() (out []troubles.Entry, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(l.all)) {
		out = append(out, l.all[id])
	}
	return out, nil
}

func (l *listOf) Changed() <-chan struct{} { return l.changed.Wait() }

// set makes these the troubles.
func (l *listOf) set(ids ...string) {
	l.mu.Lock()
	l.all = map[string]troubles.Entry{}
	for _, id := range ids {
		e := troubles.Entry{ID: id, Node: troubles.AllNodes}
		e.Kind, e.Resource, e.Since = "link-lost", "/x="+id, began
		l.all[id] = e
	}
	l.mu.Unlock()
	l.changed.Fire()
}

// term is the role of a process, whose key is in the store.
type term struct {
	cond datastore.Compare
	lost chan struct{}
}

func (t *term) Condition() datastore.Compare { return t.cond }
func (t *term) Lost() <-chan struct{}        { return t.lost }
func (t *term) Renewed() <-chan struct{}     { return nil }
func (t *term) Draining() bool               { return false }
func (t *term) Release()                     {}

// holdRole takes the role away from whoever has it.
func holdRole(t *testing.T, s datastore.Store, holder string) *term {
	t.Helper()
	at, err := s.Commit(t.Context(), datastore.Txn{Ops: []datastore.Op{datastore.Put("roles", "notify", []byte(holder))}})
	if err != nil {
		t.Fatal(err)
	}
	return &term{datastore.Compare{Namespace: "roles", Key: "notify", Revision: at}, make(chan struct{})}
}

// receiver is a target that keeps what it takes; before is asked first, for each message.
type receiver struct {
	mu     sync.Mutex
	took   []Event
	before func(ctx context.Context, m *Message) error
}

func (r *receiver) kind() string    { return "receiver" }
func (r *receiver) address() string { return "here" }
func (r *receiver) group() group    { return group{} }

func (r *receiver) send(ctx context.Context, m *Message) error {
	if r.before != nil {
		if err := r.before(ctx, m); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = append(r.took, m.Events...)
	return nil
}

func (r *receiver) heard() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, e := range r.took {
		out = append(out, e.Event+" "+e.Trouble)
	}
	return strings.Join(out, ", ")
}

// tell makes a Notifier of receivers by name.
func tell(t *testing.T, s datastore.Store, list *listOf, rule Rule, to map[string]sender) *Notifier {
	t.Helper()
	n, err := New(Options{Store: s, Troubles: list, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range to {
		n.senders[name], n.targets[name] = r, r.group()
		rule.Targets = append(rule.Targets, name)
	}
	n.rules = []Rule{rule}
	n.metrics = newMetrics(n)
	return n
}

// run runs it for a term; stop ends it.
func run(t *testing.T, n *Notifier, term *term) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.runFor(ctx, term)
	}()
	return func() {
		cancel()
		<-ended
	}
}

// pass lets the time of the bubble go by.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// A target that hangs or refuses holds no other; what it does not take is sent when it does, in order, and the
// list says why it was not.
func TestTargetsDoNotHoldEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, list := storetest.New(storetest.Options{}), &listOf{}
		defer s.Close()
		failing := errors.New("no")
		good := &receiver{}
		hangs := &receiver{before: func(ctx context.Context, _ *Message) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		var mu sync.Mutex
		refuses := &receiver{before: func(context.Context, *Message) error {
			mu.Lock()
			defer mu.Unlock()
			return failing
		}}
		n := tell(t, s, list, Rule{}, map[string]sender{"good": good, "hangs": hangs, "refuses": refuses})
		stop := run(t, n, holdRole(t, s, "1"))
		defer stop()
		list.set("1")
		pass(5 * time.Second)
		list.set()
		pass(5 * time.Second)
		if got := good.heard(); got != "raised 1, cleared 1" {
			t.Errorf("the good one heard %q", got)
		}
		all, err := n.List()
		if err != nil || len(all) != 3 || all[0].Queued != 0 || all[1].Queued != 2 || all[2].Queued != 2 {
			t.Fatalf("%+v %v", all, err)
		}
		if all[2].Failure != "no" || all[2].Failures < 2 || all[2].Failed.IsZero() || !all[2].Sent.IsZero() || all[0].Sent.IsZero() {
			t.Errorf("%+v", all)
		}
		mu.Lock()
		failing = nil
		mu.Unlock()
		pass(2 * maxPause)
		if got := refuses.heard(); got != "raised 1, cleared 1" {
			t.Errorf("it takes them again, and heard %q", got)
		}
		if all, err := n.List(); err != nil || all[2].Queued != 0 || all[2].Failures != 0 {
			t.Errorf("%+v %v", all, err)
		}
	})
}

// What a target does not take for three days is given up, and the next one is tried.
func TestGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, list := storetest.New(storetest.Options{}), &listOf{}
		defer s.Close()
		r := &receiver{before: func(_ context.Context, m *Message) error {
			if m.Events[0].Trouble == "1" {
				return errors.New("never this one")
			}
			return nil
		}}
		n := tell(t, s, list, Rule{}, map[string]sender{"a": r})
		stop := run(t, n, holdRole(t, s, "1"))
		defer stop()
		list.set("1")
		pass(time.Minute)
		list.set("1", "2")
		pass(giveUpAfter - time.Hour)
		if got := r.heard(); got != "" {
			t.Errorf("they are sent in order, and it heard %q", got)
		}
		pass(2 * time.Hour)
		if got := r.heard(); got != "raised 2" {
			t.Errorf("after three days it heard %q", got)
		}
	})
}

// A target that is not in the settings any more is forgotten.
func TestTargetIsTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, list := storetest.New(storetest.Options{}), &listOf{}
		defer s.Close()
		no := &receiver{before: func(context.Context, *Message) error { return errors.New("no") }}
		list.set("1")
		stop := run(t, tell(t, s, list, Rule{}, map[string]sender{"a": no}), holdRole(t, s, "1"))
		pass(10 * time.Second)
		stop()
		b := &receiver{}
		stop = run(t, tell(t, s, list, Rule{}, map[string]sender{"b": b}), holdRole(t, s, "2"))
		defer stop()
		pass(10 * time.Second)
		if got := b.heard(); got != "raised 1" {
			t.Errorf("the other one heard %q", got)
		}
		kept := 0
		if _, err := s.Local(func(sn datastore.Snapshot) error {
			for e, err := range sn.Range(Namespace, datastore.RangeOptions{}) {
				if err != nil {
					return err
				}
				if strings.Contains(e.Key, "/a") {
					kept++
				}
			}
			return nil
		}); err != nil || kept > 0 {
			t.Errorf("%d keys are kept of it, %v", kept, err)
		}
	})
}

// mortal is the store as one process sees it: at a chosen commit the process is killed, before the store has it or after.
type mortal struct {
	datastore.Store
	kill   func()
	mu     sync.Mutex
	left   int // commits until the kill
	before bool
	dead   bool
}

var errKilled = errors.New("killed")

func (m *mortal) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return 0, errKilled
	}
	m.left--
	if m.left == 0 && m.before {
		m.dead = true
		m.kill()
		return 0, errKilled
	}
	at, err := m.Store.Commit(ctx, t)
	if m.left == 0 {
		m.dead = true
		m.kill()
		return 0, errKilled
	}
	return at, err
}

// die ends the process now.
func (m *mortal) die() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = true
	m.kill()
}

// Over kills at every point (before and after what is due is stored, when it is sent, before and after that is noted) nothing
// is lost, and a message is sent again at most once a kill, with its id.
func TestKills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, list := storetest.New(storetest.Options{}), &listOf{}
		defer s.Close()
		r := &receiver{}
		const kills = 57
		var want []string
		for i := range kills {
			id := fmt.Sprint(i)
			list.set(id)
			want = append(want, "raised "+id, "cleared "+id)
			life, end := context.WithCancel(t.Context())
			m := &mortal{Store: s, kill: end, before: i%2 == 0, left: 1 + i/2%3} // a life has three commits
			if i%9 == 8 {                                                        // it has been taken, and the answer is not heard
				m.left = -1
				r.before = func(context.Context, *Message) error {
					m.die()
					return nil
				}
			}
			stop := run(t, tell(t, m, list, Rule{}, map[string]sender{"a": r}), holdRole(t, s, id))
			select {
			case <-life.Done():
			case <-time.After(time.Hour):
				t.Errorf("process %d was not killed", i)
			}
			stop()
			end()
			r.before = nil
			// The next one reports what is there, and lives until it has.
			stop = run(t, tell(t, s, list, Rule{}, map[string]sender{"a": r}), holdRole(t, s, id))
			pass(time.Minute)
			stop()
		}
		list.set()
		stop := run(t, tell(t, s, list, Rule{}, map[string]sender{"a": r}), holdRole(t, s, "last"))
		pass(time.Minute)
		stop()
		checkHeard(t, r, want, kills)
	})
}

// checkHeard checks that all is there once by id, and that not more was sent again than processes were killed.
func checkHeard(t *testing.T, r *receiver, want []string, kills int) {
	t.Helper()
	byID, times := map[string]string{}, map[string]int{}
	for _, e := range r.took {
		byID[e.ID] = e.Event + " " + e.Trouble
		times[e.ID]++
	}
	heard := slices.Sorted(maps.Values(byID))
	slices.Sort(want)
	if !slices.Equal(heard, want) {
		t.Errorf("by id it heard %d events, want %d: %v", len(heard), len(want), heard)
	}
	if again := len(r.took) - len(byID); again > kills || again == 0 {
		t.Errorf("%d were sent again after %d kills", again, kills)
	}
	for id, n := range times {
		if n > 2 {
			t.Errorf("%s was sent %d times", byID[id], n)
		}
	}
}

// Who has lost the role stores nothing any more, so two never decide the same.
func TestWhoLostTheRoleStoresNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, list, old, now := storetest.New(storetest.Options{}), &listOf{}, &receiver{}, &receiver{}
		defer s.Close()
		stop := run(t, tell(t, s, list, Rule{}, map[string]sender{"a": old}), holdRole(t, s, "old"))
		defer stop()
		stop2 := run(t, tell(t, s, list, Rule{}, map[string]sender{"a": now}), holdRole(t, s, "new"))
		defer stop2()
		list.set("1")
		pass(10 * time.Second)
		if old.heard() != "" && now.heard() == "" {
			t.Errorf("the old one sent %q, the new one %q", old.heard(), now.heard())
		}
		if got := now.heard(); got != "raised 1" {
			t.Errorf("the holder sent %q", got)
		}
	})
}

// A target of each kind is made of its settings; a file that is not there is named.
func TestSettings(t *testing.T) {
	o := Options{Home: home.Dir(t.TempDir()), Settings: home.Notify{Targets: map[string]home.NotifyTarget{
		"hook":   {Webhook: &home.NotifyWebhook{URL: "https://hooks.example.org/hush", Secret: "hush"}},
		"mail":   {SMTP: &home.NotifySMTP{Server: "mail.example.org:587", From: "a@example.org", To: []string{"b@example.org"}}},
		"alerts": {Alertmanager: &home.NotifyAlertmanager{URL: "http://127.0.0.1:9093/am/"}},
	}}}
	n, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"hook":   "webhook https://hooks.example.org",
		"mail":   "smtp mail.example.org:587",
		"alerts": "alertmanager http://127.0.0.1:9093",
	} {
		if got := n.senders[name].kind() + " " + n.senders[name].address(); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	o.Settings.Targets["hook"].Webhook.CA = "none.pem"
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "notify.targets.hook: webhook.ca: ") || strings.Contains(err.Error(), "hush") {
		t.Error(err)
	}
}
