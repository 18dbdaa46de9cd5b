package state_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type machine struct {
	Name string `json:"name"`
	Port []port `json:"port,omitempty"`
}

type port struct {
	Number int `json:"number"`
}

const pattern = "/lab:lab/rack=*/machine=*"

// plugin is one process of a plugin: its client and its projection.
type plugin struct {
	host     *host.Client
	counts   *state.Table[int]
	machines *state.Tree[machine]
	store    *state.Store
}

func manifest() *pluginv1.Manifest {
	return &pluginv1.Manifest{Name: "p", Owns: []string{"/lab:lab"}, Roles: []string{"poll"}}
}

func open(t *testing.T, h *plugintest.Host) *plugin {
	t.Helper()
	p := &plugin{host: h.Client(t, manifest()), counts: state.NewTable[int](state.Private("count/")), machines: state.NewTree[machine](pattern)}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	var err error
	if p.store, err = state.Open(ctx, p.host, p.counts, p.machines); err != nil {
		t.Fatal(err)
	}
	return p
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// Whoever is answered by Update sees what it wrote, and everybody else does from the
// revision on that it returned.
func TestAnUpdateIsSeenWhenItReturns(t *testing.T) {
	h := plugintest.NewHost(t)
	a, b := open(t, h), open(t, h)
	rev, err := a.store.Update(within(t), func(tx *state.Tx) error {
		return errors.Join(a.counts.Put(tx, "x", 1), a.machines.Put(tx, machine{Name: "m/1", Port: []port{{1}, {2}}}, "r1", "m/1"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.store.WaitFor(within(t), rev); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*plugin{"the writer": a, "another": b} {
		if n, ok := p.counts.Get(p.store.Now(), "x"); !ok || n != 1 {
			t.Errorf("%s: %d, %v", name, n, ok)
		}
		if m, ok := p.machines.Get(p.store.Now(), "r1", "m/1"); !ok || len(m.Port) != 2 {
			t.Errorf("%s: %+v, %v", name, m, ok)
		}
	}
	for path := range a.machines.All(a.store.Now(), "r1") {
		if keys := a.machines.Keys(path); fmt.Sprint(keys) != "[r1 m/1]" {
			t.Errorf("%s has the keys %q", path, keys)
		}
	}
}

// Two processes that decide on the same data at once both succeed, one after the other.
func TestConflictsAreDecidedAgain(t *testing.T) {
	h := plugintest.NewHost(t)
	a, b := open(t, h), open(t, h)
	var wg sync.WaitGroup
	for i := range 40 {
		p := []*plugin{a, b}[i%2]
		wg.Go(func() {
			_, err := p.store.Update(within(t), func(tx *state.Tx) error {
				n, _ := p.counts.Get(tx, "sum")
				return p.counts.Put(tx, "sum", n+1)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	now, err := a.store.Fresh(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := a.counts.Get(now, "sum"); n != 40 {
		t.Errorf("%d of 40 additions are there", n)
	}
}

// A rule over a whole list holds, although each writes another entry.
func TestAListThatWasReadIsACondition(t *testing.T) {
	h := plugintest.NewHost(t)
	ps := []*plugin{open(t, h), open(t, h)}
	var wg sync.WaitGroup
	for i := range 20 {
		p := ps[i%2]
		wg.Go(func() {
			_, err := p.store.Update(within(t), func(tx *state.Tx) error {
				for range p.machines.All(tx, "r") {
					return fault.New(fault.Exists, "one is enough")
				}
				return p.machines.Put(tx, machine{Name: fmt.Sprint(i)}, "r", fmt.Sprint(i))
			})
			if err != nil && fault.KindOf(err) != fault.Exists {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	n := 0
	now, _ := ps[0].store.Fresh(within(t))
	for range ps[0].machines.All(now, "r") {
		n++
	}
	if n != 1 {
		t.Errorf("%d machines in the rack for one", n)
	}
}

func TestWhatIsNotDecodedIsNotGone(t *testing.T) {
	h := plugintest.NewHost(t)
	if err := h.Client(t, manifest()).Datastore.Put(t.Context(), "count/bad", []byte("no number")); err != nil {
		t.Fatal(err)
	}
	p := open(t, h)
	if _, ok := p.counts.Get(p.store.Now(), "bad"); ok || len(p.store.Broken()) != 1 {
		t.Errorf("broken: %v", p.store.Broken())
	}
}

// One process holds a role at a time; what the one before commits under it is refused.
func TestARoleIsFenced(t *testing.T) {
	h := plugintest.NewHost(t)
	a, b := open(t, h), open(t, h)
	terms := make(chan *state.Term)
	first, stop := context.WithCancel(within(t))
	hold := func(ctx context.Context, p *plugin) {
		p.store.Role(ctx, "poll", func(ctx context.Context, term *state.Term) {
			select {
			case terms <- term:
			case <-ctx.Done():
			}
			<-ctx.Done()
		})
	}
	second, stopSecond := context.WithCancel(within(t))
	var wg sync.WaitGroup
	wg.Go(func() { hold(first, a) })
	one := <-terms
	wg.Go(func() { hold(second, b) })
	if _, err := one.Update(within(t), func(tx *state.Tx) error { return a.counts.Put(tx, "x", 1) }); err != nil {
		t.Fatal(err)
	}
	stop()
	two := <-terms
	if two.Epoch() <= one.Epoch() || one.Check() == nil || two.Check() != nil {
		t.Errorf("epochs %d, %d; %v, %v", one.Epoch(), two.Epoch(), one.Check(), two.Check())
	}
	if _, err := one.Update(within(t), func(tx *state.Tx) error { return a.counts.Put(tx, "x", 2) }); err == nil {
		t.Error("the holder before has written")
	}
	if _, err := two.Update(within(t), func(tx *state.Tx) error { return b.counts.Put(tx, "x", 3) }); err != nil {
		t.Error(err)
	}
	stopSecond()
	wg.Wait()
}

// A change that somebody else makes to an owned tree is checked as it would be.
func TestCheckSeesTheChange(t *testing.T) {
	h := plugintest.NewHost(t)
	p := open(t, h)
	if _, err := p.store.Update(within(t), func(tx *state.Tx) error { return p.machines.Put(tx, machine{Name: "a"}, "r", "a") }); err != nil {
		t.Fatal(err)
	}
	change := []host.Event{{Entry: host.Entry{Key: p.machines.Path("r", "b"), Value: []byte(`{"name":"b"}`)}}, {Entry: host.Entry{Key: p.machines.Path("r", "a")}, Deleted: true}}
	var seen []string
	txn, err := p.store.Check(within(t), p.store.Now().Revision(), change, func(_ context.Context, tx *state.Tx) error {
		for _, m := range p.machines.All(tx, "r") {
			seen = append(seen, m.Name)
		}
		return p.counts.Put(tx, "machines", len(seen))
	})
	if err != nil || fmt.Sprint(seen) != "[b]" || len(txn.Ops) != 1 || len(txn.Compares) == 0 {
		t.Errorf("%q, %+v, %v", seen, txn, err)
	}
	if _, ok := p.machines.Get(p.store.Now(), "r", "b"); ok {
		t.Error("a check changed the state")
	}
}
