package mibdriver

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/switchdriver"
)

// Recover repairs a change that was not finished: when the switch shows all of it, it
// is whole; else each step that shows is taken back, the last first. An instance that
// shows none of the values that the steps give it was changed by somebody else since,
// and stays. It fails when the switch cannot be asked: then it is to be tried again.
func (d *Driver) Recover(
	ctx context.Context,
	sw *switchdriver.Switch,
	steps []writes.Step,
) (outcome writes.Outcome, text string, err error) {
	r, w, err := readWriteTargets(sw)
	if err != nil {
		return "", "", err
	}
	now, err := d.readCurrent(ctx, r, steps)
	if err != nil {
		return "", "", deviceFault(sw, err)
	}
	if len(unlikeAssignments(steps, now)) == 0 {
		return writes.Whole, "", nil
	}
	back, err := d.restoreSteps(ctx, r, w, steps, now, false)
	if err != nil {
		return "", "", deviceFault(sw, err)
	}
	var parts []string
	if len(back.foreign) > 0 {
		parts = append(parts, "changed by somebody else since: "+strings.Join(back.foreign, ", "))
	}
	if len(back.left) > 0 {
		parts = append(parts, "the switch still shows "+strings.Join(back.left, ", "))
	}
	if len(back.refused) > 0 {
		parts = append(parts, "refused by the switch: "+strings.Join(back.refused, ", "))
	}
	if len(back.foreign)+len(back.left) == 0 {
		return writes.Undone, "", nil
	}
	return writes.Left, strings.Join(parts, "; "), nil
}

// restored is what came of taking steps back.
type restored struct {
	done    []string // what was taken back
	foreign []string // what somebody else has changed
	refused []string // what the switch did not let be taken back, and why
	left    []string // what the switch still shows of the change
}

// restoreSteps takes back what of the steps shows, the last first, and reads what is left. With exact nobody else can have
// changed anything meanwhile. It fails when the switch does not answer.
func (d *Driver) restoreSteps(
	ctx context.Context,
	r, w snmp.Target,
	steps []writes.Step,
	now values,
	exact bool,
) (out restored, err error) {
	_, all := assignmentChains(steps)
	for _, s := range slices.Backward(steps) {
		ways, others := undoStep(s, all, now, exact)
		for _, o := range others {
			if !slices.Contains(out.foreign, o) {
				out.foreign = append(out.foreign, o)
			}
		}
		if len(ways) == 0 {
			continue
		}
		if err := d.tryWays(ctx, w, ways); err != nil {
			if !isRefusal(err) {
				return out, err
			}
			out.refused = append(out.refused, fmt.Sprintf("%s: %v", s.What, err))
		} else {
			out.done = append(out.done, s.What)
		}
		if now, err = d.readCurrent(ctx, r, steps); err != nil { // a switch may do more than it was asked to, or less
			return out, err
		}
	}
	_, err = writes.ReadBack(ctx, func() (string, error) {
		out.left = nil
		for _, a := range changedAssignments(steps, now, exact) {
			out.left = append(out.left, describeDifference(a, a.From, now[a.OID]))
		}
		if len(out.left) > 0 { // some switches need a moment to show it
			now, err = d.readCurrent(ctx, r, steps)
		}
		return strings.Join(out.left, ", "), err
	})
	return out, err
}

// tryWays sends the SETs of the first way that the switch takes.
func (d *Driver) tryWays(ctx context.Context, w snmp.Target, ways []way) (err error) {
	for _, sets := range ways {
		for _, set := range sets {
			if err = d.sendSet(ctx, w, set); err != nil {
				break
			}
		}
		if err == nil || !isRefusal(err) {
			return err
		}
	}
	return err
}

// readCurrent reads what the instances of the steps hold; nil for one that is not there.
func (d *Driver) readCurrent(
	ctx context.Context,
	r snmp.Target,
	steps []writes.Step,
) (values, error) {
	oids, all := assignmentChains(steps)
	now := make(values, len(oids))
	for chunk := range slices.Chunk(oids, 8) { // PortLists may be long
		v, err := d.snmp.Get(ctx, r, chunk...)
		if err != nil {
			return nil, err
		}
		for i, oid := range chunk {
			now[oid] = heldValue(all[oid].Kind, v[i])
		}
	}
	return now, nil
}

// heldValue is the value of an instance as an Assignment has it.
func heldValue(k writes.Kind, v snmp.Value) *string {
	switch {
	case !v.Exists():
		return nil
	case k == writes.Octets:
		return writes.Hex(append([]byte{}, v.Peek()...))
	}
	n := writes.Number(v.Int())
	if isRemovable(k) && *n == strconv.Itoa(mib.ARPTypeInvalid) {
		return nil
	}
	return n
}
