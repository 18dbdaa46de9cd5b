package driver_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/switchdriver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a driver plugin that does as the test says.
type fake struct {
	match switchdriver.Match

	mu    sync.Mutex
	vlans map[uint32]*switchdriver.VLAN
	// The faults.
	hang   bool // until the caller gives up
	lie    func([]*switchdriver.VLAN) []*switchdriver.VLAN
	ignore bool // says yes and does nothing
	half   bool // does half of a write and dies
	fail   error
}

func (f *fake) Match() switchdriver.Match { return f.match }

func (f *fake) before(ctx context.Context) error {
	f.mu.Lock()
	hang, fail := f.hang, f.fail
	f.mu.Unlock()
	if hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return fail
}

func (f *fake) set(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

func (f *fake) ReadVLANs(ctx context.Context, _ *switchdriver.Switch) ([]*switchdriver.VLAN, error) {
	if err := f.before(ctx); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	out := []*switchdriver.VLAN{{VlanId: 1, Name: "default", EgressPorts: []uint32{1, 2}, UntaggedPorts: []uint32{1, 2}}}
	for _, v := range f.vlans {
		out = append(out, v)
	}
	if f.lie != nil {
		out = f.lie(out)
	}
	return out, nil
}

func (f *fake) WriteVLAN(ctx context.Context, _ *switchdriver.Switch, v *switchdriver.VLAN, _, _ bool) (*switchdriver.VLAN, error) {
	if err := f.before(ctx); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.half:
		f.vlans[v.VlanId] = &switchdriver.VLAN{VlanId: v.VlanId, EgressPorts: v.EgressPorts[:1]}
		return nil, fault.New(fault.Unavailable, "the process ended")
	case !f.ignore:
		f.vlans[v.VlanId] = v
	}
	return v, nil
}

func (f *fake) DeleteVLAN(ctx context.Context, _ *switchdriver.Switch, id uint32) error {
	if err := f.before(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.vlans, id)
	return nil
}

// standard is what every switch has.
type standard struct {
	driver.StandardDriver // which no test asks for more
	oid                   string
}

func (standard) Match() switchdriver.Match { return switchdriver.Match{} }

func (standard) ReadFDB(context.Context, *switchdriver.Switch, uint32, uint64) ([]*switchdriver.FDBEntry, error) {
	return []*switchdriver.FDBEntry{{VlanId: 1, Mac: 2, Port: 3, Type: 3}}, nil
}

func (standard) ReadVLANs(context.Context, *switchdriver.Switch) ([]*switchdriver.VLAN, error) {
	return nil, fault.New(fault.Unsupported, "no tables")
}

func (s standard) Identify(context.Context, *switchdriver.Switch) (string, string, error) {
	if s.oid == "" {
		return "", "", errors.New("silent")
	}
	return s.oid, "Some Switch 1.0", nil
}

type bench struct {
	t       *testing.T
	host    *plugintest.Host
	chooser *driver.Chooser
	writer  *writes.Writer
}

func newBench(t *testing.T, o driver.Options) *bench {
	t.Helper()
	b := &bench{t: t, host: plugintest.NewHost(t)}
	c := b.host.Client(t, &pluginv1.Manifest{Name: "switch", Uses: []string{driver.Capability}, Roles: []string{"role"}})
	o.Board, o.Log = c.Switchboard, testLog()
	if o.Standard == nil {
		o.Standard = standard{}
	}
	b.chooser = driver.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { b.chooser.Run(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait() })
	b.writer = writes.New(writes.Options{Perform: b.perform, Repair: b.chooser.Repair, Log: testLog(),
		Find: func(uint64) (*switchdriver.Switch, error) { return nil, fault.New(fault.NotFound, "no list") }})
	store, err := state.Open(ctx, c, b.writer.Views()...)
	if err != nil {
		t.Fatal(err)
	}
	b.writer.Bind(store)
	wg.Go(func() { store.Role(ctx, "role", b.writer.Run) })
	b.until("the role is held", b.writer.Holds)
	return b
}

// perform carries an operation out as the service does.
func (b *bench) perform(
	ctx context.Context,
	sw *switchdriver.Switch,
	o *writes.Operation,
) ([]string, error) {
	if o.Undo == "" {
		return b.chooser.Perform(ctx, sw, o)
	}
	u, err := b.writer.Undoing(sw.NodeId, o)
	if err != nil {
		return nil, err
	}
	return b.chooser.Undo(ctx, sw, o, u)
}

// install starts a driver plugin.
func (b *bench) install(name string, f *fake) *plugintest.Plugin {
	f.vlans = map[uint32]*switchdriver.VLAN{}
	return b.installDriver(name, f)
}

func (b *bench) installDriver(name string, f switchdriver.Driver) *plugintest.Plugin {
	b.t.Helper()
	return plugintest.Start(b.t, sdk.Options{
		Manifest: []byte("name: " + name + "\nversion: 1.0.0\nsummary: a driver of a test\ncapabilities: [switchdriver]\n"),
		New: func(context.Context, *sdk.Env) (*sdk.Plugin, error) {
			return &sdk.Plugin{SwitchDriver: f}, nil
		}}, plugintest.WithHost(b.host))
}

// repaired are the outcomes of what was interrupted, the oldest first.
func (b *bench) repaired() (out []writes.Outcome) {
	for _, r := range b.writer.List() {
		out = append(out, r.Outcome)
	}
	return out
}

// until waits for a condition that comes by itself.
func (b *bench) until(what string, ok func() bool) {
	b.t.Helper()
	end := time.After(60 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			b.t.Fatalf("never: %s", what)
		}
	}
}

// chosen is the driver that serves a switch first.
func (b *bench) chosen(sw *switchdriver.Switch) string {
	choices, _, err := b.chooser.Of(deadline(b.t), sw)
	if err != nil {
		return err.Error()
	}
	return choices[0].Name
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}
