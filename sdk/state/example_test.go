package state_test

import (
	"context"
	"fmt"
	"testing"
	"time"

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

// What one process among all nodes does runs in a role: it acts on a device only while it holds the role, and commits by its Term, so
// that a process that lost the role writes nothing.
func ExampleStore_Role() {
	inTest(func(t testing.TB) {
		ctx, cancel := context.WithCancel(context.Background())
		results := state.NewTable[string](state.Private("result/"))
		store, err := state.Open(ctx, plugintest.NewHost(t).Client(t, manifest()), results)
		if err != nil {
			fmt.Println(err)
			cancel()
			return
		}
		ask := func(context.Context, string) string { return "up" }
		due := make(chan string, 2)
		due <- "sw1"
		due <- "sw2"
		go func() {
			defer cancel() // ends the role
			if err := store.WaitUntil(ctx, func(s *state.Snapshot) bool { _, ok := results.Get(s, "sw2"); return ok }); err != nil {
				fmt.Println(err)
			}
			close(due)
		}()
		store.Role(ctx, "poll", func(ctx context.Context, term *state.Term) {
			for device := range due {
				act, cancel, err := term.Act(ctx, 10*time.Second) // fails when the role may have gone to another node
				if err != nil {
					return
				}
				result := ask(act, device)
				cancel()
				// Refused when the role is not held any more.
				if _, err := term.Update(ctx, func(tx *state.Tx) error { return results.Put(tx, device, result) }); err != nil {
					return
				}
			}
		})
		for _, device := range []string{"sw1", "sw2"} {
			result, _ := results.Get(store.Now(), device)
			fmt.Println(device, result)
		}
	})
	// Output:
	// sw1 up
	// sw2 up
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
