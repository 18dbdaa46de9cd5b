package operations

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/yang"
	"ctl.internal/plugins/switch/csvlist"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/inventory"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/survey"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/switchdriver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench calls the RPCs as the host does: input and output go through the modules.
type bench struct {
	*network.Network
	*Handlers
	mux operations.Mux
	set *yang.Set
}

func newLab(t *testing.T, o network.Options) *bench {
	t.Helper()
	n, err := network.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	h := plugintest.NewHost(t).Client(t, &pluginv1.Manifest{Name: "switch"})
	inv := inventory.New(h.Secrets)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	store, err := state.Open(ctx, h, inv.Views()...)
	if err != nil {
		t.Fatal(err)
	}
	inv.Bind(store)
	list := &inventory.Database{Inventory: inv, Files: []string{"/nothing/there.csv"}}
	entries, _ := csvlist.Parse("lab.csv", n.CSV())
	if err := list.Replace(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	c := snmp.NewClient(snmp.Options{Timeout: 10 * time.Second, Retries: -1})
	t.Cleanup(c.Close)
	d := mibdriver.New(c)
	s := survey.New(survey.Options{Inventory: inv, Observe: d.Observe})
	t.Cleanup(s.Close)
	if _, err := s.Discover(t.Context(), survey.All, nil); err != nil {
		t.Fatal(err)
	}
	b := &bench{Network: n, Handlers: &Handlers{Inventory: inv, Drivers: driver.NewChooser(d), Survey: s, List: list, Discover: s.Discover,
		SaveInterval: func(_ context.Context, d time.Duration) error { s.SetInterval(d); return nil }}}
	b.Do = func(ctx context.Context, sw *switchdriver.Switch, o writes.Operation) ([]string, error) {
		return b.Drivers.Perform(ctx, sw, &o)
	}
	b.mux = b.Handlers.Mux()
	src, err := yang.FromFS("switch", os.DirFS(".."), "yang")
	if err != nil {
		t.Fatal(err)
	}
	if b.set, err = yang.Load(src); err != nil {
		t.Fatal(err)
	}
	return b
}

// hasten lets the drivers soon give up a switch that does not answer. An answer that is
// wanted may take longer on a busy machine.
func (b *bench) hasten(t *testing.T) {
	t.Helper()
	c := snmp.NewClient(snmp.Options{Timeout: 300 * time.Millisecond, Retries: -1})
	t.Cleanup(c.Close)
	b.Drivers = driver.NewChooser(mibdriver.New(c))
	b.mux = b.Handlers.Mux()
}

// call invokes an RPC with the members of its input.
func (b *bench) call(t *testing.T, module, rpc, input string) (string, error) {
	t.Helper()
	r := b.set.RPC(module, rpc)
	if r == nil {
		t.Fatalf("the modules have no %s:%s", module, rpc)
	}
	body := []byte(nil)
	if input != "" {
		body = []byte(`{"input":` + input + `}`)
	}
	in, err := r.DecodeInput(body, yang.Options{})
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := b.mux.Invoke(ctx, &operations.Request{Module: module, RPC: rpc, Input: in})
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := r.EncodeOutput(text, yang.Canonical)
	if err != nil {
		t.Fatalf("the output of %s:%s does not fit its module: %v\n%s", module, rpc, err, text)
	}
	return string(encoded), nil
}
