package mibdriver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/switchdriver"
)

// undoTime is how long taking back may last after the call's own time is over.
const undoTime = 10 * time.Second

// job is one change that is carried out at a switch.
type job struct {
	d    *Driver
	sw   *switchdriver.Switch
	r, w snmp.Target
	// look reads what the switch shows after all steps: what their instances hold, and how it is not as asked for
	// beside them, in words that follow "it shows".
	look   func() (now values, differs string, err error)
	vlans  *vlanTable        // before the change, of one of VLANs
	now    *vlanTable        // as look has read it
	extra  []step            // what the switch did besides the steps
	named  map[uint32]string // ports that the caller named
	before map[uint32]place  // what the ports are that the steps touch
	left   bool              // something of the change may be left that is not as before
}

// runSteps notes the steps, sends them and reads back all that they assign. When one fails, or the switch does not show
// what was sent, what shows of it is taken back.
func (j *job) runSteps(ctx context.Context, steps []step) (err error) {
	ports := touchedPorts(steps).Sorted()
	if j.before, err = j.d.readPlaces(ctx, j.r, ports); err != nil {
		return deviceFault(j.sw, err)
	}
	if port := j.misplacedPort(j.before); port != 0 {
		return fault.Device(
			fault.InUse,
			"the ports of switch %s are changing places: port %s is not number %d any more; nothing was sent; try again",
			switchdriver.Label(j.sw),
			j.named[port],
			port,
		)
	}
	if err := writes.Begin(ctx, writes.Plan{Steps: recordSteps(steps)}); err != nil {
		return err
	}
	for i, s := range steps {
		if err := j.sendStep(ctx, steps, i); err != nil {
			return j.takeBack(ctx, fmt.Errorf("%s: %w", s.What, err), steps[:i+1])
		}
	}
	if err := j.confirmSteps(ctx, steps); err != nil {
		return j.takeBack(ctx, err, slices.Concat(steps, j.extra))
	}
	return nil
}

// sendStep sends a step. An answer may be lost, and the SET refused when it is repeated: the switch is asked whether it
// was done before it is called failed.
func (j *job) sendStep(ctx context.Context, steps []step, i int) error {
	s := steps[i]
	if s.last && i > 0 {
		if err := j.readBackEarlier(ctx, steps[:i]); err != nil {
			return err
		}
	}
	if s.wait > 0 {
		host.Pause(ctx, s.wait)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	ways := s.ways
	if len(ways) == 0 {
		ways = []way{{s.set}}
	}
	err := j.d.tryWays(ctx, j.w, ways)
	var e *snmp.Error
	if err == nil || !errors.As(err, &e) || e.Access() {
		return err
	}
	now, failed := j.d.readCurrent(ctx, j.r, recordSteps(steps[i:i+1]))
	if failed == nil && isStepDone(s, now) {
		return nil
	}
	return err
}

// readBackEarlier reads back what was sent before a step that may not be taken back as a whole.
func (j *job) readBackEarlier(ctx context.Context, steps []step) error {
	return j.d.readBack(ctx, j.sw, func() (string, error) {
		now, err := j.d.readCurrent(ctx, j.r, recordSteps(steps))
		return describeDifferences(recordSteps(steps), now), err
	})
}

// isStepDone reports whether the switch shows all of a step. A row that is made may not be active yet.
func isStepDone(s step, now values) bool {
	for _, a := range s.Assigns {
		made := a.Kind == writes.Row && a.From == nil && now[a.OID] != nil
		if !made && !sameValue(a, a.To, now[a.OID]) {
			return false
		}
	}
	return len(s.Assigns) > 0
}

// confirmSteps reads back until the switch shows what was sent. Some switches need a moment to show a change.
func (j *job) confirmSteps(ctx context.Context, steps []step) error {
	return j.d.readBack(ctx, j.sw, func() (string, error) {
		j.extra = nil
		now, differs, err := j.look()
		if err != nil || differs != "" {
			return differs, err
		}
		if differs := describeDifferences(recordSteps(steps), now); differs != "" {
			return differs, nil
		}
		if j.vlans != nil {
			s, err := j.didBesides(ctx, j.now, steps)
			if err != nil {
				return "", err
			}
			if len(s.Assigns) > 0 {
				j.extra = []step{{Step: s}}
				return said(s), nil
			}
		}
		after, err := j.d.readPlaces(ctx, j.r, slices.Sorted(maps.Keys(j.before)))
		return describeMoves(j.before, after), err
	})
}

// describeDifferences says what a switch shows otherwise than the last step that assigns it; empty: nothing.
func describeDifferences(steps []writes.Step, now values) string {
	var parts []string
	for _, a := range unlikeAssignments(steps, now) {
		parts = append(parts, describeDifference(a, a.To, now[a.OID]))
	}
	return strings.Join(parts, ", ")
}

// sendSet sends one SET, if this process may still act on devices.
func (d *Driver) sendSet(ctx context.Context, w snmp.Target, set []gosnmp.SnmpPDU) error {
	if err := writes.Check(ctx); err != nil {
		return err
	}
	return d.snmp.Set(ctx, w, set...)
}

// recordSteps are the steps as a record has them.
func recordSteps(steps []step) []writes.Step {
	out := make([]writes.Step, 0, len(steps))
	for _, s := range steps {
		out = append(out, s.Step)
	}
	return out
}

// takeBack undoes what shows of the steps and returns the fault to report, which says what was undone. What cannot be
// undone now is left to the repair.
func (j *job) takeBack(call context.Context, cause error, sent []step) error {
	cause = deviceFault(j.sw, cause)
	steps := recordSteps(slices.DeleteFunc(slices.Clone(sent), func(s step) bool {
		return s.final
	}))
	if len(steps) == 0 {
		return cause
	}
	ctx, cancel := writes.TakingBack(call, undoTime)
	defer cancel()
	now, err := j.d.readCurrent(ctx, j.r, steps)
	var back restored
	if err == nil {
		back, err = j.d.restoreSteps(ctx, j.r, j.w, steps, now, true)
	}
	switch {
	case err != nil:
		j.left = true
		writes.Keep(call)
		return appendFaultText(
			cause,
			"it is not known how much of it was done (%s), because %v",
			nameSteps(steps),
			err,
		)
	case len(back.left) > 0:
		j.left = true
		writes.Keep(call)
		text := "this could not be undone: the switch shows " + strings.Join(back.left, ", ")
		if len(back.refused) > 0 {
			text += ", and refused: " + strings.Join(back.refused, ", ")
		}
		return appendFaultText(cause, "%s", text)
	case len(back.done) > 0:
		slices.Reverse(back.done)
		return appendFaultText(cause, "taken back: %s", strings.Join(back.done, ", "))
	}
	return appendFaultText(cause, "the switch is as it was before")
}

// nameSteps names steps for people.
func nameSteps(steps []writes.Step) string {
	var names []string
	for _, s := range steps {
		names = append(names, s.What)
	}
	return strings.Join(slices.Compact(names), ", ")
}

// appendFaultText adds to the text of a fault.
func appendFaultText(err error, format string, args ...any) error {
	var l fault.List
	for _, e := range fault.All(err) {
		f := *e
		f.Text += "; " + fmt.Sprintf(format, args...)
		l = append(l, &f)
	}
	return l.Err()
}

// isRefusal reports whether the switch answered with an error: a row that was never
// made cannot be destroyed.
func isRefusal(err error) bool {
	var e *snmp.Error
	return errors.As(err, &e) && e.Status != 0
}

// tableValues are what the table holds of the objects that a change of VLANs assigns.
func (t *vlanTable) tableValues() values {
	out := values{}
	for v, r := range t.rows {
		if !r.static {
			continue
		}
		out[mib.Sub(mib.QVlanStaticName, v)] = writes.Hex(r.rawName)
		out[mib.Sub(mib.QVlanStaticEgress, v)] = writes.Hex(r.egress)
		out[mib.Sub(mib.QVlanStaticUntagged, v)] = writes.Hex(r.untagged)
		status := r.status
		if status == 0 { // not every agent shows it
			status = mib.RowActive
		}
		out[mib.Sub(mib.QVlanStaticRowStatus, v)] = writes.Number(status)
	}
	for port, v := range t.pvid {
		out[mib.Sub(mib.QPvid, port)] = writes.Number(int64(v))
	}
	return out
}

// compareTable reports how a table differs from what was asked for; empty if it does not.
func compareTable(t *vlanTable, c change) string {
	r := t.rows[c.vid]
	switch {
	case c.remove && r != nil && r.static:
		return fmt.Sprintf("VLAN %d still there", c.vid)
	case c.remove:
		return ""
	case r == nil || !r.static:
		return fmt.Sprintf("no VLAN %d", c.vid)
	case r.status != 0 && r.status != mib.RowActive:
		return fmt.Sprintf("VLAN %d with row status %d, not active", c.vid, r.status)
	case c.create && c.name != "" && r.name != mib.Text([]byte(c.name)):
		return fmt.Sprintf("VLAN %d with the name %q", c.vid, r.name)
	case !c.setPorts:
		return ""
	}
	egress, untagged := t.configuredPorts(c.vid)
	if !slices.Equal(egress.Sorted(), c.egress.Sorted()) {
		return fmt.Sprintf("VLAN %d with the ports %s", c.vid, formatNumbers(egress.Sorted()))
	}
	if !slices.Equal(untagged.Sorted(), c.untagged.Sorted()) {
		return fmt.Sprintf(
			"VLAN %d with the untagged ports %s",
			c.vid,
			formatNumbers(untagged.Sorted()),
		)
	}
	for _, n := range c.untagged.Sorted() {
		if pvid, ok := t.pvid[n]; ok && pvid != c.vid {
			return fmt.Sprintf("port %d with PVID %d", n, pvid)
		}
	}
	return t.alsoUntagged(c)
}

// alsoUntagged finds untagged ports of a VLAN that are untagged in another one, too: frames of that one would still
// leave there.
func (t *vlanTable) alsoUntagged(c change) string {
	var parts []string
	for _, v := range slices.Sorted(maps.Keys(t.rows)) {
		if v == c.vid {
			continue
		}
		egress, untagged := t.configuredPorts(v)
		if r := t.rows[v]; !r.static {
			egress, untagged = t.memberPorts(v)
		}
		var both []uint32
		for _, n := range c.untagged.Sorted() {
			if egress[n] && untagged[n] {
				both = append(both, n)
			}
		}
		if len(both) > 0 {
			parts = append(
				parts,
				fmt.Sprintf("VLAN %d with the untagged ports %s", v, formatNumbers(both)),
			)
		}
	}
	return strings.Join(parts, ", ")
}
