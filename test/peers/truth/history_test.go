//go:build peers

package truthpeers

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// call is an operation on one register.
type call struct {
	key, op, value string
	begin, end     int64
	outcome        string // "done", "refused" (state as it was said to be), "unknown", or what was read
}

const (
	done    = "done"
	refused = "refused"
	unknown = "unknown"
)

// history collects calls of all workers.
type history struct {
	mu    sync.Mutex
	calls []call
	began time.Time
}

func (h *history) now() int64 { return int64(time.Since(h.began)) }

func (h *history) add(c call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, c)
}

// register is the model: add needs an absent key, modify a present one, remove always
// works, read returns the value or "". An unknown call may have happened at any time
// after its begin, or never.
var register = porcupine.NondeterministicModel{
	Partition: func(all []porcupine.Operation) [][]porcupine.Operation {
		by := map[string][]porcupine.Operation{}
		for _, o := range all {
			by[o.Input.(call).key] = append(by[o.Input.(call).key], o)
		}
		var out [][]porcupine.Operation
		for _, list := range by {
			out = append(out, list)
		}
		return out
	},
	Init: func() []any { return []any{""} },
	Step: func(state, input, _ any) []any {
		now, c := state.(string), input.(call)
		after, possible := now, true
		switch c.op {
		case "add":
			possible = now == ""
			after = c.value
		case "modify":
			possible = now != ""
			after = c.value
		case "remove":
			after = ""
		case "read":
			if c.outcome == now {
				return []any{now}
			}
			return nil
		}
		switch {
		case c.outcome == unknown && possible:
			return []any{now, after}
		case c.outcome == unknown:
			return []any{now}
		case c.outcome == done && possible:
			return []any{after}
		case c.outcome == refused && !possible:
			return []any{now}
		}
		return nil
	},
	Equal: func(a, b any) bool { return a == b },
	DescribeOperation: func(in, _ any) string {
		c := in.(call)
		return fmt.Sprintf("%s %s=%s: %s", c.op, c.key, c.value, c.outcome)
	},
	DescribeState: func(s any) string { return fmt.Sprintf("%q", s) },
}

// check fails the test when the history has no linearization.
func (h *history) check(t *testing.T) {
	t.Helper()
	end := h.now()
	var ops []porcupine.Operation
	counts := map[string]int{}
	for i, c := range h.calls {
		counts[c.op+" "+map[bool]string{true: "ok", false: c.outcome}[c.outcome == done || c.op == "read"]]++
		if c.outcome == unknown {
			if c.op == "read" {
				continue
			}
			c.end = end + 1
		}
		ops = append(ops, porcupine.Operation{ClientId: i, Input: c, Call: c.begin, Output: nil, Return: c.end})
	}
	t.Logf("%d operations: %v", len(h.calls), counts)
	model := register.ToModel()
	result, info := porcupine.CheckOperationsVerbose(model, ops, 2*time.Minute)
	if result == porcupine.Ok {
		return
	}
	path := t.TempDir() + "/history.html"
	_ = porcupine.VisualizePath(model, info, path)
	for _, part := range model.Partition(ops) {
		if r := porcupine.CheckOperationsTimeout(model, part, time.Minute); r != porcupine.Ok {
			t.Logf("register %s is not linearizable (%s):", part[0].Input.(call).key, r)
			for _, o := range part {
				c := o.Input.(call)
				t.Logf("  %12.3f – %12.3f ms %s %s: %s", float64(c.begin)/1e6, float64(c.end)/1e6, c.op, c.value, c.outcome)
			}
			break
		}
	}
	t.Errorf("the history is %s", result)
}
