// Package drivers is the adapter: which plugins configure routers, which of them
// is for a router, and what they report of their routers.
package drivers

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/together"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/host"
)

// line is the stream of what one driver reports of its routers. It is opened again
// when it ends.
type line struct {
	name   string
	client *bierdriver.Client
	event  func(driver string, e *bierdriver.Event)
	cancel context.CancelFunc
	wake   chan struct{}

	mu   sync.Mutex
	want map[string]*bierdriver.Router
}

func newLine(name string, c *bierdriver.Client, event func(string, *bierdriver.Event)) *line {
	return &line{
		name:   name,
		client: c,
		event:  event,
		wake:   make(chan struct{}, 1),
		want:   map[string]*bierdriver.Router{},
	}
}

func (l *line) putRouter(r *bierdriver.Router) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !proto.Equal(l.want[r.NodeId], r) {
		l.want[r.NodeId] = r
		together.Notify(l.wake)
	}
}

func (l *line) removeRouter(node string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.want, node)
	together.Notify(l.wake)
}

func (l *line) runWatch(ctx context.Context) {
	for ctx.Err() == nil {
		if !l.hasRouters() {
			select {
			case <-ctx.Done():
			case <-l.wake:
			}
			continue
		}
		err := l.watchRouters(ctx)
		if ctx.Err() != nil {
			return
		}
		slog.Debug("the watch of routers ended; opening it again", "driver", l.name, "err", err)
		l.reportDriverLost(err)
		host.Pause(ctx, time.Second)
	}
}

func (l *line) hasRouters() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.want) > 0
}

// reportDriverLost reports that nothing is known of the routers now.
func (l *line) reportDriverLost(err error) {
	l.mu.Lock()
	nodes := slices.Collect(maps.Keys(l.want))
	l.mu.Unlock()
	reason := "the driver " + l.name + " is gone"
	if err != nil {
		reason += ": " + err.Error()
	}
	for _, node := range nodes {
		l.event(
			l.name,
			&bierdriver.Event{
				NodeId: node,
				Session: &bierdriver.Session{
					State:  bierdriver.Down,
					Reason: reason,
				},
			},
		)
	}
}

// watchRouters keeps one stream until it ends.
func (l *line) watchRouters(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := l.client.Watch(ctx)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		for {
			e, err := w.Next()
			if err != nil {
				ended <- err
				return
			}
			l.event(l.name, e)
		}
	}()
	sent := map[string]*bierdriver.Router{}
	for {
		put, remove := l.unsentRouters(sent)
		if len(put)+len(remove) > 0 {
			if err := w.Set(put, remove); err != nil {
				return <-ended
			}
		}
		select {
		case err := <-ended:
			return err
		case <-l.wake:
		}
	}
}

// unsentRouters returns what the driver was not sent yet.
func (l *line) unsentRouters(sent map[string]*bierdriver.Router) (put []*bierdriver.Router, remove []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for node, r := range l.want {
		if !proto.Equal(sent[node], r) {
			sent[node] = r
			put = append(put, r)
		}
	}
	for node := range sent {
		if l.want[node] == nil {
			delete(sent, node)
			remove = append(remove, node)
		}
	}
	return put, remove
}

// NewSession is what is kept of a driver's report.
func NewSession(s *bierdriver.Session) *bier.Session {
	since := time.Now()
	if s.Since != nil {
		since = s.Since.AsTime()
	}
	return &bier.Session{
		State:   strings.ToLower(strings.TrimPrefix(s.State.String(), "STATE_")),
		Reason:  s.Reason,
		Dialect: s.Dialect,
		Since:   since.UTC().Truncate(time.Millisecond),
		Lacks:   strings.Join(s.Lacks, ","),
	}
}
