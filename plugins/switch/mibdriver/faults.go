package mibdriver

import (
	"context"
	"errors"

	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// deviceFault says what a failed request means for the caller.
func deviceFault(sw *switchdriver.Switch, err error) error {
	var e *snmp.Error
	if f := (*fault.Error)(nil); err == nil || errors.As(err, &f) {
		return err
	}
	with := func(k fault.Kind, remedy string) error {
		f := fault.Device(k, "switch %s: %v%s", switchdriver.Label(sw), err, remedy)
		f.Cause = err
		return f
	}
	switch {
	case errors.Is(err, context.Canceled):
		return fault.Wrap(fault.Unavailable, err, "the call was given up before switch %s answered", switchdriver.Label(sw))
	case errors.As(err, &e) && e.Access():
		return with(fault.Downstream, "; the switch list's community, user or passwords do not give access to this")
	case errors.As(err, &e) && e.Unreachable():
		return with(fault.Downstream, "; check the address and port in the switch list")
	case errors.Is(err, context.DeadlineExceeded): // before the tries were used up: that says nothing about the switch
		return with(fault.Timeout, "; the time of the call ended first, because the controller or the switch has too much to do: try again")
	case errors.As(err, &e) && e.Timeout():
		return with(fault.Timeout, "; check that it is up, and its address, port and community in the switch list")
	}
	return with(fault.Downstream, "")
}
