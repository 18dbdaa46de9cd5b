package dialect

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/internal/netconf/xmltree"
)

// Leaving out what is the same changes nothing of what is sent.
func TestReduceKeepsTheChange(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, name := range Names() {
		d := mustNew(t, name)
		for i := range 300 {
			have, want := some(r), some(r)
			if i%3 == 0 {
				want.Global = have.Global
			}
			if i%5 == 0 {
				slices.Reverse(want.Channels)
			}
			h, w := Reduce(have, want)
			all, part := d.Diff(mustWant(t, d, have), mustWant(t, d, want)), d.Diff(mustWant(t, d, h), mustWant(t, d, w))
			if x := cmp.Diff(texts(all), texts(part)); x != "" {
				t.Fatalf("%s %d: %s", name, i, x)
			}
			if i%3 == 0 && w.Global != nil {
				t.Fatal("the same bier-global is left in")
			}
		}
	}
}

func texts(c Change) []string {
	out := slices.Clone(c.Lines)
	for _, l := range [][]*xmltree.Node{c.Edits, c.Filter, {c.Part}} {
		for _, n := range l {
			out = append(out, n.String())
		}
	}
	return out
}
