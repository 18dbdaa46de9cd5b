package channels

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/sdk/bier"
)

// What changed since a revision, put onto what was there then, is what is there now.
func TestSince(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := NewStore(nil)
	if v := s.Since(5); v.Channels == nil || v.Changes != nil {
		t.Errorf("a revision of another process: %v", v)
	}
	now := func() map[string][]bier.Channel {
		out := s.View(0).Channels.ByTopology
		for t := range out {
			if len(out[t]) == 0 {
				delete(out, t)
			}
		}
		return out
	}
	have, revision := now(), s.View(0).Revision
	for i := range 300 {
		for range r.IntN(4) {
			topology, name := fmt.Sprint("t", r.IntN(2)), fmt.Sprint("c", r.IntN(8))
			if r.IntN(3) == 0 {
				s.put(topology, name, nil)
			} else {
				s.put(topology, name, &bier.Channel{Name: name, SrcIP: fmt.Sprint(i)})
			}
		}
		v := s.Since(revision)
		if (v.Changes == nil) != (v.Revision == revision) || v.Channels != nil {
			t.Fatalf("%d: from %d to %d: %v", i, revision, v.Revision, v)
		}
		if v.Changes != nil {
			for topology, names := range v.Changes.Removed {
				have[topology] = slices.DeleteFunc(have[topology], func(c bier.Channel) bool { return slices.Contains(names, c.Name) })
			}
			for topology, list := range v.Changes.ByTopology {
				for _, c := range list {
					have[topology] = append(slices.DeleteFunc(have[topology], func(o bier.Channel) bool { return o.Name == c.Name }), c)
				}
				slices.SortFunc(have[topology], func(a, b bier.Channel) int { return cmpNames(a, b) })
			}
			for topology := range have {
				if len(have[topology]) == 0 {
					delete(have, topology)
				}
			}
		}
		revision = v.Revision
		if d := cmp.Diff(now(), have); d != "" {
			t.Fatalf("%d: %s", i, d)
		}
	}
}

func cmpNames(a, b bier.Channel) int {
	if a.Name < b.Name {
		return -1
	}
	return 1
}
