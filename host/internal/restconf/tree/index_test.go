package tree

import (
	"fmt"
	"testing"
)

// Many edits of one change find what they changed below a place without looking at all of
// it each time.
func TestTheIndexOfChangesIsLinear(t *testing.T) {
	for _, n := range []int{1000, 4000} {
		var x keyIndex
		for i := range n {
			x.addKey(fmt.Sprintf("/m:c/e=%06d", i))
			x.addKey(fmt.Sprintf("/m:c/e=%06d/f=1", i))
			if got := x.keysBelow(fmt.Sprintf("/m:c/e=%06d/", i)); len(got) != 1 {
				t.Fatalf("below the entry %d: %v", i, got)
			}
		}
		if most := 4*n + fewKeys*fewKeys; x.looked > most {
			t.Errorf("%d edits looked at %d keys, more than %d", n, x.looked, most)
		}
	}
	var few keyIndex
	few.addKey("/b")
	few.addKey("/a")
	few.addKey("/ab")
	if got := fmt.Sprint(few.keysBelow("/a")); got != "[/a /ab]" {
		t.Error(got)
	}
}
