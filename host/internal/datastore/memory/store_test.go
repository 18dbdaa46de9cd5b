package memory

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	conformance.Run(t, func(_ *testing.T, history int) datastore.Store { return New(Options{History: history}) })
}

// TestTreeLikeMap plays random changes against a map; old roots must not change.
func TestTreeLikeMap(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := maphash.MakeSeed()
	var root *node
	model := map[string]bool{}
	for i := range 5000 {
		key := fmt.Sprint(rnd.IntN(400))
		old, had := root, root.get(key) != nil
		if rnd.IntN(3) == 0 {
			root = root.delete(key)
			delete(model, key)
		} else {
			root = root.put(s, key, nil, datastore.Revision(i))
			model[key] = true
		}
		if (old.get(key) != nil) != had {
			t.Fatal("a change reached an older snapshot")
		}
	}
	var got []string
	for n := range root.from("") {
		got = append(got, n.key)
	}
	if !slices.IsSorted(got) || len(got) != len(model) {
		t.Fatalf("%d keys, want %d, sorted %v", len(got), len(model), slices.IsSorted(got))
	}
	for _, k := range got {
		if !model[k] {
			t.Fatalf("key %s should be gone", k)
		}
	}
}
