package reconcile

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/bierdriver"
)

// device is a router that refuses changes with some channels in them, and counts what it lost on the way.
type device struct {
	mu      sync.Mutex
	has     *bierdriver.Config
	refuses map[string]bool // groups
	all     bool            // refuses every change
	keep    []string        // groups that must never be lost
	lost    []string
	changes int
	states  map[string]*bier.Status
	changed chan struct{}
}

func (d *device) options() Options {
	return Options{Parallel: 4, Repair: true, RetryMin: time.Millisecond, RetryMax: time.Millisecond, Timeout: time.Minute,
		Target: func(node string) *bierdriver.Router { return &bierdriver.Router{NodeId: node, Host: "x"} },
		Apply:  d.apply,
		Read: func(context.Context, *bierdriver.Router) *bierdriver.Config {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.has
		},
		Release: func(context.Context, string) error { return nil },
		Drift:   func(string, bool) {},
		Report:  func(string, string) {},
		Status: func(node string, s *bier.Status) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.states[node] = s
			select {
			case d.changed <- struct{}{}:
			default:
			}
		}}
}

func (d *device) apply(_ context.Context, _ *bierdriver.Router, want *Desired, dryRun bool) (*bierdriver.Result, string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	groups := func(c *bierdriver.Config) (out []string) {
		for _, x := range c.Channels {
			out = append(out, x.GroupAddress)
		}
		return out
	}
	out := &bierdriver.Result{State: bierdriver.Applied}
	if dryRun || proto.Equal(d.has, want.Config) {
		return out, "driver", nil
	}
	had := groups(d.has)
	if d.all || slices.ContainsFunc(groups(want.Config), func(g string) bool { return d.refuses[g] && !slices.Contains(had, g) }) {
		return &bierdriver.Result{State: bierdriver.Failed, Reason: "refused"}, "driver", nil
	}
	d.changes++
	d.has = want.Config
	for _, g := range d.keep {
		if slices.Contains(had, g) && !slices.Contains(groups(d.has), g) {
			d.lost = append(d.lost, g)
		}
	}
	return out, "driver", nil
}

func group(i int) string { return fmt.Sprintf("232.0.0.%d", i) }

// channelsOf is what a router must hold with these channels.
func channelsOf(list []int) map[string]*Desired {
	d := &Desired{Config: &bierdriver.Config{Global: &bierdriver.Global{BfrId: 1}}, Hash: fmt.Sprint(list)}
	for _, i := range list {
		d.Config.Channels = append(d.Config.Channels, &bierdriver.Channel{SourceAddress: "10.0.0.1", GroupAddress: group(i), Role: bierdriver.Ingress})
		d.Channels = append(d.Channels, fmt.Sprint("t c", i))
	}
	return map[string]*Desired{"a": d}
}

// Whatever channels a router refuses, it gets all others, loses none of those on the way, and what is no
// longer wanted goes; when it refuses none any more it gets all.
func TestARouterGetsAllThatItDoesNotRefuse(t *testing.T) {
	for seed := range int64(30) {
		r := rand.New(rand.NewSource(seed))
		d := &device{has: &bierdriver.Config{}, refuses: map[string]bool{}, states: map[string]*bier.Status{}, changed: make(chan struct{}, 1)}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		e := New(ctx, d.options(), nil, nil)
		wait := func(what string, ok func(s *bier.Status) bool) {
			t.Helper()
			for {
				d.mu.Lock()
				s := d.states["a"]
				done := s != nil && ok(s)
				d.mu.Unlock()
				if done {
					return
				}
				select {
				case <-d.changed:
				case <-ctx.Done():
					t.Fatalf("seed %d: never: %s: %+v", seed, what, s)
				}
			}
		}
		begin := r.Perm(50)[:20]
		slices.Sort(begin)
		e.Want(channelsOf(begin), nil, 1)
		wait("the first are there", func(s *bier.Status) bool { return s.State == bier.Applied && s.Answered == 1 })
		d.mu.Lock()
		for range 1 + r.Intn(4) {
			d.refuses[group(r.Intn(50))] = true
		}
		d.mu.Unlock()
		next := r.Perm(50)[:40]
		slices.Sort(next)
		var want, aside []string
		d.mu.Lock()
		for _, i := range next {
			held := slices.Contains(begin, i)
			if held {
				d.keep = append(d.keep, group(i))
			}
			if d.refuses[group(i)] && !held {
				aside = append(aside, fmt.Sprint("t c", i))
			} else {
				want = append(want, group(i))
			}
		}
		d.mu.Unlock()
		e.Want(channelsOf(next), nil, 2)
		wait("all others are there", func(s *bier.Status) bool {
			var refused []string
			for _, a := range s.Aside {
				if a.Reason != "refused" {
					t.Errorf("seed %d: %+v", seed, a)
				}
				refused = append(refused, a.Channels...)
			}
			slices.Sort(aside)
			return s.State == bier.Applied && s.Answered == 2 && slices.Equal(refused, aside)
		})
		d.mu.Lock()
		var has []string
		for _, c := range d.has.Channels {
			has = append(has, c.GroupAddress)
		}
		if strings.Join(has, " ") != strings.Join(want, " ") || len(d.lost) > 0 {
			t.Errorf("seed %d: the router has %v, want %v; it lost %v on the way", seed, has, want, d.lost)
		}
		d.refuses = nil
		d.mu.Unlock()
		wait("it gets the rest when it takes it", func(s *bier.Status) bool {
			return s.State == bier.Applied && len(s.Aside) == 0 && len(d.has.Channels) == 40
		})
		stop()
		e.Wait()
	}
}

// A router that refuses all, its own configuration, too, has failed, and no channel is at fault.
func TestARouterThatRefusesAll(t *testing.T) {
	d := &device{has: &bierdriver.Config{}, all: true, states: map[string]*bier.Status{}, changed: make(chan struct{}, 1)}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	e := New(ctx, d.options(), nil, nil)
	defer func() { stop(); e.Wait() }()
	e.Want(channelsOf([]int{1, 2}), nil, 1)
	for {
		d.mu.Lock()
		s := d.states["a"]
		d.mu.Unlock()
		if s != nil && s.State == bier.Failed {
			if s.Reason != "refused" || len(s.Aside) > 0 {
				t.Errorf("%+v", s)
			}
			return
		}
		select {
		case <-d.changed:
		case <-ctx.Done():
			t.Fatalf("never: %+v", s)
		}
	}
}
