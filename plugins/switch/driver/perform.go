package driver

import (
	"context"
	"errors"
	"strings"

	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Perform has the driver of a switch that has an operation carry it out.
func (c *Chooser) Perform(
	ctx context.Context,
	sw *switchdriver.Switch,
	o *writes.Operation,
) (lines []string, err error) {
	choice, sw, err := c.Find(ctx, sw, o.Name())
	if err != nil {
		return nil, err
	}
	return choice.Perform(ctx, sw, o)
}

// maxReport bounds the lines that a driver may report.
const maxReport = 100

// carryOut has a driver carry an operation out, and returns the lines that it reports.
func carryOut(
	ctx context.Context,
	d switchdriver.Driver,
	sw *switchdriver.Switch,
	o *writes.Operation,
) (lines []string, err error) {
	answer, err := switchdriver.Do(ctx, d, sw, o.Request)
	if a, ok := answer.(*pluginv1.ApplySettingsResponse); ok {
		lines = a.Report[:min(len(a.Report), maxReport)]
	}
	return lines, err
}

// performStandard carries an operation out by the standard driver.
func (c *Chooser) performStandard(
	ctx context.Context,
	sw *switchdriver.Switch,
	o *writes.Operation,
) ([]string, error) {
	return carryOut(ctx, c.opt.Standard, sw, o)
}

// performOperation has the plugin carry an operation out and reads the result back. What is noted before it, who
// makes the change and what a VLAN was, is what a repair needs: the steps of a plugin are not known. When
// the driver does not say whether the change was made, it is to be repaired.
func (g *checked) performOperation(
	ctx context.Context,
	sw *switchdriver.Switch,
	o *writes.Operation,
) (lines []string, err error) {
	if err := g.samePorts(ctx, sw, o.Ports); err != nil {
		return nil, err
	}
	settings, _ := o.Request.(*switchdriver.Settings)
	if !settings.GetDryRun() {
		plan := writes.Plan{Driver: g.name}
		d, _ := g.readerFor(o)("ReadVlans")
		r, ok := d.(switchdriver.VLANReader)
		if ok && o.VLAN() != 0 {
			if plan.Before, err = switchdriver.FindVLAN(ctx, r, sw, o.VLAN()); err != nil {
				return nil, err
			}
		}
		if plan.Port, err = g.portBefore(ctx, sw, o); err != nil {
			return nil, err
		}
		if err := writes.Begin(ctx, plan); err != nil {
			return nil, err
		}
		defer func() {
			k := fault.KindOf(err)
			if err != nil &&
				(k == fault.Timeout || k == fault.Unavailable || k == fault.Internal || o.Bounces() && k == fault.Downstream) {
				writes.Keep(ctx)
			}
		}()
	}
	if lines, err = carryOut(ctx, g, sw, o); err != nil {
		return lines, err
	}
	differs, err := writes.ReadBack(ctx, func() (string, error) {
		return g.differenceShown(ctx, sw, o)
	})
	switch {
	case errors.Is(err, &fault.Error{Kind: fault.Unsupported}): // nothing can read it: the driver's word counts
		return lines, nil
	case err == nil && differs != "":
		if o.VLAN() != 0 { // half of it may be done, and what was before is known
			writes.Keep(ctx)
		}
		err = fault.Device(
			fault.Downstream,
			"the driver %s reports that the change of switch %s was made, but the switch shows %s",
			g.name,
			switchdriver.Label(sw),
			differs,
		)
	}
	return lines, err
}

// samePorts refuses ports that the caller named, if the driver calls them otherwise now.
func (g *checked) samePorts(
	ctx context.Context,
	sw *switchdriver.Switch,
	named map[uint32]string,
) error {
	if len(named) == 0 || !g.has["ReadPorts"] {
		return nil
	}
	ports, err := g.ReadPorts(ctx, sw)
	if err != nil {
		return err
	}
	var l fault.List
	for _, p := range ports {
		name, ok := named[p.Number]
		if ok && p.Name != "" && !strings.EqualFold(p.Name, name) {
			l = append(l, fault.Device(fault.InUse, "the ports of switch %s have changed places since they were read: port %s was number %d, which is %s now; nothing was sent; read the switch again with switch:TopoDiscover",
				switchdriver.Label(sw), name, p.Number, cleanText(p.Name)))
		}
	}
	return l.Err()
}

// differenceShown says how the switch does not show a change; empty if it does. What no driver
// can read is fault.Unsupported.
func (g *checked) differenceShown(
	ctx context.Context,
	sw *switchdriver.Switch,
	o *writes.Operation,
) (string, error) {
	return switchdriver.Shown(ctx, sw, o.Request, g.readerFor(o))
}

// readerFor returns what reads an operation's result: the driver itself, else the standard one.
func (g *checked) readerFor(o *writes.Operation) func(operation string) (switchdriver.Driver, error) {
	return func(operation string) (switchdriver.Driver, error) {
		stp, ok := o.Request.(*pluginv1.WriteStpRequest)
		switch {
		case g.has[operation]:
			return g, nil
		case ok && stp.Port == 0:
			return nil, fault.New(
				fault.Unsupported,
				"only the driver knows the state of the whole switch",
			)
		}
		return g.c.opt.Standard, nil
	}
}
