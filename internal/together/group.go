// Package together lets one question serve all who ask the same at the same time.
// What was answered before is not kept: that is for caches. Signal wakes all who wait for a change.
package together

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/singleflight"
)

// Group asks the questions of one kind, each named by a key. Its zero value is ready,
// it is safe for use by many.
type Group[T any] struct {
	calls singleflight.Group

	mu  sync.Mutex
	now map[string]*crowd
}

// crowd are the callers who wait for one question.
type crowd struct {
	ctx    context.Context // ends when the last of them has left
	cancel context.CancelFunc
	size   int
}

// Do returns what ask answers, asked once for all callers who have the same key at the
// same time; they share the answer, so it must not be changed. A caller that cancels gets the
// error of his context and leaves the others waiting; ask's context has the values of
// the caller who came first, no deadline, and is canceled when no caller waits any more.
func (g *Group[T]) Do(
	ctx context.Context,
	key string,
	ask func(context.Context) (T, error),
) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	c := g.enterCrowd(ctx, key)
	defer g.leaveCrowd(key, c)
	select {
	case r := <-g.calls.DoChan(key, func() (any, error) {
		return withRecover(c.ctx, ask)
	}):
		if p := (*panicked)(nil); errors.As(r.Err, &p) {
			panic(p.Error())
		}
		answer, _ := r.Val.(T)
		return answer, r.Err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// panicked carries a panic to the callers, who have somebody to recover them.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string {
	return fmt.Sprintf("%v\n%s", p.value, p.stack)
}

func withRecover[T any](
	ctx context.Context,
	ask func(context.Context) (T, error),
) (answer T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, debug.Stack()}
		}
	}()
	return ask(ctx)
}

func (g *Group[T]) enterCrowd(ctx context.Context, key string) *crowd {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.now[key]
	if c == nil {
		c = &crowd{}
		c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
		if g.now == nil {
			g.now = map[string]*crowd{}
		}
		g.now[key] = c
	}
	c.size++
	return c
}

// leaveCrowd ends the question with its last caller: whoever comes then asks again.
func (g *Group[T]) leaveCrowd(key string, c *crowd) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.size--; c.size == 0 {
		c.cancel()
		delete(g.now, key)
		g.calls.Forget(key)
	}
}
