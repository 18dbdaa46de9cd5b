package main

import (
	"fmt"
	"testing"
)

// What must be right is worked out by hand: on the tree, the routers between two others, and the states of a channel.
func TestWhatMustBeRight(t *testing.T) {
	for _, x := range []struct {
		from, to int
		want     string
	}{{1, 2, "[]"}, {1, 4, "[2]"}, {4, 5, "[2]"}, {4, 6, "[1 2 3]"}, {9, 2, "[4]"}, {2, 9, "[4]"}, {8, 9, "[4]"}} {
		if got := fmt.Sprint(between(x.from, x.to)); got != x.want {
			t.Errorf("%d to %d: %s, want %s", x.from, x.to, got, x.want)
		}
	}
	for want, off := range map[string]int{
		"applied map[1:applied 2:applied 4:applied 6:applied 3:applied]":          0,
		"unverified map[1:applied 2:unverified 4:unverified 6:applied 3:applied]": 2,
		"unverified map[1:applied 2:applied 4:applied 6:unverified 3:unverified]": 3,
		"unverified map[1:unverified 2:applied 4:applied 6:applied 3:applied]":    1,
		"unverified map[1:applied 2:applied 4:unverified 6:applied 3:applied]":    4,
	} {
		channel, routers := must([]int{1, 4, 6}, func(i int) bool { return i == off })
		got := fmt.Sprintf("%s map[1:%s 2:%s 4:%s 6:%s 3:%s]", channel, routers[1], routers[2], routers[4], routers[6], routers[3])
		if got != want || len(routers) != 5 {
			t.Errorf("%d is off: %s, want %s", off, got, want)
		}
	}
}
