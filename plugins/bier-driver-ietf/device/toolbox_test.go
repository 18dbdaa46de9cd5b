package device

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/sdk/bierdriver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quick() Settings {
	s := Defaults()
	s.RPC.Duration, s.Retry.First.Duration, s.Retry.Most.Duration = time.Minute, 5*time.Millisecond, 20*time.Millisecond
	return s
}

func newDriver(s Settings) *Driver { return New(s, slog.New(slog.NewTextHandler(io.Discard, nil))) }

func start(t *testing.T, o simrouter.Options) (*simrouter.Router, *bierdriver.Router) {
	t.Helper()
	r, err := simrouter.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Down)
	return r, &bierdriver.Router{NodeId: "1", Host: r.Host(), Port: uint32(r.Port()), User: "lab", Password: "lab", HostKey: r.HostKey()}
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// config is a router's configuration with one channel to some egresses.
func config(id uint32, egress ...uint32) *bierdriver.Config {
	c := &bierdriver.Config{Global: &bierdriver.Global{EncapsulationType: "bier-encapsulation-mpls", Bitstringlength: 256, BfrId: id, Ipv4BfrPrefix: "192.0.2.1/32",
		SubDomains: []*bierdriver.SubDomain{{SubDomainId: 0, IgpType: "ISIS", Ipv4: []*bierdriver.Encapsulation{{Bitstringlength: 256, BierMplsLabelBase: 100, BierMplsLabelRangeSize: 4}}}}}}
	if len(egress) > 0 {
		c.Channels = []*bierdriver.Channel{{SourceAddress: "10.0.0.1", SourceWildcard: 32, GroupAddress: "232.0.0.1", GroupWildcard: 32, IngressBfrId: id, EgressBfrIds: egress}}
	}
	return c
}

func apply(t *testing.T, d *Driver, r *bierdriver.Router, c *bierdriver.Config, want bierdriver.Outcome) *bierdriver.Result {
	t.Helper()
	a, err := d.Apply(within(t, time.Minute), r, c, bierdriver.Always)
	if err != nil {
		t.Fatal(err)
	}
	if a.State != want || (a.State == bierdriver.Applied) != (a.Reason == "") {
		t.Fatalf("%v: %q, not %v", a.State, a.Reason, want)
	}
	return a
}

// applyWhenFree repeats while the router is busy: it may still have to notice that a
// session with the lock is gone.
func applyWhenFree(t *testing.T, d *Driver, r *bierdriver.Router, c *bierdriver.Config) {
	t.Helper()
	ctx := within(t, time.Minute)
	for {
		a, err := d.Apply(ctx, r, c, bierdriver.Always)
		if err != nil || a.State == bierdriver.Failed || ctx.Err() != nil {
			t.Fatalf("%v, %v", a, err)
		}
		if a.State == bierdriver.Applied {
			return
		}
	}
}
