package state_test

import (
	"context"
	"fmt"
	"testing"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/state"
)

// Two callers count at the same time. What Update read becomes a condition of the write: after a conflict its
// function runs again on the newer state, so that nothing is lost, and it returns when the write can be read.
func Example() {
	inTest(func(t testing.TB) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		counters := state.NewTable[int](state.Private("counter/"))
		store, err := state.Open(ctx, plugintest.NewHost(t).Client(t, manifest()), counters)
		if err != nil {
			fmt.Println(err)
			return
		}
		count := func(by int) error {
			_, err := store.Update(ctx, func(tx *state.Tx) error {
				n, _ := counters.Get(tx, "visits")
				if n+by > 10 {
					return fault.New(fault.Invalid, "10 is the limit")
				}
				return counters.Put(tx, "visits", n+by)
			})
			return err
		}
		done := make(chan error)
		go func() { done <- count(2) }()
		fmt.Println(count(3), <-done)
		fmt.Println(count(6))
		n, _ := counters.Get(store.Now(), "visits")
		fmt.Println(n)
	})
	// Output:
	// <nil> <nil>
	// 10 is the limit
	// 5
}

// inTest runs f with what a test has, so that the example has a host.
func inTest(f func(testing.TB)) {
	t := &exampleTest{ctx: context.Background()}
	defer func() {
		for i := len(t.ends) - 1; i >= 0; i-- {
			t.ends[i]()
		}
	}()
	f(t)
}

type exampleTest struct {
	testing.TB
	ctx  context.Context
	ends []func()
}

func (t *exampleTest) Helper()                  {}
func (t *exampleTest) Context() context.Context { return t.ctx }
func (t *exampleTest) Cleanup(f func())         { t.ends = append(t.ends, f) }
func (t *exampleTest) Fatal(args ...any)        { panic(fmt.Sprint(args...)) }
