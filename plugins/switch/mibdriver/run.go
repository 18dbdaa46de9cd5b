package mibdriver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// undoTime is how long taking back may last after the call's own time is over.
const undoTime = 10 * time.Second

// run notes the steps, sends them and has the result confirmed. When one fails, or the
// result is not what was asked for, the steps done are taken back.
func (d *Driver) run(ctx context.Context, sw *switchdriver.Switch, w snmp.Target, steps []step, confirm func() error) error {
	if err := writes.Begin(ctx, writes.Plan{Steps: records(steps)}); err != nil {
		return err
	}
	for i, s := range steps {
		err := d.set(ctx, w, s.set)
		if err == nil {
			continue
		}
		done := steps[:i]
		var e *snmp.Error
		if s.makes || (errors.As(err, &e) && e.Status == 0) {
			done = steps[:i+1] // it may have been done all the same
		}
		return d.takeBack(ctx, sw, w, fmt.Errorf("%s: %w", s.What, err), done)
	}
	if err := confirm(); err != nil {
		return d.takeBack(ctx, sw, w, err, steps)
	}
	return nil
}

// set sends one SET, if this process may still act on devices.
func (d *Driver) set(ctx context.Context, w snmp.Target, set []gosnmp.SnmpPDU) error {
	if err := writes.Check(ctx); err != nil {
		return err
	}
	return d.snmp.Set(ctx, w, set...)
}

// records are the steps as a record has them.
func records(steps []step) []writes.Step {
	out := make([]writes.Step, 0, len(steps))
	for _, s := range steps {
		out = append(out, s.Step)
	}
	return out
}

// takeBack undoes steps, the last first, and returns the fault to report. What cannot
// be undone now is left to the repair.
func (d *Driver) takeBack(call context.Context, sw *switchdriver.Switch, w snmp.Target, cause error, done []step) error {
	ctx, cancel := writes.TakingBack(call, undoTime)
	defer cancel()
	var left []string
	for _, s := range slices.Backward(done) {
		back := s.undo()
		if len(back) == 0 {
			continue
		}
		if err := d.set(ctx, w, back); err != nil && !(s.makes && refusal(err)) {
			left = append(left, s.What)
		}
	}
	if len(left) == 0 {
		return deviceFault(sw, cause)
	}
	writes.Keep(call)
	return deviceFault(sw, fmt.Errorf("%w; this could not be undone: %s", cause, strings.Join(left, ", ")))
}

// refusal reports whether the switch answered with an error: a row that was never
// made cannot be destroyed.
func refusal(err error) bool {
	var e *snmp.Error
	return errors.As(err, &e) && e.Status != 0
}

// confirm reads the VLANs back until they are as asked for. Some switches need a
// moment to show a change.
func (d *Driver) confirm(ctx context.Context, sw *switchdriver.Switch, r snmp.Target, c change) (after *vlanTable, err error) {
	err = d.readBack(ctx, sw, func() (string, error) {
		after, err = d.readVLANs(ctx, sw, r)
		if err != nil && !(c.remove && fault.KindOf(err) == fault.Unsupported) {
			return "", err
		}
		if differs := compare(after, c); differs != "" {
			return fmt.Sprintf("VLAN %d with %s", c.vid, differs), nil
		}
		return "", nil
	})
	return after, err
}

// compare reports how a table differs from what was asked for; empty if it does not.
func compare(t *vlanTable, c change) string {
	if t == nil {
		return ""
	}
	r := t.rows[c.vid]
	switch {
	case c.remove && r != nil && r.static:
		return "its row still there"
	case c.remove:
		return ""
	case r == nil || !r.static:
		return "no row"
	case r.status != 0 && r.status != mib.RowActive:
		return fmt.Sprintf("row status %d, not active", r.status)
	case c.create && c.name != "" && r.name != mib.Text([]byte(c.name)):
		return fmt.Sprintf("the name %q", r.name)
	case !c.setPorts:
		return ""
	}
	egress, untagged := t.configured(c.vid)
	if !slices.Equal(egress.Sorted(), c.egress.Sorted()) {
		return fmt.Sprintf("ports %v", egress.Sorted())
	}
	if !slices.Equal(untagged.Sorted(), c.untagged.Sorted()) {
		return fmt.Sprintf("untagged ports %v", untagged.Sorted())
	}
	for _, n := range c.untagged.Sorted() {
		if pvid, ok := t.pvid[n]; ok && pvid != c.vid {
			return fmt.Sprintf("PVID %d at port %d", pvid, n)
		}
	}
	return ""
}
