// Package gate lets no more than so many pass at the same time, for each key of
// its own: requests to one switch, or writers of one switch.
package gate

import (
	"context"
	"sync"
)

// Gate counts those inside for each key. Keys nobody uses cost nothing.
type Gate[K comparable] struct {
	width int
	mu    sync.Mutex
	doors map[K]*door
}

type door struct {
	tokens chan struct{}
	users  int
}

// New makes a Gate that lets width pass for each key.
func New[K comparable](width int) *Gate[K] {
	return &Gate[K]{width: width, doors: map[K]*door{}}
}

// Enter waits for its turn; leave must be called once. It fails with the error of
// ctx when that ends first.
func (g *Gate[K]) Enter(ctx context.Context, k K) (leave func(), err error) {
	g.mu.Lock()
	d := g.doors[k]
	if d == nil {
		d = &door{tokens: make(chan struct{}, g.width)}
		g.doors[k] = d
	}
	d.users++
	g.mu.Unlock()
	drop := func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if d.users--; d.users == 0 {
			delete(g.doors, k)
		}
	}
	select {
	case d.tokens <- struct{}{}:
		return func() { <-d.tokens; drop() }, nil
	case <-ctx.Done():
		drop()
		return nil, ctx.Err()
	}
}
