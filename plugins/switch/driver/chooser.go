package driver

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Observer is what a driver that can be part of a discovery implements.
type Observer interface {
	Observe(ctx context.Context, sw *switchdriver.Switch) (*discovery.Observation, error)
}

// Identifier is what a driver implements that can ask a switch what it is.
type Identifier interface {
	Identify(ctx context.Context, sw *switchdriver.Switch) (sysObjectID, sysDescr string, err error)
}

// Recoverer is what a driver implements that knows the steps of its changes.
type Recoverer interface {
	Recover(ctx context.Context, sw *switchdriver.Switch, steps []writes.Step) (writes.Outcome, string, error)
}

// Described is the driver of what the vendor-specific file describes.
type Described interface {
	switchdriver.Driver
	// Has reports whether an operation is described for a switch.
	Has(sw *switchdriver.Switch, operation string) bool
}

// The names of drivers that are not plugins.
const (
	Standard   = "standard-mib"
	VendorFile = "vendor-file"
)

// Options of a Chooser.
type Options struct {
	Standard switchdriver.Driver // serves whatever no other driver does
	File     Described           // nil: there is no vendor-specific file
	Board    Switchboard         // nil: there are no driver plugins
	// Listed returns the driver that the switch list asks for; nil: it asks for none.
	Listed   func(node uint64) string
	Deadline time.Duration // for one call of a driver plugin; 0: 25 s
	Log      *slog.Logger
}

// Chooser finds the drivers of a switch. It is safe for concurrent use.
type Chooser struct {
	opt      Options
	registry *registry

	mu       sync.Mutex
	identity map[uint64]identity
}

type identity struct{ objectID, descr string }

// New makes a Chooser; Run lets it follow the driver plugins.
func New(o Options) *Chooser {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Deadline == 0 {
		o.Deadline = 25 * time.Second
	}
	return &Chooser{opt: o, registry: newRegistry(o.Board, o.Log), identity: map[uint64]identity{}}
}

// NewChooser makes a Chooser with nothing but the standard driver.
func NewChooser(standard switchdriver.Driver) *Chooser { return New(Options{Standard: standard}) }

// Run follows the driver plugins until ctx ends.
func (c *Chooser) Run(ctx context.Context) { c.registry.run(ctx) }

// Choice is a driver of a switch.
type Choice struct {
	Name   string
	Why    Why // it was chosen; WhyNot for those every switch has
	Driver switchdriver.Driver
	has    func(operation string) bool
}

// Has reports whether the driver has an operation of the contract, "WriteVlan".
func (c Choice) Has(operation string) bool { return c.has(operation) }

// Choices returns the drivers of a switch in the order they are asked: its own first,
// the standard one last. It does not ask the switch what it is: see Of.
func (c *Chooser) Choices(sw *switchdriver.Switch) []Choice {
	choices, _ := c.choices(c.registry.now(), c.known(sw))
	return choices
}

// Of is Choices for a call: a switch of which nothing is known yet is asked what it
// is, if a driver wants to know. It returns the switch as drivers get it.
func (c *Chooser) Of(ctx context.Context, sw *switchdriver.Switch) ([]Choice, *switchdriver.Switch, error) {
	all := c.registry.all(ctx)
	sw = c.known(sw)
	if sw.SysObjectId == "" && c.needsIdentity(all, sw) {
		if id, ok := c.opt.Standard.(Identifier); ok {
			if oid, descr, err := id.Identify(ctx, sw); err == nil {
				c.Remember(sw.NodeId, oid, descr)
				sw = c.known(sw)
			}
		}
	}
	choices, err := c.choices(all, sw)
	return choices, sw, err
}

// needsIdentity reports whether sysObjectID or sysDescr could change the choice.
func (c *Chooser) needsIdentity(all []*provider, sw *switchdriver.Switch) bool {
	if c.listed(sw) != "" || sw.GetSnmp() == nil {
		return false
	}
	if _, why := best(all, sw); why == WhyModel {
		return false
	}
	for _, p := range all {
		if p.match != nil && p.match.identifies() {
			return true
		}
	}
	return false
}

func (c *Chooser) listed(sw *switchdriver.Switch) string {
	if c.opt.Listed == nil {
		return ""
	}
	return c.opt.Listed(sw.NodeId)
}

// choices fails when the driver that the list asks for is not there: another one must
// not take its place.
func (c *Chooser) choices(all []*provider, sw *switchdriver.Switch) (out []Choice, err error) {
	if f := c.opt.File; f != nil {
		has := func(operation string) bool { return f.Has(sw, operation) }
		for o := range known(allOperations()) {
			if has(o) {
				out = append(out, Choice{VendorFile, WhyModel, f, has})
				break
			}
		}
	}
	p, why := best(all, sw)
	if name := c.listed(sw); name != "" {
		if p = nil; name != Standard {
			why = WhyListed
			p, err = named(all, name)
		}
	}
	if p != nil {
		ops := p.operations
		out = append(out, Choice{p.Name, why, newGuard(p, c), func(o string) bool { return ops[o] }})
	}
	own := map[string]bool{}
	for _, o := range switchdriver.Operations(c.opt.Standard) {
		own[o] = true
	}
	return append(out, Choice{Standard, WhyNot, c.opt.Standard, func(o string) bool { return own[o] }}), err
}

// known returns a switch with what it said of itself.
func (c *Chooser) known(sw *switchdriver.Switch) *switchdriver.Switch {
	c.mu.Lock()
	id, ok := c.identity[sw.NodeId]
	c.mu.Unlock()
	if !ok {
		return sw
	}
	out := proto.CloneOf(sw)
	out.SysObjectId, out.SysDescr = id.objectID, id.descr
	return out
}

// Remember keeps what a switch said of itself (sysObjectID, sysDescr).
func (c *Chooser) Remember(node uint64, objectID, descr string) {
	if objectID == "" && descr == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.identity[node] = identity{objectID, descr}
}

// Forget drops what was remembered of switches that are not listed any more.
func (c *Chooser) Forget(listed func(node uint64) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n := range c.identity {
		if !listed(n) {
			delete(c.identity, n)
		}
	}
}

// For returns the first driver of a switch that has an operation, as T, and the switch
// as that driver gets it. It fails with fault.Unsupported when none has it.
func For[T any](ctx context.Context, c *Chooser, sw *switchdriver.Switch, operation string) (T, *switchdriver.Switch, error) {
	var none T
	choices, sw, err := c.Of(ctx, sw)
	if err != nil {
		return none, nil, err
	}
	for _, choice := range choices {
		if t, ok := choice.Driver.(T); ok && choice.Has(operation) {
			return t, sw, nil
		}
	}
	return none, nil, fault.New(fault.Unsupported, "no driver of switch %s (model %q) has the operation %s; switch:drivers shows those there are, a feature installs another",
		mib.MAC(sw.NodeId), sw.Model, operation)
}

// Beyond returns the driver that serves an operation of a switch besides what the
// vendor-specific file describes.
func (c *Chooser) Beyond(ctx context.Context, sw *switchdriver.Switch, operation string) (switchdriver.Driver, *switchdriver.Switch, error) {
	choices, sw, err := c.Of(ctx, sw)
	if err != nil {
		return nil, nil, err
	}
	for _, choice := range choices {
		if choice.Name != VendorFile && choice.Has(operation) {
			return choice.Driver, sw, nil
		}
	}
	return nil, nil, fault.New(fault.Unsupported, "no driver of switch %s (model %q) has the operation %s; switch:drivers shows those there are, a feature installs another", mib.MAC(sw.NodeId), sw.Model, operation)
}

// Observe asks a switch what a discovery needs: by its own driver if that reads ports,
// else by the standard one.
func (c *Chooser) Observe(ctx context.Context, sw *switchdriver.Switch) (*discovery.Observation, error) {
	choices, known, err := c.Of(ctx, sw)
	if err != nil {
		return &discovery.Observation{Node: mib.MAC(sw.NodeId), Model: sw.Model}, err
	}
	for _, choice := range choices {
		if g, ok := choice.Driver.(*guard); ok && choice.Has("ReadPorts") {
			return g.observe(ctx, known)
		}
	}
	standard, ok := c.opt.Standard.(Observer)
	if !ok {
		return nil, fault.New(fault.Unsupported, "switch %s cannot be observed", mib.MAC(sw.NodeId))
	}
	o, err := standard.Observe(ctx, known)
	if o != nil {
		c.Remember(sw.NodeId, o.SysOID, o.SysDesc)
	}
	return o, err
}
