// Package driver chooses what controls a switch: what the vendor-specific file
// describes for its model, the vendor's driver (a plugin, reached through the
// switchboard), and the standard-MIB driver for the rest. It carries out operations
// on switches, reads the results back, and repairs operations that were interrupted.
//
// registry.go follows the plugins, checked.go checks what they answer, chooser.go chooses,
// perform.go carries out, sdn.go applies the settings for SDN.
package driver

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// StandardDriver is the driver of standard MIBs, with what it does beside the operations of the contract that it has.
type StandardDriver interface {
	switchdriver.Driver
	Pager
	// Observe asks a switch what a discovery needs.
	Observe(ctx context.Context, sw *switchdriver.Switch) (*discovery.Observation, error)
	// Identify asks a switch what it is.
	Identify(ctx context.Context, sw *switchdriver.Switch) (sysObjectID, sysDescr string, err error)
	// Recover repairs a change whose steps were noted.
	Recover(ctx context.Context, sw *switchdriver.Switch, steps []writes.Step) (writes.Outcome, string, error)
	// Undo takes back a change whose steps were noted, and says what it left.
	Undo(ctx context.Context, sw *switchdriver.Switch, u writes.Undoing) (lines []string, err error)
	// ReadInventory reads what a switch is made of; none: it does not say.
	ReadInventory(ctx context.Context, sw *switchdriver.Switch) ([]Component, error)
	ReadCounters(ctx context.Context, sw *switchdriver.Switch) (Counters, error)
}

// Described is the driver of what the vendor-specific file describes.
type Described interface {
	switchdriver.Driver
	// Has reports whether an operation is described for a switch.
	Has(sw *switchdriver.Switch, operation string) bool
	// Perform carries an operation out, as far as it is described; what is not, the next driver does.
	Perform(ctx context.Context, sw *switchdriver.Switch, o *writes.Operation) ([]string, error)
}

// The names of drivers that are not plugins.
const (
	Standard   = "standard-mib"
	VendorFile = "vendor-file"
)

// Options of a Chooser.
type Options struct {
	Standard StandardDriver // serves whatever no other driver does
	File     Described      // nil: there is no vendor-specific file
	Board    Switchboard    // nil: no driver plugins
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
	return &Chooser{
		opt:      o,
		registry: newRegistry(o.Board, o.Log),
		identity: map[uint64]identity{},
	}
}

// Run follows the driver plugins until ctx ends.
func (c *Chooser) Run(ctx context.Context) {
	c.registry.followProviders(ctx)
}

// Choice is a driver of a switch.
type Choice struct {
	Name   string
	Driver switchdriver.Driver
	// Has reports whether the driver has an operation of the contract, "WriteVlan".
	Has func(operation string) bool
	// Perform carries an operation out that the driver has.
	Perform func(ctx context.Context, sw *switchdriver.Switch, o *writes.Operation) ([]string, error)
}

// Choices returns the drivers of a switch in the order they are asked: its own first,
// the standard one last. It does not ask the switch what it is: see Of.
func (c *Chooser) Choices(sw *switchdriver.Switch) []Choice {
	choices, _ := c.listChoices(c.registry.currentProviders(), c.withIdentity(sw))
	return choices
}

// Of is Choices for a call: a switch of which nothing is known yet is asked what it
// is, if a driver wants to know. It returns the switch as drivers get it.
func (c *Chooser) Of(
	ctx context.Context,
	sw *switchdriver.Switch,
) ([]Choice, *switchdriver.Switch, error) {
	all := c.registry.allProviders(ctx)
	sw = c.withIdentity(sw)
	if sw.SysObjectId == "" && c.needsIdentity(all, sw) {
		if oid, descr, err := c.opt.Standard.Identify(ctx, sw); err == nil {
			c.Remember(sw.NodeId, oid, descr)
			sw = c.withIdentity(sw)
		}
	}
	choices, err := c.listChoices(all, sw)
	return choices, sw, err
}

// needsIdentity reports whether sysObjectID or sysDescr could change the choice.
func (c *Chooser) needsIdentity(all []*provider, sw *switchdriver.Switch) bool {
	if c.listedDriver(sw) != "" || sw.GetSnmp() == nil {
		return false
	}
	if _, why := bestProvider(all, sw); why == WhyModel {
		return false
	}
	for _, p := range all {
		if p.match != nil && p.match.usesIdentity() {
			return true
		}
	}
	return false
}

func (c *Chooser) listedDriver(sw *switchdriver.Switch) string {
	if c.opt.Listed == nil {
		return ""
	}
	return c.opt.Listed(sw.NodeId)
}

// listChoices fails when the driver that the list asks for is not there: another one must
// not take its place.
func (c *Chooser) listChoices(all []*provider, sw *switchdriver.Switch) (out []Choice, err error) {
	if f := c.opt.File; f != nil {
		has := func(operation string) bool { return f.Has(sw, operation) }
		if slices.ContainsFunc(switchdriver.Operations(switchdriver.NewClient(nil)), has) {
			out = append(out, Choice{VendorFile, f, has, f.Perform})
		}
	}
	p, _ := bestProvider(all, sw)
	if name := c.listedDriver(sw); name != "" {
		if p = nil; name != Standard {
			p, err = providerNamed(all, name)
		}
	}
	if p != nil {
		d := newChecked(p, c)
		out = append(
			out,
			Choice{p.Name, d, func(o string) bool {
				return d.has[o]
			}, d.performOperation},
		)
	}
	own := switchdriver.Operations(c.opt.Standard)
	has := func(operation string) bool { return slices.Contains(own, operation) }
	return append(out, Choice{Standard, c.opt.Standard, has, c.performStandard}), err
}

// withIdentity returns a switch with what it said of itself.
func (c *Chooser) withIdentity(sw *switchdriver.Switch) *switchdriver.Switch {
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
	maps.DeleteFunc(c.identity, func(node uint64, _ identity) bool {
		return !listed(node)
	})
}

// Find returns the first driver of a switch that has an operation, and the switch as that driver gets
// it. It fails with fault.Unsupported when none has it.
func (c *Chooser) Find(
	ctx context.Context,
	sw *switchdriver.Switch,
	operation string,
) (Choice, *switchdriver.Switch, error) {
	return c.findChoice(ctx, sw, operation, false)
}

// Next is Find for what the vendor-specific file does not describe.
func (c *Chooser) Next(
	ctx context.Context,
	sw *switchdriver.Switch,
	operation string,
) (Choice, *switchdriver.Switch, error) {
	return c.findChoice(ctx, sw, operation, true)
}

func (c *Chooser) findChoice(
	ctx context.Context,
	sw *switchdriver.Switch,
	operation string,
	besidesFile bool,
) (Choice, *switchdriver.Switch, error) {
	choices, sw, err := c.Of(ctx, sw)
	if err != nil {
		return Choice{}, nil, err
	}
	for _, choice := range choices {
		if choice.Has(operation) && !(besidesFile && choice.Name == VendorFile) {
			return choice, sw, nil
		}
	}
	return Choice{}, nil, fault.New(fault.Unsupported, "no driver of switch %s (model %q) has the operation %s; switch:drivers lists the drivers; install the feature of another driver",
		mib.MAC(sw.NodeId), sw.Model, operation)
}

// For is Find for an operation that reads, as T.
func For[T any](
	ctx context.Context,
	c *Chooser,
	sw *switchdriver.Switch,
	operation string,
) (t T, known *switchdriver.Switch, err error) {
	choice, known, err := c.Find(ctx, sw, operation)
	if err != nil {
		return t, nil, err
	}
	return choice.Driver.(T), known, nil
}

// Observe asks a switch what a discovery needs: by its own driver if that reads ports,
// else by the standard one.
func (c *Chooser) Observe(
	ctx context.Context,
	sw *switchdriver.Switch,
) (*discovery.Observation, error) {
	choices, known, err := c.Of(ctx, sw)
	if err != nil {
		return &discovery.Observation{
			Node:  mib.MAC(sw.NodeId),
			Model: sw.Model,
		}, err
	}
	for _, choice := range choices {
		g, ok := choice.Driver.(*checked)
		if ok && choice.Has("ReadPorts") {
			return g.observeSwitch(ctx, known)
		}
	}
	o, err := c.opt.Standard.Observe(ctx, known)
	if o != nil {
		c.Remember(sw.NodeId, o.SysOID, o.SysDesc)
	}
	return o, err
}
