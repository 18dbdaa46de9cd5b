package sources

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"ctl.internal/sdk/host"
	"ctl.internal/sdk/topology"
)

// pause is how long a source that failed is left alone.
const pause = time.Second

// Follow watches the plugins that are sources until ctx ends. earlier are the sources that
// there were before.
func (m *Merge) Follow(ctx context.Context, sb *host.Switchboard, earlier []string) {
	f := &follower{
		m:       m,
		sb:      sb,
		running: map[string]*following{},
		earlier: earlier,
	}
	defer f.group.Wait()
	defer f.stop()
	host.Follow(ctx, sb, "topology", slog.Default(), func(p []host.Provider) {
		f.updateWatches(ctx, p)
	})
}

type follower struct {
	m       *Merge
	sb      *host.Switchboard
	running map[string]*following
	earlier []string
	group   sync.WaitGroup
}

type following struct {
	cancel     context.CancelFunc
	generation uint64
}

func (f *follower) stop() {
	for _, r := range f.running {
		r.cancel()
	}
}

// updateWatches starts and ends watches. A source that is being restarted keeps what it
// reported last; one that is not installed any more loses it.
func (f *follower) updateWatches(ctx context.Context, providers []host.Provider) {
	listed := map[string]bool{}
	for _, p := range providers {
		listed[p.Name] = true
		r := f.running[p.Name]
		if r != nil && (r.generation == p.Generation || !p.Ready) {
			continue
		}
		if r != nil {
			r.cancel()
		}
		c, cancel := context.WithCancel(ctx)
		f.running[p.Name] = &following{cancel, p.Generation}
		f.group.Go(func() { f.followSource(c, p.Name) })
	}
	for name, r := range f.running {
		if !listed[name] {
			r.cancel()
			delete(f.running, name)
			f.m.Drop(name)
		}
	}
	for _, name := range f.earlier {
		if !listed[name] {
			f.m.Drop(name)
		}
	}
	f.earlier = nil
}

func (f *follower) followSource(ctx context.Context, name string) {
	for ctx.Err() == nil {
		first := map[string]bool{}
		synced := false
		err := topology.NewClient(f.sb.Dial(name)).Watch(ctx, nil, func(c topology.Change) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if !synced {
				first[c.TopologyID] = true
			}
			f.m.Change(name, c)
			return nil
		}, func() { synced = true; f.m.Keep(name, first) })
		if ctx.Err() == nil {
			slog.Debug("a topology source ended; trying again", "source", name, "err", err)
			host.Pause(ctx, pause)
		}
	}
}
