package switchdriver_test

import (
	"context"
	"fmt"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// acme drives switches of one vendor. It can read VLANs, and nothing else: an operation is a method.
type acme struct{}

func (acme) Match() switchdriver.Match {
	return switchdriver.Match{SysObjectIDs: []string{"1.3.6.1.4.1.99999.1"}}
}

func (acme) ReadVLANs(_ context.Context, sw *switchdriver.Switch) ([]*switchdriver.VLAN, error) {
	if err := switchdriver.CheckSwitch(sw); err != nil {
		return nil, err
	}
	if sw.Address != "192.0.2.7" { // here the switch would be asked
		return nil, fault.Device(fault.Timeout, "%s gave no answer within 5 s", switchdriver.Label(sw))
	}
	return []*switchdriver.VLAN{{VlanId: 1, Name: "default"}}, nil
}

// A plugin returns a Driver in sdk.Plugin.SwitchDriver. Package conformance tests it against a switch.
func Example() {
	var d switchdriver.Driver = acme{}
	fmt.Println(switchdriver.Operations(d))

	read := d.(switchdriver.VLANReader)
	vlans, err := read.ReadVLANs(context.Background(), &switchdriver.Switch{NodeId: 1, Address: "192.0.2.7"})
	fmt.Println(vlans[0].VlanId, vlans[0].Name, err)
	_, err = read.ReadVLANs(context.Background(), &switchdriver.Switch{NodeId: 2, Address: "192.0.2.8"})
	fmt.Println(fault.KindOf(err), err)
	// Output:
	// [ReadVlans]
	// 1 default <nil>
	// timeout 00:00:00:00:00:02 (192.0.2.8) gave no answer within 5 s
}
