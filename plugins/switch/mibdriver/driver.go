// Package mibdriver is the driver for every switch that has no better one: it uses
// the standard MIBs only, over SNMP. It implements the interfaces of
// sdk/switchdriver for VLANs, forwarding tables, spanning tree, ARP and what is set at
// ports; ports and neighbours are read by Observe.
//
// Which driver a switch gets is package driver's business. What a VLAN change
// consists of is decided in plan.go, without input or output; the rest fetches,
// sends and reads back.
package mibdriver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"

	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Driver controls switches by the standard MIBs. It is safe for concurrent use, but
// whoever calls it sees to it that a switch is changed by one at a time.
type Driver struct{ snmp *snmp.Client }

// The capabilities.
var (
	_ switchdriver.VLANReader = (*Driver)(nil)
	_ switchdriver.VLANWriter = (*Driver)(nil)
	_ switchdriver.FDBReader  = (*Driver)(nil)
	_ switchdriver.FDBWriter  = (*Driver)(nil)
	_ switchdriver.STPReader  = (*Driver)(nil)
	_ switchdriver.STPWriter  = (*Driver)(nil)
	_ switchdriver.ARPReader  = (*Driver)(nil)
	_ switchdriver.ARPWriter  = (*Driver)(nil)

	_ switchdriver.PortSettingsReader = (*Driver)(nil)
	_ switchdriver.PortSettingsWriter = (*Driver)(nil)
	_ switchdriver.PortBouncer        = (*Driver)(nil)
)

// New makes a Driver that speaks through c.
func New(c *snmp.Client) *Driver { return &Driver{c} }

// Match is empty: the driver is for switches no other driver is for.
func (d *Driver) Match() switchdriver.Match {
	return switchdriver.Match{}
}

// readTarget and writer are how the agent of a switch is reached.
func readTarget(sw *switchdriver.Switch) (snmp.Target, error) {
	return targetOf(sw, sw.GetSnmp().GetReadCommunity())
}

func writeTarget(sw *switchdriver.Switch) (snmp.Target, error) {
	t, err := targetOf(sw, sw.GetSnmp().GetWriteCommunity())
	if err == nil && t.Community == "" && t.Version != "3" {
		err = fault.New(
			fault.Denied,
			"the switch list has no write community for switch %s",
			switchdriver.Label(sw),
		)
	}
	return t, err
}

// readWriteTargets are the targets to read from and to write to.
func readWriteTargets(sw *switchdriver.Switch) (r, w snmp.Target, err error) {
	if r, err = readTarget(sw); err == nil {
		w, err = writeTarget(sw)
	}
	return r, w, err
}

func targetOf(sw *switchdriver.Switch, community string) (snmp.Target, error) {
	if sw.GetSnmp() == nil {
		return snmp.Target{}, fault.New(
			fault.Unsupported,
			"switch %s does not use SNMP (Version none in the switch list), and no other driver supports this",
			switchdriver.Label(sw),
		)
	}
	a, err := netip.ParseAddr(sw.Address)
	if err != nil {
		return snmp.Target{}, fault.Wrap(
			fault.Invalid,
			err,
			"switch %s has no usable address",
			switchdriver.Label(sw),
		)
	}
	p := sw.GetSnmp()
	t := snmp.Target{
		Addr:    netip.AddrPortFrom(a, uint16(cmp.Or(p.GetPort(), 161))),
		Version: p.GetVersion(),
		From:    p.GetAnswersFrom(),
	}
	if t.Version == "3" {
		t.User, t.AuthProtocol, t.AuthPassword = p.User, p.AuthProtocol, p.AuthPassword
		t.PrivProtocol, t.PrivPassword, t.Context = p.PrivProtocol, p.PrivPassword, p.Context
		t.BridgeContext = p.BridgeContext
		return t, nil
	}
	t.Community = community
	return t, nil
}

// deviceFault says what a failed request means for the caller.
func deviceFault(sw *switchdriver.Switch, err error) error {
	var e *snmp.Error
	f := (*fault.Error)(nil)
	if err == nil || errors.As(err, &f) {
		return err
	}
	with := func(k fault.Kind, remedy string) error {
		f := fault.Device(k, "switch %s: %v%s", switchdriver.Label(sw), err, remedy)
		f.Cause = err
		return f
	}
	switch {
	case errors.Is(err, context.Canceled):
		return fault.Wrap(
			fault.Unavailable,
			err,
			"the call was cancelled before switch %s answered",
			switchdriver.Label(sw),
		)
	case errors.As(err, &e) && e.Access():
		return with(
			fault.Downstream,
			"; the switch list's community, user or passwords do not give access to this",
		)
	case errors.As(err, &e) && e.Unreachable():
		return with(fault.Downstream, "; check the address and port in the switch list")
	case errors.Is(err, context.DeadlineExceeded): // before the tries were used up: that says nothing about the switch
		return with(
			fault.Timeout,
			"; the time of the call ended first, because the controller or the switch has too much to do: try again",
		)
	case errors.As(err, &e) && e.From.IsValid():
		return with(
			fault.Timeout,
			fmt.Sprintf(
				"; write %s or any in the column Answers_From of the switch list, or set snmp.answers_from",
				e.From.Addr(),
			),
		)
	case errors.As(err, &e) && e.Timeout():
		return with(
			fault.Timeout,
			"; check that it is up, and its address, port and community in the switch list",
		)
	}
	return with(fault.Downstream, "")
}
