package driver

import (
	"context"
	"reflect"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Observer is what a driver that can be part of a discovery implements.
type Observer interface {
	Observe(ctx context.Context, sw *switchdriver.Switch) (*discovery.Observation, error)
}

// Standard is the name of the standard-MIB driver.
const Standard = "standard-mib"

// Chooser finds the driver of a switch.
type Chooser struct{ standard switchdriver.Driver }

// NewChooser makes a Chooser; standard serves whatever no other driver does.
func NewChooser(standard switchdriver.Driver) *Chooser { return &Chooser{standard: standard} }

// Choice is a driver and its name.
type Choice struct {
	Name   string
	Driver switchdriver.Driver
}

// Choices returns the drivers of a switch in the order they are asked: its own
// first, the standard one last.
func (c *Chooser) Choices(*switchdriver.Switch) []Choice {
	return []Choice{{Standard, c.standard}}
}

// For returns the operation T of the first driver of a switch that has it, and
// fault.Unsupported when none does.
func For[T any](c *Chooser, sw *switchdriver.Switch) (T, error) {
	for _, choice := range c.Choices(sw) {
		if t, ok := choice.Driver.(T); ok {
			return t, nil
		}
	}
	var none T
	return none, fault.New(fault.Unsupported, "no driver of switch %s (model %q) has a %s",
		mib.MAC(sw.NodeId), sw.Model, reflect.TypeFor[T]().Name())
}
