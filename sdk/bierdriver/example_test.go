package bierdriver_test

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"ctl.internal/sdk/bierdriver"
)

// toy drives one router that exists in memory only.
type toy struct{ has *bierdriver.Config }

func (*toy) Describe() bierdriver.Description {
	return bierdriver.Description{Capabilities: []string{"urn:acme:bier"}, Dialects: []string{"acme"}, Probes: true}
}

func (*toy) Probe(context.Context, *bierdriver.Router) (*bierdriver.Probe, error) {
	return &bierdriver.Probe{Reached: true, Supported: true}, nil
}

func (t *toy) Apply(ctx context.Context, r *bierdriver.Router, c *bierdriver.Config, permit bierdriver.Permit) (*bierdriver.Result, error) {
	want := proto.CloneOf(c)
	bierdriver.Canonical(want) // so that two ways of writing one configuration do not differ
	out := &bierdriver.Result{State: bierdriver.Applied}
	if proto.Equal(t.has, want) {
		return out, nil
	}
	out.Edits = []string{"replace the configuration of " + r.NodeId}
	if permit == nil { // it only compares
		return out, nil
	}
	_, err := permit.Begin(ctx, "")
	if err == nil {
		err = permit.Commit(ctx)
	}
	if err != nil {
		return &bierdriver.Result{State: bierdriver.Pending, Reason: err.Error()}, nil
	}
	t.has = want
	return out, nil
}

func (t *toy) Read(context.Context, *bierdriver.Router) (*bierdriver.Observed, error) {
	return &bierdriver.Observed{Config: t.has}, nil
}

func (t *toy) Watch(ctx context.Context, _ *bierdriver.Router, emit func(*bierdriver.Event) error) error {
	if err := emit(&bierdriver.Event{Session: &bierdriver.Session{State: bierdriver.Up}}); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// A plugin returns a Driver in sdk.Plugin.BierDriver. Applying the same configuration twice changes nothing the
// second time. Package conformance tests a driver against a router.
func Example() {
	var d bierdriver.Driver = &toy{}
	router := &bierdriver.Router{NodeId: "r1", Host: "192.0.2.1"}
	config := &bierdriver.Config{Global: &bierdriver.Global{SubDomains: []*bierdriver.SubDomain{{SubDomainId: 0, BfrId: 7}}}}
	for range 2 {
		result, err := d.Apply(context.Background(), router, config, bierdriver.Always)
		fmt.Println(result.State == bierdriver.Applied, result.Edits, err)
	}
	// Output:
	// true [replace the configuration of r1] <nil>
	// true [] <nil>
}
