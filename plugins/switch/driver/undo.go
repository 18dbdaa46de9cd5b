package driver

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Undo takes back a change. The standard driver does it by the steps that were noted; another driver is asked to make
// what was before, and that request becomes the request of the operation.
func (c *Chooser) Undo(
	ctx context.Context,
	sw *switchdriver.Switch,
	o *writes.Operation,
	u writes.Undoing,
) (lines []string, err error) {
	o.Ports = u.Record.Operation.Ports // for the undo of the undo, too
	if u.Record.Driver == "" {
		return c.opt.Standard.Undo(ctx, c.withIdentity(sw), u)
	}
	choices, sw, err := c.Of(ctx, sw)
	if err != nil {
		return nil, err
	}
	for _, choice := range choices {
		if choice.Name != u.Record.Driver {
			continue
		}
		by := readerOf(choices)
		if g, ok := choice.Driver.(*checked); ok {
			by = g.readerFor(&u.Record.Operation)
		}
		i := inverse{sw: sw, u: u, by: by}
		if o.Request, err = i.request(ctx); err != nil {
			return nil, err
		}
		if o.Request == nil {
			return []string{writes.NothingShows}, nil
		}
		if len(i.left) > 0 {
			writes.Leave(ctx)
		}
		lines, err = choice.Perform(ctx, sw, o)
		return append(lines, i.left...), err
	}
	return nil, fault.New(
		fault.Unavailable,
		"the driver %s, which made the change %s, is not there now",
		u.Record.Driver,
		u.Record.ID,
	)
}

// portBefore is what a port was before its settings are changed; nil: the driver cannot say.
func (g *checked) portBefore(
	ctx context.Context,
	sw *switchdriver.Switch,
	o *writes.Operation,
) (*switchdriver.PortSettings, error) {
	r, ok := o.Request.(*pluginv1.WritePortSettingsRequest)
	if !ok || r.Bounce > 0 || !g.has["ReadPortSettings"] {
		return nil, nil
	}
	return readPort(ctx, g, sw, r.Settings.GetPort())
}

// readPort reads the settings of one port; nil: the driver has no such port.
func readPort(
	ctx context.Context,
	d switchdriver.PortSettingsReader,
	sw *switchdriver.Switch,
	port uint32,
) (*switchdriver.PortSettings, error) {
	all, _, err := d.ReadPortSettings(ctx, sw, port)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if p.Port == port {
			return p, nil
		}
	}
	return nil, nil
}

// inverse finds the request that takes back a change of a driver whose steps are not known.
type inverse struct {
	sw   *switchdriver.Switch
	u    writes.Undoing
	by   func(operation string) (switchdriver.Driver, error)
	left []string // what stays as it is, because it was changed since
}

// request is that for what shows of the change; nil: nothing does.
func (i *inverse) request(ctx context.Context) (proto.Message, error) {
	switch r := i.u.Record.Operation.Request.(type) {
	case *pluginv1.WritePortSettingsRequest:
		return i.portRequest(ctx, r.Settings)
	case *pluginv1.WriteVlanRequest:
		return i.vlanRequest(ctx, r.Vlan, r.Create, r.SetPorts)
	case *pluginv1.DeleteVlanRequest:
		return i.vlanRequest(ctx, nil, false, true)
	}
	return nil, fault.New(
		fault.Unsupported,
		"%s of the driver %s cannot be taken back",
		i.u.Record.What(),
		i.u.Record.Driver,
	)
}

// changedSince is the fault of a change of which nothing can be taken back without force.
func (i *inverse) changedSince(what string) error {
	return fault.At(
		fault.InUse,
		"force",
		"nothing of operation %s is taken back, because it was changed since: the switch shows %s; force overwrites that",
		i.u.Record.ID,
		what,
	)
}

// vlanRequest takes back the change of a VLAN; want is what the change asked for, nil: no such VLAN.
func (i *inverse) vlanRequest(
	ctx context.Context,
	want *switchdriver.VLAN,
	created, setPorts bool,
) (proto.Message, error) {
	d, err := i.by("ReadVlans")
	if err != nil {
		return nil, err
	}
	id, before := i.u.Record.Operation.VLAN(), i.u.Record.Before
	if want == nil && before == nil { // what was removed was not there
		return nil, nil
	}
	created = created || before == nil                                            // a driver may make a VLAN that is to be set
	now, err := switchdriver.FindVLAN(ctx, d.(switchdriver.VLANReader), i.sw, id) // only readers are returned for it
	if err != nil {
		return nil, err
	}
	changed := ""
	if want != nil && now != nil && (created || setPorts) {
		changed = switchdriver.PortsDiffer(want, now)
	}
	switch {
	case created && now == nil, before != nil && now != nil && switchdriver.PortsDiffer(before, now) == "":
		return nil, nil
	case want == nil && now != nil && !i.u.Force:
		return nil, i.changedSince(fmt.Sprintf("VLAN %d, which was made again", id))
	case want != nil && now == nil && !i.u.Force:
		return nil, i.changedSince(fmt.Sprintf("no VLAN %d", id))
	case changed != "" && created && !i.u.Force:
		return nil, i.changedSince(changed)
	case created:
		return &pluginv1.DeleteVlanRequest{VlanId: id}, nil
	}
	back := before
	if now != nil && want != nil && !i.u.Force {
		back = mergeVLAN(before, want, now)
	}
	return &pluginv1.WriteVlanRequest{Vlan: back, Create: now == nil, SetPorts: true}, nil
}

// mergeVLAN gives the ports that a change touched what they were before; all others stay as they are now.
func mergeVLAN(before, want, now *switchdriver.VLAN) *switchdriver.VLAN {
	out := proto.CloneOf(now)
	out.EgressPorts = mergePorts(
		before.EgressPorts,
		slices.Concat(want.EgressPorts, want.UntaggedPorts),
		now.EgressPorts,
	)
	out.UntaggedPorts = mergePorts(before.UntaggedPorts, want.UntaggedPorts, now.UntaggedPorts)
	return out
}

func mergePorts(before, want, now []uint32) (out []uint32) {
	for _, p := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(before, now)))) {
		is := slices.Contains(now, p)
		if slices.Contains(before, p) != slices.Contains(want, p) {
			is = slices.Contains(before, p)
		}
		if is {
			out = append(out, p)
		}
	}
	return out
}

// portRequest takes back the settings of a port, one by one.
func (i *inverse) portRequest(
	ctx context.Context,
	want *switchdriver.PortSettings,
) (proto.Message, error) {
	d, err := i.by("ReadPortSettings")
	if err != nil {
		return nil, err
	}
	reader, ok := d.(switchdriver.PortSettingsReader)
	if !ok {
		return nil, fault.New(fault.Unsupported, lookAtIt)
	}
	now, err := readPort(ctx, reader, i.sw, want.GetPort())
	if err != nil || now == nil {
		return nil, err
	}
	before := i.u.Record.Port
	back := &switchdriver.PortSettings{Port: want.GetPort()}
	restoreSetting(i, "state", &back.Up, before.Up, want.Up, now.Up)
	restoreSetting(i, "description", &back.Description, before.Description, want.Description, now.Description)
	restoreSetting(i, "power", &back.Power, before.Power, want.Power, now.Power)
	restoreSetting(i, "power priority", &back.PowerPriority, before.PowerPriority, want.PowerPriority, now.PowerPriority)
	restoreSetting(i, "power limit", &back.PowerLimit, before.PowerLimit, want.PowerLimit, now.PowerLimit)
	restoreSetting(i, "speed", &back.Speed, before.Speed, want.Speed, now.Speed)
	restoreSetting(i, "duplex", &back.Duplex, before.Duplex, want.Duplex, now.Duplex)
	if switchdriver.SettingsDiffer(back, now) != "" {
		return &pluginv1.WritePortSettingsRequest{Settings: back}, nil
	}
	if len(i.left) > 0 {
		return nil, i.changedSince(i.left[0])
	}
	return nil, nil
}

// restoreSetting gives a setting what it was before, unless it was not changed, or not as the change left it.
func restoreSetting[T comparable](i *inverse, name string, back **T, before, want, now *T) {
	switch {
	case want == nil, before == nil, now == nil, *now == *before:
	case *now == *want, i.u.Force:
		*back = before
	default:
		i.left = append(i.left, fmt.Sprintf("left as it is: %s %v, changed since", name, *now))
	}
}
