package projection

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"ctl.internal/host/internal/datastore"
)

// Random transactions against a map: the newest state is equal to it, and states taken
// before stay as they were.
func TestStateIsAMapThatKeepsItsPast(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	type past struct {
		st   *State
		want map[string]datastore.Revision
	}
	st, model, kept := Empty(50), map[string]datastore.Revision{}, []past{}
	for rev := datastore.Revision(1); rev < 3000; rev++ {
		key := fmt.Sprint(rnd.IntN(300))
		op := datastore.Put("n", key, nil)
		switch rnd.IntN(8) {
		case 0:
			op = datastore.Delete("n", key)
			delete(model, key)
		case 1:
			op = datastore.DeletePrefix("n", key)
			maps.DeleteFunc(model, func(k string, _ datastore.Revision) bool { return len(k) >= len(key) && k[:len(key)] == key })
		default:
			model[key] = rev
		}
		b, err := st.Resolve(datastore.Txn{Ops: []datastore.Op{op}}, rev, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		st = st.Apply(b)
		if rev%100 == 0 {
			kept = append(kept, past{st, maps.Clone(model)})
		}
	}
	for _, p := range append(kept, past{st, model}) {
		got := map[string]datastore.Revision{}
		var keys []string
		for e, err := range p.st.Range("n", datastore.RangeOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			got[e.Key] = e.Revision
			keys = append(keys, e.Key)
		}
		if !maps.Equal(got, p.want) || !slices.IsSorted(keys) {
			t.Fatalf("at %d: %v, want %v", p.st.Revision(), got, p.want)
		}
	}
	if n := len(st.log); n != 50 || st.first != st.log[0].Revision-1 {
		t.Errorf("%d transactions are kept, all after %d", n, st.first)
	}
}

// Large transactions push out older ones earlier than their number would.
func TestTheLogIsBoundedInBytes(t *testing.T) {
	st := Empty(1000)
	for rev := datastore.Revision(1); rev < 100; rev++ {
		b, err := st.Resolve(datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "k", make([]byte, 1<<20))}}, rev, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		st = st.Apply(b)
	}
	if n := len(st.log); n > 32 || n < 25 {
		t.Errorf("%d MiB are kept", n)
	}
}
