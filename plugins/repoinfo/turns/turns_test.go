package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func queue() *Queue {
	return &Queue{Places: 2, Started: 3, Waiting: 50, Total: 120, Slice: 100 * time.Millisecond}
}

// work runs a turn of so many slices and notes its begin and end.
func work(t *testing.T, q *Queue, user, project string, slices int, note func(string)) {
	turn := q.New(user, project)
	defer turn.End()
	if err := turn.Begin(t.Context()); err != nil {
		t.Error(err)
	}
	note("begin " + user + " " + project)
	for range slices {
		<-time.After(q.Slice)
		if err := turn.Pause(t.Context()); err != nil {
			t.Error(err)
		}
	}
	note("end " + user + " " + project)
}

func TestASmallQuestionDoesNotWaitForManyLargeOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue()
		done := make(chan bool, 100)
		for _, heavy := range []string{"eve", "mallory", "trent"} {
			for i := range 40 {
				go func() {
					work(t, q, heavy, fmt.Sprint(i%5), 600, func(string) {})
					done <- true
				}()
			}
		}
		synctest.Wait()
		<-time.After(time.Second)
		for range 10 {
			begin := time.Now()
			work(t, q, "bob", "p", 0, func(string) {})
			if d := time.Since(begin); d > q.Slice {
				t.Errorf("waited %v", d)
			}
		}
		for name, u := range q.users {
			if u.begun > q.Started {
				t.Errorf("%s began %d", name, u.begun)
			}
		}
		for range 120 {
			<-done
		}
		if q.running != 0 || len(q.waiting) != 0 || len(q.users) != 0 {
			t.Errorf("left: %d running, %d waiting, %d users", q.running, len(q.waiting), len(q.users))
		}
	})
}

func TestProjectsOfAUserTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue()
		q.Places = 1
		var order []string
		note := func(s string) { order = append(order, s) }
		first := q.New("eve", "a")
		if err := first.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			go work(t, q, "eve", "a", 0, func(string) { note("a") })
		}
		synctest.Wait()
		go work(t, q, "eve", "b", 0, func(string) { note("b") })
		synctest.Wait()
		first.End()
		synctest.Wait()
		if at := slices.Index(order, "b"); at > 0 {
			t.Errorf("b came after %d others: %v", at, order)
		}
	})
}

func TestTheQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue()
		ctx, cancel := context.WithCancel(t.Context())
		refused := map[bool]int{}
		var mu sync.Mutex
		for u := range 4 {
			for range 53 {
				go func() {
					turn := q.New(fmt.Sprint(u), "p")
					defer turn.End()
					err := turn.Begin(ctx)
					if busy := (*BusyError)(nil); errors.As(err, &busy) {
						mu.Lock()
						refused[busy.Own]++
						mu.Unlock()
					}
					<-ctx.Done()
				}()
			}
			synctest.Wait()
		}
		if refused[true] == 0 || refused[false] == 0 || len(q.waiting) != q.Total {
			t.Errorf("refused %v, %d wait", refused, len(q.waiting))
		}
		cancel()
		synctest.Wait()
		if q.running != 0 || len(q.waiting) != 0 || len(q.users) != 0 {
			t.Errorf("left: %d running, %d waiting, %d users", q.running, len(q.waiting), len(q.users))
		}
	})
}

func TestWhoJoinsBringsHisUrgency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue()
		var all sync.WaitGroup
		defer all.Wait()
		for range 10 {
			all.Go(func() { work(t, q, "eve", "x", 50, func(string) {}) })
		}
		synctest.Wait()
		shared := q.New("eve", "p")
		begun := make(chan time.Time, 1)
		go func() {
			defer shared.End()
			if err := shared.Begin(t.Context()); err != nil {
				t.Error(err)
			}
			begun <- time.Now()
		}()
		synctest.Wait()
		asked := time.Now()
		shared.Join("bob")
		if d := (<-begun).Sub(asked); d > q.Slice {
			t.Errorf("bob waited %v for eve's turn", d)
		}
	})
}
