package drivers

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"ctl.internal/internal/together"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// Registry is the drivers there are. It is safe for concurrent use.
type Registry struct {
	sb *host.Switchboard
	// event gets what a driver says of a router.
	event func(driver string, e *bierdriver.Event)
	// changed is called when a driver came, went or started again.
	changed func()

	group   sync.WaitGroup
	listed  chan struct{} // closed with the first list
	first   sync.Once
	mu      sync.Mutex
	drivers map[string]*driver
	chosen  map[string]choice // by node-id
}

// driver is a plugin.
type driver struct {
	host.Provider
	client *bierdriver.Client
	about  *bierdriver.Description // nil until it was asked
	line   *line
}

// choice is the driver that was chosen for a router as it was reached then.
type choice struct {
	driver     string
	generation uint64
	router     *bierdriver.Router
}

// New returns a registry; nothing happens before Follow.
func New(
	sb *host.Switchboard,
	event func(driver string, e *bierdriver.Event),
	changed func(),
) *Registry {
	return &Registry{
		sb:      sb,
		event:   event,
		changed: changed,
		listed:  make(chan struct{}),
		drivers: map[string]*driver{},
		chosen:  map[string]choice{},
	}
}

// Follow follows the plugins until ctx ends.
func (b *Registry) Follow(ctx context.Context) {
	defer b.group.Wait()
	host.Follow(ctx, b.sb, "bierdriver", slog.Default(), func(p []host.Provider) {
		b.updateDrivers(ctx, p)
	})
}

func (b *Registry) updateDrivers(ctx context.Context, providers []host.Provider) {
	b.mu.Lock()
	listed := map[string]bool{}
	for _, p := range providers {
		listed[p.Name] = true
		d := b.drivers[p.Name]
		if d == nil {
			d = &driver{client: bierdriver.NewClient(b.sb.Dial(p.Name))}
			d.line = newLine(p.Name, d.client, b.event)
			c, cancel := context.WithCancel(ctx)
			d.line.cancel = cancel
			b.drivers[p.Name] = d
			b.group.Go(func() { d.line.runWatch(c) })
		}
		if d.Generation != p.Generation {
			d.about = nil
			together.Notify(d.line.wake)
		}
		d.Provider = p
	}
	for name, d := range b.drivers {
		if !listed[name] {
			d.line.cancel()
			delete(b.drivers, name)
		}
	}
	b.first.Do(func() { close(b.listed) })
	b.mu.Unlock()
	b.changed()
}

// WaitListed waits until the drivers that are installed are known, or ctx ends.
func (b *Registry) WaitListed(ctx context.Context) {
	select {
	case <-b.listed:
	case <-ctx.Done():
	}
}

// Described is a driver and what it says of itself.
type Described struct {
	host.Provider
	About bierdriver.Description
	Err   error
}

// List asks all drivers what they are for.
func (b *Registry) List(ctx context.Context) []Described {
	b.mu.Lock()
	var out []Described
	all := maps.Clone(b.drivers)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, Described{Provider: all[name].Provider}) // as it is now; update changes that of the driver
	}
	b.mu.Unlock()
	for i := range out {
		out[i].About, out[i].Err = b.describeDriver(ctx, all[out[i].Name])
	}
	return out
}

// describeDriver asks a driver once each generation.
func (b *Registry) describeDriver(ctx context.Context, d *driver) (bierdriver.Description, error) {
	b.mu.Lock()
	about, generation := d.about, d.Generation
	b.mu.Unlock()
	if about != nil {
		return *about, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	got, err := d.client.Describe(ctx)
	if err != nil {
		return got, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	got.Name = d.Name // whatever it calls itself
	if d.Generation == generation {
		d.about = &got
	}
	return got, nil
}

// WantsMembers says whether a driver is to be given Config.Members.
func (b *Registry) WantsMembers(ctx context.Context, name string) (bool, error) {
	b.mu.Lock()
	d := b.drivers[name]
	b.mu.Unlock()
	if d == nil {
		return false, fault.New(fault.Unavailable, "the driver %s has been removed", name)
	}
	about, err := b.describeDriver(ctx, d)
	return about.Members, err
}

// Lacks are the abilities that a driver's routers are known not to have, by commas, as far
// as the driver was asked already.
func (b *Registry) Lacks(name string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := b.drivers[name]; d != nil && d.about != nil {
		return strings.Join(d.about.Lacks, ",")
	}
	return ""
}

// Choose returns the driver for a router and has it watch the router. capabilities
// are those the router announced last. The choice is kept until the router is
// reached otherwise or the driver started again. A fault.Unsupported says that no
// driver is for the router; anything else may be different later.
func (b *Registry) Choose(
	ctx context.Context,
	r *bierdriver.Router,
	capabilities []string,
) (string, *bierdriver.Client, error) {
	b.mu.Lock()
	if c, ok := b.chosen[r.NodeId]; ok {
		same := c.router.Host == r.Host && c.router.Port == r.Port && c.router.Driver == r.Driver
		d := b.drivers[c.driver]
		if d != nil && d.Generation == c.generation && same {
			d.line.putRouter(r)
			b.mu.Unlock()
			return c.driver, d.client, nil // the driver's own fields change when the lock is free
		}
	}
	b.mu.Unlock()
	name, err := b.pickDriver(ctx, r, capabilities)
	if err != nil {
		return name, nil, err
	}
	_, _ = b.WantsMembers(ctx, name) // what its routers lack is known from here on; trouble shows when it is called
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.drivers[name]
	if d == nil {
		return name, nil, fault.New(fault.Unavailable, "the driver %s has been removed", name)
	}
	if b.chosen[r.NodeId].driver != name {
		b.forgetRouter(r.NodeId)
	}
	b.chosen[r.NodeId] = choice{name, d.Generation, r}
	d.line.putRouter(r)
	return name, d.client, nil
}

// ForgetAll ends the watches of all routers.
func (b *Registry) ForgetAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for node := range b.chosen {
		b.forgetRouter(node)
	}
}

// Forget ends the watch of a router.
func (b *Registry) Forget(node string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forgetRouter(node)
}

func (b *Registry) forgetRouter(node string) {
	if d := b.drivers[b.chosen[node].driver]; d != nil {
		d.line.removeRouter(node)
	}
	delete(b.chosen, node)
}

func (b *Registry) pickDriver(
	ctx context.Context,
	r *bierdriver.Router,
	capabilities []string,
) (string, error) {
	if r.Driver != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.drivers[r.Driver] == nil {
			return r.Driver, fault.New(
				fault.Unavailable,
				"the driver %s, chosen for router %s, is not installed; %s",
				r.Driver,
				r.NodeId,
				installHint(r.Driver),
			)
		}
		return r.Driver, nil
	}
	all := b.List(ctx)
	if len(all) == 0 {
		return "", fault.New(
			fault.Unavailable,
			"no driver is installed; %s",
			installHint("bier-driver-ietf"),
		)
	}
	var about []bierdriver.Description
	var reasons []string
	lost := false
	for _, d := range all {
		if d.Err != nil {
			lost = true
			reasons = append(reasons, fmt.Sprintf("%s: %v", d.Name, d.Err))
			continue
		}
		about = append(about, d.About)
	}
	for _, d := range rankDrivers(about, capabilities) {
		p, err := bierdriver.NewClient(b.sb.Dial(d.Name)).Probe(ctx, r)
		switch {
		case err != nil:
			lost = true
			reasons = append(reasons, fmt.Sprintf("%s: %v", d.Name, err))
		case p.Supported:
			return d.Name, nil
		default:
			lost = lost || !p.Reached
			reasons = append(reasons, fmt.Sprintf("%s: %s", d.Name, p.Reason))
		}
	}
	kind := fault.Unsupported
	if lost {
		kind = fault.Unavailable
	}
	if len(reasons) == 0 {
		reasons = []string{"the drivers there are must be chosen by name"}
	}
	for _, name := range []string{"bier-driver-ietf", "bier-driver-cli"} {
		if !slices.ContainsFunc(all, func(d Described) bool { return d.Name == name }) {
			reasons = append(
				reasons,
				fmt.Sprintf("%s is not installed, %s", name, installHint(name)),
			)
		}
	}
	return "", fault.Device(
		kind,
		"no driver reaches router %s: %s",
		r.NodeId,
		strings.Join(reasons, "; "),
	)
}

// Client is a driver by its name. It need not be the one that the router is watched by.
func (b *Registry) Client(name string) (*bierdriver.Client, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := b.drivers[name]; d != nil {
		return d.client, nil
	}
	if name == "" {
		return nil, fault.New(fault.Unavailable, "no driver was chosen for the router yet")
	}
	return nil, fault.New(
		fault.Unavailable,
		"the driver %s is not installed; %s",
		name,
		installHint(name),
	)
}

// installHint says how a driver that is not installed is had.
func installHint(driver string) string {
	switch driver {
	case "bier-driver-ietf":
		return "feature:install ctl-bier-driver brings it"
	case "bier-driver-cli":
		return "feature:install ctl-bier-driver-cli brings it"
	}
	return "install the feature that has this plugin (feature:list)"
}

// Unused says why there is no session to a router that nothing was asked of.
func (b *Registry) Unused(driver string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case len(b.drivers) == 0:
		return "no driver is installed; " + installHint("bier-driver-ietf")
	case driver != "" && b.drivers[driver] == nil:
		return "the driver " + driver + " is not installed; " + installHint(driver)
	}
	return "no channel needs it: a session is opened when one is deployed on it"
}

// rankDrivers orders drivers by how well they fit what a router announces: first those
// that name the longest beginning of one of its capabilities, then by priority,
// then by name. Drivers that only the operator chooses are left out.
func rankDrivers(all []bierdriver.Description, capabilities []string) []bierdriver.Description {
	out := slices.DeleteFunc(slices.Clone(all), func(d bierdriver.Description) bool {
		return !d.Probes
	})
	slices.SortFunc(out, func(a, b bierdriver.Description) int {
		return cmp.Or(
			cmp.Compare(capabilityFit(b, capabilities), capabilityFit(a, capabilities)),
			cmp.Compare(b.Priority, a.Priority),
			strings.Compare(a.Name, b.Name),
		)
	})
	return out
}

func capabilityFit(d bierdriver.Description, capabilities []string) int {
	best := 0
	for _, want := range d.Capabilities {
		if len(want) > best &&
			slices.ContainsFunc(capabilities, func(c string) bool {
				return strings.HasPrefix(c, want)
			}) {
			best = len(want)
		}
	}
	return best
}
