package vendorfile

import (
	"context"
	"maps"
	"slices"

	"ctl.internal/internal/switchcli/hostkeys"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Name is the driver's in records; package driver calls it so.
const Name = "vendor-file"

// Driver does what the file describes. It is safe for concurrent use; who calls it
// sees to it that a switch is changed by one at a time.
type Driver struct {
	source   *Source
	standard *mibdriver.Driver
	keys     *hostkeys.Keys
	// Beyond returns the driver that would serve an operation if nothing were described.
	Beyond func(ctx context.Context, sw *switchdriver.Switch, operation string) (switchdriver.Driver, *switchdriver.Switch, error)
}

// New makes a Driver. standard sends the SETs and reads back; keys are the host keys of
// switches whose command line is reached by SSH.
func New(s *Source, standard *mibdriver.Driver, keys *hostkeys.Keys) *Driver {
	return &Driver{source: s, standard: standard, keys: keys}
}

// File returns the configuration in force.
func (d *Driver) File() *File { return d.source.File() }

// Match is the models that are described.
func (d *Driver) Match() switchdriver.Match {
	return switchdriver.Match{Models: slices.Sorted(maps.Keys(d.source.File().Models))}
}

// Has reports whether an operation is described for a switch.
func (d *Driver) Has(sw *switchdriver.Switch, operation string) bool {
	m := d.source.File().Models[sw.Model]
	if m == nil {
		return false
	}
	for _, f := range m.Functions {
		if slices.Contains(functionsOf(operation), f.Name) {
			return true
		}
	}
	return false
}

// functionsOf are the functions that an operation is made of. All those of access lists
// are one operation, so a model is to describe all or none of them.
func functionsOf(operation string) []string {
	switch operation {
	case "WriteVlan":
		return []string{AddVLANAndSetPort, AddVLAN, SetVLANPort}
	case "DeleteVlan":
		return []string{DeleteVLAN}
	case "ApplyAcl":
		return []string{CreateACLProfile, DeleteACLProfile, ClearACLProfile, SetACLRule, DeleteACLRule}
	case "WriteStp":
		return []string{EnableSTP, DisableSTP, EnableSTPPort, DisableSTPPort}
	}
	return nil
}

// function finds what is described; nil when it is not.
func (d *Driver) function(sw *switchdriver.Switch, name, layer string) (*Model, *Function) {
	m := d.source.File().Models[sw.Model]
	if m == nil {
		return nil, nil
	}
	return m, m.Function(name, layer)
}

// beyond is the next driver's operation, for what is not described.
func beyond[T any](ctx context.Context, d *Driver, sw *switchdriver.Switch, operation, function string) (T, *switchdriver.Switch, error) {
	var none T
	next, known, err := d.Beyond(ctx, sw, operation)
	if err != nil {
		return none, nil, err
	}
	if t, ok := next.(T); ok {
		return t, known, nil
	}
	return none, nil, fault.New(fault.Unsupported, "the vendor-specific configuration has no %s for model %q of switch %s, and no other driver has it", function, sw.Model, switchdriver.Label(sw))
}
