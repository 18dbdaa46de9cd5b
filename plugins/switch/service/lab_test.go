package service

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/yang"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench calls the RPCs as the host does: input and output go through the modules.
type bench struct {
	*network.Network
	*Service
	mux operations.Mux
	set *yang.Set
	cut atomic.Pointer[context.CancelFunc] // ends the term of the role; the next begins soon
}

func newLab(t *testing.T, o network.Options) *bench {
	t.Helper()
	n, err := network.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	b := benchOf(t, n.CSV())
	b.Network = n
	return b
}

// benchOf is a bench of the switches of a list.
func benchOf(t *testing.T, list []byte) *bench {
	t.Helper()
	h := plugintest.NewHost(t).Client(t, &pluginv1.Manifest{Name: "switch", Roles: []string{role}})
	s := &Service{log: slog.New(slog.DiscardHandler), inventory: switchlist.New(h.Secrets), client: snmp.NewClient(snmp.Options{Timeout: 10 * time.Second, Retries: -1}),
		seen: make(chan struct{}, 1)}
	t.Cleanup(s.client.Close)
	s.standard = mibdriver.New(s.client)
	s.drivers = driver.New(driver.Options{Standard: s.standard})
	s.database = &switchlist.Database{Inventory: s.inventory, Files: []string{"/nothing/there.csv"}}
	s.survey = discovery.New(discovery.Options{Inventory: s.inventory, Observe: s.standard.Observe})
	t.Cleanup(s.survey.Close)
	s.writer = writes.New(writes.Options{Find: s.findSwitch, Perform: s.performOperation, Repair: s.drivers.Repair, Log: s.log})
	s.sdn = driver.NewSDN(s.drivers, s.writer.Do, driver.SDNSettings{}, s.log)
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	t.Cleanup(func() { cancel(); work.Wait() })
	if err := s.openState(ctx, h); err != nil {
		t.Fatal(err)
	}
	b := &bench{Service: s}
	held := make(chan struct{})
	first := sync.OnceFunc(func() { close(held) })
	work.Go(func() {
		s.store.Role(ctx, role, func(ctx context.Context, term *state.Term) {
			ctx, cut := context.WithCancel(ctx)
			defer cut()
			b.cut.Store(&cut)
			first()
			var plans sync.WaitGroup
			plans.Go(func() { s.runPlans(ctx, term) })
			s.writer.Run(ctx, term)
			plans.Wait()
		})
	})
	<-held
	for deadline := time.Now().Add(time.Minute); !s.writer.Holds() && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	entries, _ := switchlist.Parse("lab.csv", list)
	if err := s.database.Replace(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	if _, err := s.survey.Discover(t.Context(), discovery.All, nil); err != nil {
		t.Fatal(err)
	}
	b.mux = s.rpcMux()
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
	b.drivers = driver.New(driver.Options{Standard: mibdriver.New(c)})
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
	encoded, err := r.AppendOutput(nil, text, yang.Canonical)
	if err != nil {
		t.Fatalf("the output of %s:%s does not fit its module: %v\n%s", module, rpc, err, text)
	}
	return string(encoded), nil
}
