package clones

import (
	"context"
	"sync"
)

// gates let any number of readers into a project, or one who removes objects.
// Fetching needs no gate: it adds objects, and moves all references at once.
type gates struct {
	mu   sync.Mutex
	open map[string]*gate
}

type gate struct {
	readers int
	closed  bool
	changed chan struct{}
}

func (g *gates) get(project string) *gate {
	if g.open == nil {
		g.open = map[string]*gate{}
	}
	p := g.open[project]
	if p == nil {
		p = &gate{changed: make(chan struct{})}
		g.open[project] = p
	}
	return p
}

func (g *gates) read(ctx context.Context, project string) (release func(), err error) {
	return g.enter(ctx, project, func(p *gate) bool {
		if p.closed {
			return false
		}
		p.readers++
		return true
	}, func(p *gate) { p.readers-- })
}

// write waits until nobody reads. Readers that come meanwhile go first: who
// removes objects has time.
func (g *gates) write(ctx context.Context, project string) (release func(), err error) {
	return g.enter(ctx, project, func(p *gate) bool {
		if p.closed || p.readers > 0 {
			return false
		}
		p.closed = true
		return true
	}, func(p *gate) { p.closed = false })
}

func (g *gates) enter(ctx context.Context, project string, try func(*gate) bool, leave func(*gate)) (func(), error) {
	for {
		g.mu.Lock()
		p := g.get(project)
		if try(p) {
			g.mu.Unlock()
			return sync.OnceFunc(func() {
				g.mu.Lock()
				defer g.mu.Unlock()
				leave(p)
				close(p.changed)
				p.changed = make(chan struct{})
				if p.readers == 0 && !p.closed {
					delete(g.open, project)
				}
			}), nil
		}
		changed := p.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
