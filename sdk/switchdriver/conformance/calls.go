package conformance

import (
	"context"
	"slices"
	"strings"

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

// call is one call of an operation, with good values.
type call func(ctx context.Context, sw *switchdriver.Switch) error

// goodRequests are good ones of all operations. They may fail because what they name is not
// there; never because they are wrong.
func (k *kit) goodRequests() []proto.Message {
	return []proto.Message{
		&pluginv1.ReadVlansRequest{},
		&pluginv1.WriteVlanRequest{
			Vlan: &switchdriver.VLAN{
				VlanId: vlanA,
				Name:   "kit",
			},
			Create: true,
		},
		&pluginv1.DeleteVlanRequest{VlanId: vlanA},
		&pluginv1.ReadFdbRequest{},
		&pluginv1.WriteFdbEntryRequest{Entry: &switchdriver.FDBEntry{
			VlanId: vlanA,
			Mac:    station,
			Port:   k.Ports[0],
			Type:   switchdriver.FDBMgmt,
		}},
		&pluginv1.DeleteFdbEntryRequest{
			VlanId: vlanA,
			Mac:    station,
		},
		&pluginv1.ReadPortsRequest{},
		&pluginv1.ReadNeighborsRequest{},
		&pluginv1.ReadStpRequest{},
		&pluginv1.WriteStpRequest{Enable: true},
		&pluginv1.ReadArpRequest{},
		&pluginv1.WriteArpEntryRequest{Entry: &switchdriver.ARPEntry{
			IpAddress: "192.0.2.77",
			Mac:       station,
		}},
		&pluginv1.DeleteArpEntryRequest{IpAddress: "192.0.2.77"},
		&pluginv1.ApplyAclRequest{
			Action:  switchdriver.ACLDeleteProfile,
			Profile: &switchdriver.ACLProfile{ProfileId: 200},
		},
		&pluginv1.ReadAclRequest{},
		&switchdriver.Settings{DisableStp: true, DryRun: true},
		&pluginv1.ReadPortSettingsRequest{},
		&pluginv1.WritePortSettingsRequest{Settings: &switchdriver.PortSettings{
			Port: k.Ports[0],
			Up:   new(true),
		}},
	}
}

// callOf makes the call of a request.
func (k *kit) callOf(request proto.Message) call {
	return func(ctx context.Context, sw *switchdriver.Switch) error {
		_, err := switchdriver.Do(ctx, k.client, sw, request)
		return err
	}
}

// forEachOperation runs f for every announced operation, in the order of their names.
func (k *kit) forEachOperation(f func(operation string, do call)) {
	byName := func(a, b proto.Message) int {
		return strings.Compare(switchdriver.NameOf(a), switchdriver.NameOf(b))
	}
	for _, r := range slices.SortedFunc(slices.Values(k.goodRequests()), byName) {
		if o := switchdriver.NameOf(r); k.hasOperation(o) {
			f(o, k.callOf(r))
		}
	}
}

// checkPossibleAnswers checks that no answer is one that cannot be true.
func checkPossibleAnswers(k *kit) {
	for _, r := range k.goodRequests() {
		o := switchdriver.NameOf(r)
		if k.hasOperation(o) && strings.HasPrefix(o, "Read") {
			answer, err := switchdriver.Do(k.testContext(), k.client, k.Switch, r)
			k.mustSucceed(o, err)
			if err := switchdriver.CheckAnswer(r, answer); err != nil {
				k.t.Errorf("%s answers what cannot be: %v", o, err)
			}
		}
	}
}

// changedSwitch is the peer's switch with something changed.
func (k *kit) changedSwitch(f func(*switchdriver.Switch)) *switchdriver.Switch {
	sw := proto.CloneOf(k.Switch)
	f(sw)
	return sw
}

func checkAnnouncedOperations(k *kit) {
	requests := k.goodRequests()
	for _, o := range switchdriver.Operations(k.client) {
		i := slices.IndexFunc(requests, func(r proto.Message) bool {
			return switchdriver.NameOf(r) == o
		})
		if i < 0 {
			k.t.Fatalf("the kit has no request of %s", o)
		}
		err := k.callOf(requests[i])(k.testContext(), k.Switch)
		kind := fault.Internal
		if err != nil {
			kind = fault.KindOf(err)
		}
		switch {
		case !k.hasOperation(o):
			k.checkRefused("an operation that is not announced, "+o, err, fault.Unsupported)
		case err != nil && kind != fault.NotFound && kind != fault.Exists && kind != fault.Invalid:
			// Invalid: an entry for a VLAN or subnet that this switch does not have.
			k.t.Errorf("%s is announced, but a call with good values fails: %v (%v)", o, err, kind)
		case err == nil:
			k.checkShown(o, requests[i])
		}
	}
}

// checkShown checks that the switch shows what was done, where the driver reads it.
func (k *kit) checkShown(what string, request proto.Message) {
	k.t.Helper()
	differs, err := switchdriver.Shown(k.testContext(), k.Switch, request, func(operation string) (switchdriver.Driver, error) {
		if !k.hasOperation(operation) {
			return nil, fault.New(fault.Unsupported, "the driver does not have %s", operation)
		}
		return k.client, nil
	})
	kind := fault.KindOf(err)
	if err != nil && kind != fault.Unsupported || differs != "" {
		k.t.Errorf("after %s the driver shows %s (%v)", what, differs, err)
	}
}

func noSwitch(k *kit) {
	k.forEachOperation(func(o string, do call) {
		defer k.sendsNothing(o + " without a switch")()
		k.checkRefused(o+" without a switch", do(k.testContext(), nil), bad...)
		k.checkRefused(o+" of a switch without an address", do(
			k.testContext(),
			k.changedSwitch(func(sw *pluginv1.Switch) { sw.Address = "" }),
		), bad...)
		k.checkRefused(o+" of a switch at no address", do(
			k.testContext(),
			k.changedSwitch(func(sw *pluginv1.Switch) {
				sw.Address = "192.0.2.1\nreboot"
			}),
		), bad...)
	})
}
