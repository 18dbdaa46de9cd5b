package tree

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestRankBetween(t *testing.T) {
	for _, c := range [][2]string{{"", ""}, {"", "8"}, {"", "08"}, {"", "0008"}, {"8", ""}, {"f", ""}, {"ffff", ""}, {"8", "9"}, {"88", "89"}, {"8", "88"}, {"8", "808"}, {"7f8", "8"}} {
		got := rankBetween(c[0], c[1])
		if got <= c[0] || c[1] != "" && got >= c[1] || strings.HasSuffix(got, "0") {
			t.Errorf("between %q and %q: %q", c[0], c[1], got)
		}
	}
}

// However entries are inserted, there is always room for the next.
func TestRankAnywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ranks := []string{}
	for range 2000 {
		i := r.IntN(len(ranks) + 1)
		low, high := "", ""
		if i > 0 {
			low = ranks[i-1]
		}
		if i < len(ranks) {
			high = ranks[i]
		}
		ranks = slices.Insert(ranks, i, rankBetween(low, high))
	}
	if !slices.IsSorted(ranks) || len(slices.Compact(slices.Clone(ranks))) != len(ranks) {
		t.Error("the ranks are not in order")
	}
}
