package driver

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/switchdriver"
)

// Capability is the name under which drivers are found.
const Capability = "switchdriver"

// The times: for one description, before the first try again and at most between two,
// and how long a request at the start waits until the drivers are known.
const (
	describeTime = 5 * time.Second
	retryFirst   = time.Second
	retryMost    = 30 * time.Second
	firstLook    = 5 * time.Second
)

// Switchboard is what leads to the drivers; host.Switchboard is one.
type Switchboard interface {
	host.Watcher
	Dial(provider string) grpc.ClientConnInterface
}

// provider is a driver in another process. It is not changed once it is in the table.
type provider struct {
	host.Provider
	asked uint64 // generation that is asked for its description, or was
	description
}

// description is what a driver says of itself.
type description struct {
	match      *matcher // nil: it has not been described
	about      switchdriver.Match
	operations map[string]bool
	err        error // why it was not described
}

// registry follows the drivers that are installed.
type registry struct {
	board Switchboard
	log   *slog.Logger
	wg    sync.WaitGroup

	mu        sync.Mutex
	providers map[string]*provider
	complete  chan struct{} // closed once all first ones were described, or failed
}

func newRegistry(b Switchboard, log *slog.Logger) *registry {
	r := &registry{
		board:     b,
		log:       log,
		providers: map[string]*provider{},
		complete:  make(chan struct{}),
	}
	if b == nil {
		close(r.complete)
	}
	return r
}

// followProviders follows the switchboard until ctx ends, and waits for what it began.
func (r *registry) followProviders(ctx context.Context) {
	defer r.wg.Wait()
	if r.board != nil {
		host.Follow(ctx, r.board, Capability, r.log, func(list []host.Provider) {
			r.updateProviders(ctx, list)
		})
	}
}

// updateProviders takes the list. Those that are new, or were started again, are asked what they are for;
// until they answer, the description before holds.
func (r *registry) updateProviders(ctx context.Context, list []host.Provider) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := map[string]*provider{}
	for _, p := range list {
		n := &provider{Provider: p}
		if old := r.providers[p.Name]; old != nil {
			n.asked, n.description = old.asked, old.description
		}
		next[p.Name] = n
		if p.Ready && n.asked != p.Generation {
			n.asked = p.Generation
			r.wg.Go(func() { r.describeDriver(ctx, p.Name, p.Generation) })
		}
	}
	for name := range r.providers {
		if next[name] == nil {
			r.log.Info("a switch driver is gone", "driver", name)
		}
	}
	r.providers = next
	r.checkComplete()
}

// checkComplete closes complete when no driver is waited for. r.mu is held.
func (r *registry) checkComplete() {
	for _, p := range r.providers {
		if p.Ready && p.match == nil && p.err == nil {
			return
		}
	}
	select {
	case <-r.complete:
	default:
		close(r.complete)
	}
}

// describeDriver asks a driver until it answers or its process is replaced.
func (r *registry) describeDriver(ctx context.Context, name string, generation uint64) {
	for pause := retryFirst; ctx.Err() == nil; pause = min(2*pause, retryMost) {
		if r.storeDescription(name, generation, r.askDescription(ctx, name)) {
			return
		}
		host.Pause(ctx, pause)
	}
}

func (r *registry) askDescription(ctx context.Context, name string) (d description) {
	ctx, cancel := context.WithTimeout(ctx, describeTime)
	defer cancel()
	var operations []string
	if d.about, operations, d.err = switchdriver.NewClient(r.board.Dial(name)).Describe(ctx); d.err != nil {
		return d
	}
	if d.match, d.err = newMatcher(d.about); d.err != nil {
		d.err = fmt.Errorf("its description is invalid: %w", d.err)
	}
	d.operations = knownOperations(operations)
	return d
}

// storeDescription keeps a description; false: ask again.
func (r *registry) storeDescription(name string, generation uint64, d description) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.providers[name]
	if old == nil || old.Generation != generation {
		return true // gone, or replaced: another one asks
	}
	n := *old
	if n.err = d.err; d.err == nil {
		n.description = d
		r.log.Info(
			"a switch driver is known",
			"driver",
			name,
			"version",
			n.Version,
			"operations",
			slices.Sorted(maps.Keys(d.operations)),
		)
	} else if old.err == nil {
		r.log.Warn("a switch driver does not describe itself", "driver", name, "err", d.err)
	}
	r.providers[name] = &n
	r.checkComplete()
	return d.err == nil
}

// allProviders returns the drivers by name. Soon after the start it waits until they were
// described, or ctx ends.
func (r *registry) allProviders(ctx context.Context) []*provider {
	select {
	case <-r.complete:
	default:
		t := time.NewTimer(firstLook)
		defer t.Stop()
		select {
		case <-r.complete:
		case <-t.C:
		case <-ctx.Done():
		}
	}
	return r.currentProviders()
}

// currentProviders is all without waiting.
func (r *registry) currentProviders() []*provider {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]*provider, 0, len(r.providers))
	for _, name := range slices.Sorted(maps.Keys(r.providers)) {
		out = append(out, r.providers[name])
	}
	return out
}

// providerNamed finds a driver that the switch list asks for.
func providerNamed(all []*provider, name string) (*provider, error) {
	for _, p := range all {
		if p.Name == name {
			if p.match == nil {
				return nil, fault.New(
					fault.Unavailable,
					"the driver %s has not described its operations yet",
					name,
				)
			}
			return p, nil
		}
	}
	return nil, fault.New(
		fault.Unavailable,
		"the switch list names the driver %s, which is not installed",
		name,
	)
}

// Info is a driver for people.
type Info struct {
	Name       string
	Version    string
	State      string   // "ready", or why it is not
	For        []string // what it matches
	Operations []string
}

// Drivers lists the drivers there are, the standard one last.
func (c *Chooser) Drivers() []Info {
	var out []Info
	if f := c.opt.File; f != nil {
		if m := f.Match(); len(m.Models) > 0 {
			out = append(out, Info{
				Name:  VendorFile,
				State: "ready",
				For:   m.Models,
			})
		}
	}
	for _, p := range c.registry.currentProviders() {
		i := Info{
			Name:       p.Name,
			Version:    p.Version,
			State:      "ready",
			Operations: slices.Sorted(maps.Keys(p.operations)),
		}
		i.For = append(i.For, p.about.Models...)
		for _, o := range p.about.SysObjectIDs {
			i.For = append(i.For, "sysObjectID "+o)
		}
		if p.about.SysDescr != "" {
			i.For = append(i.For, "sysDescr /"+p.about.SysDescr+"/")
		}
		for n := range i.For {
			i.For[n] = cleanText(i.For[n])
		}
		switch {
		case p.err != nil:
			i.State = cleanText(p.err.Error())
		case !p.Ready:
			i.State = "not running"
		case p.match == nil:
			i.State = "asked what it is for"
		}
		out = append(out, i)
	}
	own := append(
		switchdriver.Operations(c.opt.Standard),
		"ReadNeighbors",
		"ReadPorts",
	) // these two by Observe
	return append(
		out,
		Info{
			Name:       Standard,
			State:      "ready",
			For:        []string{"all others"},
			Operations: slices.Sorted(slices.Values(own)),
		},
	)
}
