package server

import (
	"sync"
	"testing"
)

// A goroutine may still read the body when the handler has returned: its place must not stay taken. The two must meet
// at the right moment, so many tries are made.
func TestAPlaceIsGivenUpForGood(t *testing.T) {
	var now inFlight
	for range 20_000 {
		now.Add(1)
		s := &slot{now: &now, held: true}
		s.pause()
		var all sync.WaitGroup
		for i := range 9 {
			if i == 4 {
				all.Go(s.end)
			} else {
				all.Go(s.resume)
			}
		}
		all.Wait()
	}
	if n := now.Load(); n != 0 {
		t.Errorf("%d places are taken after all requests have ended", n)
	}
}
