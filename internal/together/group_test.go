package together

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOneQuestionServesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[string]
		var asked atomic.Int64
		answer := make(chan string)
		ask := func(context.Context) (string, error) { asked.Add(1); return <-answer, nil }
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				if got, err := g.Do(t.Context(), "a", ask); got != "yes" || err != nil {
					t.Errorf("%q, %v", got, err)
				}
			})
		}
		all.Go(func() {
			if got, err := g.Do(t.Context(), "b", func(context.Context) (string, error) { return "", errors.New("no") }); got != "" || err == nil {
				t.Errorf("the other key: %q, %v", got, err)
			}
		})
		synctest.Wait()
		answer <- "yes"
		all.Wait()
		if n := asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
		go func() { answer <- "later" }()
		if got, _ := g.Do(t.Context(), "a", ask); got != "later" { // nothing is kept
			t.Errorf("the second question: %q", got)
		}
	})
}

func TestWhoGivesUpHarmsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		var g Group[int]
		var asked, ended atomic.Int64
		answer := make(chan int)
		ask := func(ctx context.Context) (int, error) {
			if ctx.Value(key{}) != "trace" {
				t.Error("the values of the first caller are lost")
			}
			asked.Add(1)
			select {
			case n := <-answer:
				return n, nil
			case <-ctx.Done():
				ended.Add(1)
				return 0, ctx.Err()
			}
		}
		first, giveUp := context.WithCancel(context.WithValue(t.Context(), key{}, "trace"))
		got := make(chan string, 2)
		go func() { n, err := g.Do(first, "a", ask); got <- fmt.Sprint(n, err) }()
		synctest.Wait()
		second, alsoGiveUp := context.WithCancel(context.WithValue(t.Context(), key{}, "trace"))
		defer alsoGiveUp()
		go func() { n, err := g.Do(second, "a", ask); got <- fmt.Sprint(n, err) }()
		synctest.Wait()
		giveUp() // he who asked first
		if s := <-got; s != "0 context canceled" {
			t.Errorf("who gave up got %s", s)
		}
		synctest.Wait()
		if ended.Load() != 0 {
			t.Fatal("the question ended while somebody waited")
		}
		answer <- 7
		if s := <-got; s != "7 <nil>" {
			t.Errorf("who stayed got %s", s)
		}

		// When nobody waits, the question ends; the next caller is not given its end.
		go func() { n, err := g.Do(second, "a", ask); got <- fmt.Sprint(n, err) }()
		synctest.Wait()
		alsoGiveUp()
		<-got
		third := context.WithValue(t.Context(), key{}, "trace")
		go func() { n, err := g.Do(third, "a", ask); got <- fmt.Sprint(n, err) }()
		synctest.Wait()
		answer <- 8
		if s := <-got; s != "8 <nil>" || ended.Load() != 1 || asked.Load() != 3 {
			t.Errorf("the next caller got %s; %d ended, %d asked", s, ended.Load(), asked.Load())
		}
		if _, err := g.Do(second, "a", ask); !errors.Is(err, context.Canceled) || asked.Load() != 3 {
			t.Errorf("one who had given up before: %v, %d asked", err, asked.Load())
		}
	})
}

// A panic ends the requests that wait, not the process.
func TestAPanicReachesTheCallers(t *testing.T) {
	var g Group[int]
	defer func() {
		if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "oops") {
			t.Errorf("recovered %v", v)
		}
	}()
	_, err := g.Do(t.Context(), "a", func(context.Context) (int, error) { panic("oops") })
	t.Errorf("no panic, but %v", err)
}
