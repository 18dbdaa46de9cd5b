package conformance

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// The ids that the kit uses; a peer's switch has none of them.
const (
	vlanA = 3001
	vlanB = 3002
)

// station is an address that no peer has.
const station uint64 = 0x02_00_5e_00_53_01

// call is one call of every operation, with good values.
type call func(ctx context.Context, sw *switchdriver.Switch) error

// calls makes the calls by operation. They may fail because what they name is not
// there; never because they are wrong.
func (k *kit) calls() map[string]call {
	c := k.client
	return map[string]call{
		"ReadVlans": func(ctx context.Context, sw *switchdriver.Switch) error { _, err := c.ReadVLANs(ctx, sw); return err },
		"WriteVlan": func(ctx context.Context, sw *switchdriver.Switch) error {
			_, err := c.WriteVLAN(ctx, sw, &switchdriver.VLAN{VlanId: vlanA, Name: "kit"}, true, false)
			return err
		},
		"DeleteVlan": func(ctx context.Context, sw *switchdriver.Switch) error { return c.DeleteVLAN(ctx, sw, vlanA) },
		"ReadFdb": func(ctx context.Context, sw *switchdriver.Switch) error {
			_, err := c.ReadFDB(ctx, sw, 0, 0)
			return err
		},
		"WriteFdbEntry": func(ctx context.Context, sw *switchdriver.Switch) error {
			return c.WriteFDBEntry(ctx, sw, &switchdriver.FDBEntry{VlanId: vlanA, Mac: station, Port: k.Ports[0], Type: switchdriver.FDBMgmt})
		},
		"DeleteFdbEntry": func(ctx context.Context, sw *switchdriver.Switch) error {
			return c.DeleteFDBEntry(ctx, sw, vlanA, station)
		},
		"ReadPorts": func(ctx context.Context, sw *switchdriver.Switch) error { _, err := c.ReadPorts(ctx, sw); return err },
		"ReadNeighbors": func(ctx context.Context, sw *switchdriver.Switch) error {
			_, err := c.ReadNeighbors(ctx, sw)
			return err
		},
		"ReadStp": func(ctx context.Context, sw *switchdriver.Switch) error {
			_, _, err := c.ReadSTP(ctx, sw, 0)
			return err
		},
		"WriteStp": func(ctx context.Context, sw *switchdriver.Switch) error { return c.WriteSTP(ctx, sw, 0, true) },
		"ReadArp":  func(ctx context.Context, sw *switchdriver.Switch) error { _, err := c.ReadARP(ctx, sw, ""); return err },
		"WriteArpEntry": func(ctx context.Context, sw *switchdriver.Switch) error {
			return c.WriteARPEntry(ctx, sw, &switchdriver.ARPEntry{IpAddress: "192.0.2.77", Mac: station}, 0)
		},
		"DeleteArpEntry": func(ctx context.Context, sw *switchdriver.Switch) error {
			return c.DeleteARPEntry(ctx, sw, "192.0.2.77")
		},
		"ApplyAcl": func(ctx context.Context, sw *switchdriver.Switch) error {
			return c.ApplyACL(ctx, sw, switchdriver.ACLDeleteProfile, &switchdriver.ACLProfile{ProfileId: 200}, nil)
		},
		"ReadAcl": func(ctx context.Context, sw *switchdriver.Switch) error { _, err := c.ReadACL(ctx, sw); return err },
		"ApplySettings": func(ctx context.Context, sw *switchdriver.Switch) error {
			_, err := c.ApplySettings(ctx, &switchdriver.Settings{Switch: sw, DisableStp: true, DryRun: true})
			return err
		},
	}
}

// each runs f for every announced operation, in a fixed order.
func (k *kit) each(f func(operation string, do call)) {
	all := k.calls()
	for _, o := range slices.Sorted(maps.Keys(all)) {
		if k.has(o) {
			f(o, all[o])
		}
	}
}

// other is the peer's switch with something changed.
func (k *kit) other(f func(*switchdriver.Switch)) *switchdriver.Switch {
	sw := proto.CloneOf(k.Switch)
	f(sw)
	return sw
}

func announces(k *kit) {
	all, _ := known()
	for _, o := range all {
		do, ok := k.calls()[o]
		if !ok {
			k.t.Fatalf("the kit has no call of %s", o)
		}
		err := do(k.ctx(), k.Switch)
		kind := fault.Internal
		if err != nil {
			kind = fault.KindOf(err)
		}
		switch {
		case !k.has(o):
			k.refused("an operation that is not announced, "+o, err, fault.Unsupported)
		case err != nil && kind != fault.NotFound && kind != fault.Exists && kind != fault.Invalid:
			// Invalid: an entry for a VLAN or subnet that this switch does not have.
			k.t.Errorf("%s is announced, but a call with good values fails: %v (%v)", o, err, kind)
		}
	}
}

func noSwitch(k *kit) {
	k.each(func(o string, do call) {
		before := len(k.sent())
		k.refused(o+" without a switch", do(k.ctx(), nil), bad...)
		k.refused(o+" of a switch without an address", do(k.ctx(), k.other(func(sw *pluginv1.Switch) { sw.Address = "" })), bad...)
		k.refused(o+" of a switch at no address", do(k.ctx(), k.other(func(sw *pluginv1.Switch) { sw.Address = "192.0.2.1\nreboot" })), bad...)
		if after := k.sent(); len(after) != before {
			k.t.Errorf("%s without a switch sent %q", o, after[before:])
		}
	})
}
