//go:build peers

package truthpeers

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// call is an operation on one register.
type call struct {
	key, op, value string
	from           string // of op "swap": the state that it read before
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
	odd   map[string]int // answers that leave open whether something was done
	ends  [][2]int64     // no call that was answered before the first moment acts after the second
	began time.Time
}

// open notes an answer that leaves open whether anything was done.
func (h *history) open(status int, body string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.odd == nil {
		h.odd = map[string]int{}
	}
	h.odd[fmt.Sprintf("%d %.120s", status, body)]++
	return unknown
}

func (h *history) now() int64 { return int64(time.Since(h.began)) }

func (h *history) add(c call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, c)
}

// register is the model: add needs an absent key, modify and take a present one, put and
// remove always work, swap only in the state that it names, read returns the value or "".
// An unknown call may have happened at any time after its begin, until the next of history.ends, or never.
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
		case "put":
			after = c.value
		case "take":
			possible = now != ""
			after = ""
		case "remove":
			after = ""
		case "swap":
			possible = now == c.from
			after = c.value
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
			if e := slices.IndexFunc(h.ends, func(e [2]int64) bool { return h.calls[i].end < e[0] }); e >= 0 {
				c.end = h.ends[e][1]
			}
		}
		ops = append(ops, porcupine.Operation{ClientId: i, Input: c, Call: c.begin, Output: nil, Return: c.end})
	}
	t.Logf("%d operations: %v", len(h.calls), counts)
	for what, n := range h.odd {
		if n >= len(h.calls)/1000 {
			t.Logf("%d times it was left open whether anything was done: %s", n, what)
		}
	}
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
			fits := fitting(model, part)
			t.Logf("the first %d of %d operations can be put in order:", fits, len(part))
			for _, o := range part[max(0, fits-30):min(fits+10, len(part))] {
				c := o.Input.(call)
				t.Logf("  %12.3f – %12.3f ms %s %s: %s", float64(c.begin)/1e6, float64(c.end)/1e6, c.op, c.value, c.outcome)
			}
			break
		}
	}
	t.Errorf("the history is %s", result)
}

// fitting sorts operations by their end and returns how many of the first have a
// linearization, so that the one after those is where it goes wrong.
func fitting(model porcupine.Model, part []porcupine.Operation) int {
	slices.SortFunc(part, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	return sort.Search(len(part), func(n int) bool {
		var ops []porcupine.Operation
		for i, o := range part {
			if c := o.Input.(call); i > n && o.Call < part[n].Return {
				if c.op == "read" {
					continue
				}
				c.outcome = unknown
				o.Input = c
			} else if i > n {
				continue
			}
			ops = append(ops, o)
		}
		return porcupine.CheckOperationsTimeout(model, ops, 20*time.Second) != porcupine.Ok
	})
}
