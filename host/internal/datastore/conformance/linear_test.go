package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"ctl.internal/host/internal/datastore"
)

// Load says how much Linearizable does.
type Load struct {
	Clients, Operations int           // operations are those of one client
	Pause               time.Duration // between two operations of a client
	Seed                uint64
}

// operation is one call; values are unique, so that a compare with the revision of a
// value is a compare with the value.
type operation struct {
	namespace string
	read      bool
	expect    map[string]string // value of a key that must still be there; "" = absent
	below     string            // prefix that is deleted first
	put       map[string]string
	remove    []string
}

type result struct {
	state    map[string]string // of a read
	conflict bool
	unknown  bool
}

var keysOfModel = []string{"a/1", "a/2", "b/1"}

// Linearizable runs random transactions and views of several clients, each of them on one
// of the stores, which share their data, and checks that there is one order of all of them
// that explains every answer. An operation that failed may have happened at any time.
func Linearizable(t *testing.T, load Load, stores ...datastore.Store) {
	t.Helper()
	var (
		mu      sync.Mutex
		history []porcupine.Operation
		failed  int
		longest time.Duration
	)
	begun := time.Now()
	var wg sync.WaitGroup
	for c := range load.Clients {
		wg.Go(func() {
			k := client{id: c, rnd: rand.New(rand.NewPCG(load.Seed, uint64(c))), store: stores[c%len(stores)]}
			for n := range load.Operations {
				op := k.choose(n)
				call := time.Since(begun)
				out, err := k.do(op)
				end := time.Since(begun)
				mu.Lock()
				longest = max(longest, end-call)
				if err != nil {
					failed++
				}
				if out.unknown && !op.read { // it may still happen
					end = time.Hour
				}
				if !out.unknown || !op.read {
					history = append(history, porcupine.Operation{ClientId: c, Input: op, Output: out, Call: int64(call), Return: int64(end)})
				}
				mu.Unlock()
				if out.unknown { // a client has one operation at a time
					c += load.Clients
				}
				<-time.After(load.Pause) // the pace of the load
			}
		})
	}
	wg.Wait()
	t.Logf("%d operations, %d failed, the longest took %v", len(history), failed, longest.Round(time.Millisecond))
	if r := porcupine.CheckOperationsTimeout(model, history, time.Minute); r != porcupine.Ok {
		t.Errorf("no order of the operations explains their answers: %v", r)
	}
}

var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		by := map[string][]porcupine.Operation{}
		for _, o := range history {
			ns := o.Input.(operation).namespace
			by[ns] = append(by[ns], o)
		}
		return slices.Collect(maps.Values(by))
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		now, op, out := decodeState(state.(string)), input.(operation), output.(result)
		if op.read {
			return maps.Equal(now, out.state), state
		}
		holds := true
		for k, v := range op.expect {
			holds = holds && now[k] == v
		}
		switch {
		case out.conflict:
			return !holds, state
		case !holds:
			return out.unknown, state
		}
		for k := range now {
			if op.below != "" && strings.HasPrefix(k, op.below) {
				delete(now, k)
			}
		}
		for _, k := range op.remove {
			delete(now, k)
		}
		maps.Copy(now, op.put)
		return true, encodeState(now)
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v -> %+v", in, out) },
}

func encodeState(m map[string]string) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, k+"="+m[k])
	}
	return strings.Join(out, " ")
}

func decodeState(s string) map[string]string {
	m := map[string]string{}
	for _, f := range strings.Fields(s) {
		k, v, _ := strings.Cut(f, "=")
		m[k] = v
	}
	return m
}

type client struct {
	id    int
	rnd   *rand.Rand
	store datastore.Store
	seen  [3]map[string]datastore.Entry // what was read last, by namespace
}

func (c *client) choose(n int) operation {
	ns := c.rnd.IntN(len(c.seen))
	op := operation{namespace: fmt.Sprint("model", ns), expect: map[string]string{}, put: map[string]string{}}
	if c.rnd.IntN(3) == 0 || c.seen[ns] == nil {
		op.read = true
		return op
	}
	kind := c.rnd.IntN(4)
	if kind == 0 {
		op.below = "a/"
	}
	for i, key := range keysOfModel {
		switch c.rnd.IntN(4) {
		case 0:
			op.put[key] = fmt.Sprintf("%d.%d.%d", c.id, n, i)
		case 1:
			if kind > 1 {
				op.expect[key] = string(c.seen[ns][key].Value)
			}
		case 2:
			if kind == 3 {
				op.remove = append(op.remove, key)
			}
		}
	}
	return op
}

func (c *client) do(op operation) (result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	ns := int(op.namespace[len(op.namespace)-1] - '0')
	if op.read {
		seen, out := map[string]datastore.Entry{}, result{state: map[string]string{}}
		err := c.store.View(ctx, func(sn datastore.Snapshot) error {
			for e, err := range sn.Range(op.namespace, datastore.RangeOptions{}) {
				if err != nil {
					return err
				}
				seen[e.Key], out.state[e.Key] = e, string(e.Value)
			}
			return nil
		})
		if err != nil {
			return result{unknown: true}, err
		}
		c.seen[ns] = seen
		return out, nil
	}
	t := datastore.Txn{By: fmt.Sprint("client ", c.id)}
	for key := range op.expect {
		t.Compares = append(t.Compares, datastore.Compare{Namespace: op.namespace, Key: key, Revision: c.seen[ns][key].Revision})
	}
	if op.below != "" {
		t.Ops = append(t.Ops, datastore.DeletePrefix(op.namespace, op.below))
	}
	for _, key := range op.remove {
		t.Ops = append(t.Ops, datastore.Delete(op.namespace, key))
	}
	for key, value := range op.put {
		t.Ops = append(t.Ops, datastore.Put(op.namespace, key, []byte(value)))
	}
	_, err := c.store.Commit(ctx, t)
	var conflict *datastore.ConflictError
	switch {
	case err == nil:
		return result{}, nil
	case errors.As(err, &conflict):
		return result{conflict: true}, nil
	}
	return result{unknown: true}, err
}

func linearizable(t *testing.T, s datastore.Store) {
	Linearizable(t, Load{Clients: 6, Operations: 150, Seed: 1}, s)
}
