package writes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/switchdriver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// device counts what is sent to it.
type device struct {
	mu   sync.Mutex
	sent map[string]int
	fail func() error
	// panics is how many repairs panic.
	panics int
	block  chan struct{} // nil: nothing waits
	begun  chan struct{}
}

func (d *device) perform(ctx context.Context, sw *switchdriver.Switch, o *Operation) ([]string, error) {
	if err := Begin(ctx, Plan{Driver: "test"}); err != nil {
		return nil, err
	}
	if err := Check(ctx); err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.sent[fmt.Sprintf("%d %s", sw.NodeId, o.What)]++
	fail, block := d.fail, d.block
	d.mu.Unlock()
	if block != nil {
		d.begun <- struct{}{}
		select {
		case <-block:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if fail != nil {
		return nil, fail()
	}
	return []string{"done " + o.What}, nil
}

func (d *device) count() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.sent {
		n += c
	}
	return n
}

// process is one process of the plugin. hold lets it have the role.
type process struct {
	*Writer
	store *state.Store
	hold  func() (release func())
	began chan struct{} // a term has begun
}

func start(t *testing.T, h *plugintest.Host, d *device) *process {
	t.Helper()
	p := &process{began: make(chan struct{}, 1000)}
	p.Writer = New(Options{Perform: d.perform, Source: "node", Log: slog.New(slog.DiscardHandler),
		Find: func(node uint64) (*switchdriver.Switch, error) { return &switchdriver.Switch{NodeId: node}, nil },
		Repair: func(_ context.Context, sw *switchdriver.Switch, r *Record) (Outcome, string, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.panics > 0 {
				d.panics--
				panic("ouch")
			}
			if d.sent[fmt.Sprintf("%d %s", sw.NodeId, r.What())] > 0 {
				return Whole, "", nil
			}
			return Undone, "", nil
		}})
	c := h.Client(t, &pluginv1.Manifest{Name: "switch", Roles: []string{"role"}})
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	var err error
	if p.store, err = state.Open(ctx, c, p.Views()...); err != nil {
		t.Fatal(err)
	}
	p.Bind(p.store)
	p.hold = func() func() {
		ctx, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		wg.Go(func() {
			p.store.Role(ctx, "role", func(ctx context.Context, term *state.Term) {
				go func() {
					for !p.Holds() && ctx.Err() == nil {
						runtime.Gosched()
					}
					p.began <- struct{}{}
				}()
				p.Run(ctx, term)
			})
		})
		end := sync.OnceFunc(func() { cancel(); wg.Wait() })
		t.Cleanup(end)
		<-p.began
		return end
	}
	return p
}

func newDevice() *device { return &device{sent: map[string]int{}, begun: make(chan struct{}, 100)} }

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

var sw7 = &switchdriver.Switch{NodeId: 7}

func op(what string) Operation { return Operation{What: what, Request: &pluginv1.WriteStpRequest{}} }

// Whoever is asked, the process with the role does it, once, and its result comes back as
// it is: lines, kinds, texts, paths.
func TestAskedAnywhere(t *testing.T) {
	h, d := plugintest.NewHost(t), newDevice()
	a, b := start(t, h, d), start(t, h, d)
	a.hold()
	for i, p := range []*process{a, b, a, b} {
		lines, err := p.Do(within(t, time.Minute), sw7, op(fmt.Sprint(i)))
		if err != nil || len(lines) != 1 || lines[0] != fmt.Sprint("done ", i) {
			t.Errorf("%d: %q %v", i, lines, err)
		}
	}
	d.fail = func() error {
		return fault.List{fault.At(fault.Exists, "vlan-id", "VLAN 5 exists"), fault.Device(fault.Downstream, "refused")}
	}
	for _, p := range []*process{a, b} {
		_, err := p.Do(within(t, time.Minute), sw7, op("bad"))
		l := fault.All(err)
		if len(l) != 2 || l[0].Kind != fault.Exists || l[0].Path != "vlan-id" || l[0].Text != "VLAN 5 exists" || l[1].Source != fault.SourceDevice {
			t.Errorf("%v", err)
		}
	}
	if d.count() != 6 || len(b.List()) != 0 {
		t.Errorf("%d sent, records %+v", d.count(), b.List())
	}
}

// What no process takes in time is cancelled, and is not sent later.
func TestNobodyTakesIt(t *testing.T) {
	h, d := plugintest.NewHost(t), newDevice()
	a, b := start(t, h, d), start(t, h, d)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		if err := a.store.WaitUntil(within(t, time.Minute), func(n *state.Snapshot) bool { return a.table.Len(n) == 1 }); err != nil {
			t.Error(err)
		}
	}()
	_, err := a.Do(ctx, sw7, op("x"))
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "nothing was sent") {
		t.Errorf("%v", err)
	}
	b.hold()
	if _, err := b.Do(within(t, time.Minute), sw7, op("y")); err != nil || d.count() != 1 || len(b.List()) != 0 {
		t.Errorf("%v, %d sent, %+v", err, d.count(), b.List())
	}
}

// A caller whose time ends while it is being done learns which operation to look for;
// one that waits for another operation of the switch, that nothing was sent.
func TestTheCallerGivesUp(t *testing.T) {
	h, d := plugintest.NewHost(t), newDevice()
	a, b := start(t, h, d), start(t, h, d)
	a.hold()
	d.block = make(chan struct{})
	giveUp := func(what string, when func()) error {
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { _, err := b.Do(ctx, sw7, op(what)); result <- err }()
		when()
		cancel()
		return <-result
	}
	err := giveUp("slow", func() { <-d.begun })
	if fault.KindOf(err) != fault.Timeout || !strings.Contains(err.Error(), "switch:changes") || d.count() != 1 {
		t.Errorf("%v, %+v", err, b.List())
	}
	err = giveUp("the next", func() {
		if err := b.store.WaitUntil(within(t, time.Minute), func(n *state.Snapshot) bool { return b.table.Len(n) == 2 }); err != nil {
			t.Error(err)
		}
	})
	_, direct := a.Do(within(t, time.Millisecond), sw7, op("of the holder"))
	for _, err := range []error{err, direct} {
		if fault.KindOf(err) != fault.InUse || !strings.Contains(err.Error(), "nothing was sent") {
			t.Errorf("%v", err)
		}
	}
	close(d.block)
}

// What a process left that lost the role in the middle is repaired by the next one, and
// whoever waits for it is answered.
func TestTheHolderGoes(t *testing.T) {
	h, d := plugintest.NewHost(t), newDevice()
	a, b, c := start(t, h, d), start(t, h, d), start(t, h, d)
	release := a.hold()
	d.block = make(chan struct{})
	result := make(chan error, 2)
	go func() { _, err := a.Do(within(t, time.Minute), sw7, op("direct")); result <- err }()
	<-d.begun
	go func() {
		_, err := c.Do(within(t, time.Minute), &switchdriver.Switch{NodeId: 8}, op("queued"))
		result <- err
	}()
	<-d.begun
	release()
	err := <-result // of the call that the process itself was carrying out
	if fault.KindOf(err) != fault.Timeout || !strings.Contains(err.Error(), "switch:changes") {
		t.Errorf("%v", err)
	}
	close(d.block)
	b.hold()
	if err := <-result; err != nil {
		t.Errorf("the one that waits: %v", err)
	}
	if _, err := b.Do(within(t, time.Minute), sw7, op("next")); err != nil {
		t.Error(err)
	}
	l := b.List()
	if len(l) != 2 || l[0].Outcome != Whole || l[1].Outcome != Whole || d.count() != 3 {
		t.Errorf("%d sent, %+v", d.count(), l)
	}
}

// Many operations of many switches, asked of two processes while the role goes to and fro:
// none is sent twice, and each that was answered with success was sent.
func TestHandOvers(t *testing.T) {
	h, d := plugintest.NewHost(t), newDevice()
	ps := []*process{start(t, h, d), start(t, h, d)}
	ctx, stop := context.WithCancel(t.Context())
	var roles, callers sync.WaitGroup
	roles.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			release := ps[i%2].hold()
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Millisecond):
			}
			ps[i%2].Drain(within(t, time.Second))
			release()
			ps[i%2].draining.Store(false)
		}
	})
	for i := range 200 {
		callers.Go(func() {
			what := fmt.Sprint(i)
			_, err := ps[i%2].Do(within(t, 30*time.Second), &switchdriver.Switch{NodeId: uint64(1 + i%5)}, op(what))
			d.mu.Lock()
			defer d.mu.Unlock()
			if n := d.sent[fmt.Sprintf("%d %s", 1+i%5, what)]; n > 1 || err == nil && n != 1 {
				t.Errorf("%s was sent %d times: %v", what, n, err)
			}
		})
	}
	callers.Wait()
	stop()
	roles.Wait()
}

// What cannot be taken back now is kept and repaired; a record is bounded in number.
func TestKeptAndBounded(t *testing.T) {
	h, d := plugintest.NewHost(t), newDevice()
	a, b := start(t, h, d), start(t, h, d)
	a.hold()
	for i := range maxEnded + 20 {
		if _, err := b.Do(within(t, time.Minute), &switchdriver.Switch{NodeId: uint64(i + 1)}, op("x")); err != nil {
			t.Fatal(err)
		}
	}
	if n := b.table.Len(b.store.Now()); n > maxEnded {
		t.Errorf("%d records", n)
	}
	a.opt.Perform = func(ctx context.Context, _ *switchdriver.Switch, _ *Operation) ([]string, error) {
		err := Begin(ctx, Plan{Driver: "test"})
		Keep(ctx)
		return nil, errors.Join(err, fault.New(fault.Downstream, "half of it is left"))
	}
	for _, p := range []*process{a, b} {
		if _, err := p.Do(within(t, time.Minute), sw7, op("kept")); err == nil || !strings.Contains(err.Error(), "half of it is left") {
			t.Errorf("%v", err)
		}
	}
	err := b.store.WaitUntil(within(t, time.Minute), func(n *state.Snapshot) bool {
		kept := 2
		for _, r := range b.table.All(n, "") {
			if r.Outcome == Undone {
				kept--
			}
		}
		return kept == 0
	})
	if err != nil {
		t.Error(err)
	}
}

// A store that does not take the record keeps the operation from beginning.
func TestNoRecordNoChange(t *testing.T) {
	h, d := plugintest.NewHost(t), newDevice()
	a := start(t, h, d)
	release := a.hold()
	a.opt.Perform = func(ctx context.Context, sw *switchdriver.Switch, o *Operation) ([]string, error) {
		release()
		return d.perform(ctx, sw, o)
	}
	if _, err := a.Do(within(t, time.Minute), sw7, op("x")); err == nil || d.count() != 0 {
		t.Errorf("%v, %d sent", err, d.count())
	}
	if err := Begin(t.Context(), Plan{}); err != nil || Check(t.Context()) != nil {
		t.Error("a driver without records does not work")
	}
}

// The forms that the plugin writes: of its own steps, and of a driver's operation.
const (
	stepsForm = `{"id":"20261122T060000.000000001-ABCD","node":2199023255553,"switch":"02:00:00:00:00:01 (127.0.0.1)","begun":"2026-11-22T06:00:00Z","state":"sent","epoch":5,` +
		`"operation":{"name":"WriteVlan","what":"setting VLAN 5","request":{"vlan":{"vlanId":5}}},` +
		`"steps":[{"what":"VLAN 5","assigns":[{"oid":".1.3.6.1.2.1.17.7.1.4.3.1.5.5","kind":"row","to":"1"},{"oid":".1.3.6.1.2.1.17.7.1.4.3.1.2.5","kind":"octets","from":"c000","to":"e000"},{"oid":".1.3.6.1.2.1.17.7.1.4.5.1.1.3","kind":"gauge","from":"1","to":"5"}]}]}`
	operationForm = `{"id":"20261122T060000.000000001-ABCE","node":2199023255553,"switch":"02:00:00:00:00:01 (127.0.0.1)","begun":"2026-11-22T06:00:00Z","state":"unknown","driver":"switch-driver-dlink",` +
		`"operation":{"name":"ApplyAcl","what":"access lists: ACTION_SET_RULE","request":{"action":"ACTION_SET_RULE","profile":{"profileId":1},"rule":{"ruleId":3,"ports":[1,2],"layer":"IP","srcIp":"192.0.2.0","action":"DENY"}}}}`
)

// A record that is damaged, or of a release that this one does not know, is left alone:
// it neither ends the process nor keeps its switch from being changed.
func TestDamaged(t *testing.T) {
	h, d := plugintest.NewHost(t), newDevice()
	ds := h.Client(t, &pluginv1.Manifest{Name: "switch"}).Datastore
	bad := 0
	for _, form := range []string{stepsForm, operationForm} {
		for _, c := range [][2]string{
			{"", ""}, {`"id":"`, `"id":"x`}, {`"node":2199023255553`, `"node":281474976710656`}, {`}`, ``},
			{`"ApplyAcl"`, `"WriteFdbEntry"`}, {`"ApplyAcl"`, `"WriteArpEntry"`}, {`"ApplyAcl"`, `"DeleteVlan"`}, {`"ApplyAcl"`, `"Dance"`},
			{`".1.3.6.1.2.1.17.7.1.4.3.1.2.5"`, `".1.3.x"`}, {`".1.3.6.1.2.1.17.7.1.4.3.1.2.5"`, `".1.3.4294967296"`},
			{`"e000"`, `"e00"`}, {`"kind":"gauge"`, `"kind":"colour"`}, {`"to":"5"`, `"to":"five"`}, {`"state":"`, `"state":"x`},
		} {
			value := strings.Replace(form, c[0], c[1], 1)
			if value == form && c[0] != "" {
				continue
			}
			var r Record
			_ = json.Unmarshal([]byte(form), &r)
			key := r.key()
			if c[0] != "" {
				bad++
				id := fmt.Sprintf("%s.%d", r.ID, bad)
				key, value = keyOf(r.Node, id), strings.Replace(value, r.ID, id, 1)
			}
			if err := ds.Put(t.Context(), prefix+key, []byte(value)); err != nil {
				t.Fatal(err)
			}
		}
	}
	a := start(t, h, d)
	if l := a.List(); len(l) != 2 || len(a.store.Broken()) != bad {
		t.Errorf("%d records are readable, %d are not, of %d", len(l), len(a.store.Broken()), bad)
	}
	a.hold()
	if _, err := a.Do(within(t, time.Minute), &switchdriver.Switch{NodeId: 2199023255553}, op("next")); err != nil {
		t.Error(err)
	}
}

// Whatever is in a record, it is read or refused; what is read can be repaired, and is
// the same when it is written again.
func FuzzRecord(f *testing.F) {
	for _, form := range []string{stepsForm, operationForm, `{"id":"a","node":1,"state":"queued","operation":{"name":"WriteVlan","request":{"vlan":{"vlanId":5}}},"before":null}`,
		`{"id":"a","node":0,"state":"sent","operation":{"name":"Discover"},"steps":null}`} {
		var r Record
		_ = json.Unmarshal([]byte(form), &r)
		f.Add(r.key(), []byte(form))
	}
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		r, err := decodeRecord(key, value)
		if err != nil {
			return
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeRecord(key, b)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if c, _ := json.Marshal(again); !bytes.Equal(b, c) {
			t.Errorf("%s\n%s", b, c)
		}
	})
}
