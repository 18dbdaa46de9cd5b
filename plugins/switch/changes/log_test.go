package changes

import (
	"strconv"
	"testing"
)

func TestLogKeepsTheLast(t *testing.T) {
	var l Log
	for i := range 3*keep + 7 {
		l.Add(Change{Node: strconv.Itoa(i)})
		if i%97 != 0 && i != keep {
			continue
		}
		last := l.Last()
		if len(last) != min(i+1, keep) || last[0].Node != strconv.Itoa(i) || last[len(last)-1].Node != strconv.Itoa(max(0, i-keep+1)) {
			t.Fatalf("after %d: %d changes from %s to %s", i, len(last), last[len(last)-1].Node, last[0].Node)
		}
	}
}
