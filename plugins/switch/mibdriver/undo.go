package mibdriver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Undo takes back a change that was carried out, by steps that are noted, read back and taken back themselves when one
// fails. What does not show what the change left, somebody has changed since: it stays, and the lines name it.
func (d *Driver) Undo(
	ctx context.Context,
	sw *switchdriver.Switch,
	u writes.Undoing,
) (lines []string, err error) {
	r, w, err := readWriteTargets(sw)
	if err != nil {
		return nil, err
	}
	v := &inversion{u: u, seen: map[string]bool{}}
	_, v.all = assignmentChains(u.Record.Steps)
	if v.now, err = d.readCurrent(ctx, r, withVLANColumns(u.Record.Steps)); err != nil {
		return nil, deviceFault(sw, err)
	}
	if err := d.sameInterfaces(ctx, sw, r, u.Record); err != nil {
		return nil, err
	}
	steps := v.invert(u.Record.Steps)
	switch {
	case len(steps) == 0 && len(v.left) > 0:
		return nil, fault.At(
			fault.InUse,
			"force",
			"nothing of operation %s is taken back, because it was changed since: %s; force overwrites that",
			u.Record.ID,
			strings.Join(v.left, ", "),
		)
	case len(steps) == 0:
		return []string{writes.NothingShows}, nil
	}
	j := &job{d: d, sw: sw, r: r, w: w, named: u.Record.Operation.Ports}
	j.look = func() (values, string, error) {
		now, err := d.readCurrent(ctx, r, recordSteps(steps))
		return now, "", err
	}
	if len(v.left) > 0 {
		writes.Leave(ctx)
	}
	if err := j.runSteps(ctx, steps); err != nil {
		return nil, err
	}
	for _, text := range v.left {
		lines = append(lines, "left as it is: "+text)
	}
	return lines, nil
}

// sameInterfaces refuses an undo at a port whose ifIndex is another interface now than when it was changed.
func (d *Driver) sameInterfaces(
	ctx context.Context,
	sw *switchdriver.Switch,
	t snmp.Target,
	r writes.Record,
) error {
	name := portOf(&r.Operation)
	if name == "" {
		return nil
	}
	for _, s := range r.Steps {
		for _, a := range s.Assigns {
			index, ok := mib.Under(mib.IfAdminStatus, a.OID, nil)
			if !ok {
				index, ok = mib.Under(mib.IfAlias, a.OID, nil)
			}
			if !ok || len(index) != 1 {
				continue
			}
			v, err := d.snmp.Get(ctx, t, mib.Sub(mib.IfName, index[0]), mib.Sub(mib.IfDescr, index[0]))
			if err != nil {
				return deviceFault(sw, err)
			}
			if !isNamed(name, mib.Text(v[0].Peek()), mib.Text(v[1].Peek())) {
				return fault.Device(
					fault.InUse,
					"the ports of switch %s have changed places since operation %s; nothing was sent",
					switchdriver.Label(sw),
					r.ID,
				)
			}
		}
	}
	return nil
}

// portOf is the name by which the caller named the port whose settings a change or its undo changes; empty: by none.
func portOf(o *writes.Operation) string {
	if request, ok := o.Request.(*pluginv1.WritePortSettingsRequest); ok {
		return o.Ports[request.Settings.GetPort()]
	}
	if o.Undo != "" && len(o.Ports) == 1 {
		for _, name := range o.Ports {
			return name
		}
	}
	return ""
}

// isNamed reports whether an interface has the name that the caller used, or none.
func isNamed(wanted string, names ...string) bool {
	return strings.Join(names, "") == "" ||
		slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, wanted) })
}

// vlanLists are the columns of a static VLAN that say its ports.
func vlanLists() []string { return []string{mib.QVlanStaticEgress, mib.QVlanStaticUntagged} }

// withVLANColumns adds what a VLAN that the steps make may hold besides: somebody may have given it ports since.
func withVLANColumns(steps []writes.Step) []writes.Step {
	_, all := assignmentChains(steps)
	var more writes.Step
	for oid, c := range all {
		_, vid, ok := vlanColumn(oid)
		if !ok || c.Kind != writes.Row || c.From != nil {
			continue
		}
		for _, column := range append(vlanLists(), mib.QVlanStaticName) {
			more.Assigns = append(more.Assigns, writes.Assignment{
				OID:  mib.Sub(column, vid),
				Kind: writes.Octets,
			})
		}
	}
	return append(slices.Clone(steps), more)
}

// inversion makes the steps that take back a change.
type inversion struct {
	u    writes.Undoing
	all  map[string]*chain
	now  values
	seen map[string]bool
	left []string // what somebody else has changed, and who
}

// invert returns the steps, the last first: what the change did last can be taken back first.
func (v *inversion) invert(steps []writes.Step) (out []step) {
	moved := v.movedPorts()
	for _, s := range slices.Backward(steps) {
		back := step{Step: writes.Step{What: "taking back: " + s.What}}
		for _, a := range s.Assigns {
			c := v.all[a.OID]
			switch {
			case v.seen[a.OID], a.Kind != writes.Row && v.isOfRow(a.OID):
			case a.Kind == writes.Row && c.From == nil:
				v.seen[a.OID] = true
				out = append(out, v.removeRow(c)...)
			case a.Kind == writes.Row:
				v.seen[a.OID] = true
				out = append(out, v.remakeRow(s, c)...)
			case c.Mask != "":
				v.seen[a.OID] = true
				v.restoreList(&back, c, moved)
			default:
				v.seen[a.OID] = true
				v.restoreValue(&back, c)
			}
		}
		if len(back.Assigns) > 0 {
			out = append(out, back)
		}
	}
	return out
}

// isOfRow reports whether an instance is a column of a VLAN that the change makes or removes.
func (v *inversion) isOfRow(oid string) bool {
	_, vid, ok := vlanColumn(oid)
	return ok && v.all[mib.Sub(mib.QVlanStaticRowStatus, vid)] != nil
}

// leave notes what stays as it is.
func (v *inversion) leave(oid, text string) {
	if by := v.u.By(oid); by != "" {
		text += " (changed " + by + ")"
	}
	v.left = append(v.left, text)
}

// last is what a change left an instance with.
func (c *chain) last() *string { return c.values[len(c.values)-1] }

// restoreValue takes back the value of one instance.
func (v *inversion) restoreValue(s *step, c *chain) {
	now := v.now[c.OID]
	switch {
	case sameValue(c.Assignment, c.From, now):
		return
	case !sameValue(c.Assignment, c.last(), now) && !v.u.Force:
		v.leave(c.OID, describeValue(c.Assignment, c.last(), now))
		return
	}
	s.addAssignment(c.OID, c.Kind, now, c.From)
}

// describeValue is describeDifference, also of an instance that is not there.
func describeValue(a writes.Assignment, want, now *string) string {
	if now == nil {
		return "no instance " + instanceName(a.OID)
	}
	return describeDifference(a, want, now)
}

// movedPorts are the ports whose PVID somebody has changed since: they stay where they were put.
func (v *inversion) movedPorts() []byte {
	moved := mib.Ports{}
	for oid, c := range v.all {
		port, ok := mib.Under(mib.QPvid, oid, nil)
		now := v.now[oid]
		same := sameValue(c.Assignment, c.last(), now) || sameValue(c.Assignment, c.From, now)
		if ok && len(port) == 1 && !same && !v.u.Force {
			moved[port[0]] = true
		}
	}
	return mib.Update([]byte{}, moved, moved)
}

// restoreList takes back the ports of a list that the change put there or took away.
func (v *inversion) restoreList(s *step, c *chain, moved []byte) {
	now := v.now[c.OID]
	if now == nil {
		v.leave(c.OID, describeDifference(c.Assignment, c.From, nil))
		return
	}
	own := pickBits(moved, nil, c.touched())
	back := pickBits(own, octets(c.From), octets(now))
	if sameValue(c.Assignment, now, writes.Hex(back)) {
		return
	}
	to := writes.Assignment{
		OID:  c.OID,
		Kind: c.Kind,
		From: now,
		To:   writes.Hex(back[:max(len(octets(now)), len(octets(c.From)))]),
		Mask: c.Mask,
	}
	s.appendAssignment(to)
}

// touched are the ports of a list that a change has put there or taken away, at the end or in between.
func (c *chain) touched() []byte {
	out := []byte{}
	for _, value := range c.values {
		out = combineOctets(out, combineOctets(octets(c.From), octets(value), xorBytes), orBytes)
	}
	return out
}

// removeRow removes a VLAN that the change made; one that has another name or other ports since only loses those of the
// change.
func (v *inversion) removeRow(row *chain) []step {
	now := v.now[row.OID]
	if now == nil {
		return nil
	}
	_, vid, ok := vlanColumn(row.OID)
	if !ok {
		return nil
	}
	s := step{
		Step: writes.Step{What: fmt.Sprintf("removing VLAN %d", vid)},
		last: true,
	}
	kept := step{Step: writes.Step{What: fmt.Sprintf("setting the ports of VLAN %d", vid)}}
	s.addRowStatus(row.OID, mib.RowDestroy, now, nil)
	name := mib.Sub(mib.QVlanStaticName, vid)
	if v.now[name] != nil {
		s.addAssignment(name, writes.Octets, v.now[name], nil)
	}
	renamed := v.isRenamed(name)
	foreign := renamed
	for _, column := range vlanLists() {
		oid := mib.Sub(column, vid)
		own, held := v.rowList(oid), v.now[oid]
		if held == nil {
			continue
		}
		a := writes.Assignment{OID: oid, Kind: writes.Octets, From: held, Mask: own.Mask}
		s.Assigns = append(s.Assigns, a)
		same := sameValue(a, own.last(), held)
		if same && !renamed || v.u.Force {
			continue
		}
		if !same {
			foreign = true
			v.leave(oid, describeDifference(a, own.last(), held))
		}
		a.To = writes.Hex(pickBits(own.touched(), nil, octets(held)))
		if !sameValue(a, a.To, held) {
			kept.appendAssignment(a)
		}
	}
	switch {
	case !foreign:
		return []step{s}
	case len(kept.Assigns) > 0:
		return []step{kept}
	}
	return nil
}

// isRenamed reports whether somebody has given a VLAN that a change made another name since.
func (v *inversion) isRenamed(oid string) bool {
	own, now := v.all[oid], v.now[oid]
	if own == nil || now == nil || v.u.Force || sameValue(own.Assignment, own.last(), now) {
		return false
	}
	v.leave(oid, describeDifference(own.Assignment, own.last(), now))
	return true
}

// rowList is what a change gave a list of a VLAN that it made: nothing, where it said nothing.
func (v *inversion) rowList(oid string) *chain {
	if c := v.all[oid]; c != nil {
		return c
	}
	empty := writes.Hex([]byte{})
	return &chain{writes.Assignment{OID: oid, Kind: writes.Octets}, []*string{empty}}
}

// remakeRow makes a VLAN again that the change removed.
func (v *inversion) remakeRow(s writes.Step, row *chain) []step {
	now := v.now[row.OID]
	_, vid, ok := vlanColumn(row.OID)
	switch {
	case !ok, now != nil && row.last() != nil:
		return nil
	case now != nil:
		v.leave(row.OID, fmt.Sprintf("VLAN %d, which was made again", vid))
		return nil
	}
	back := step{
		Step: writes.Step{What: fmt.Sprintf("making VLAN %d", vid)},
		ways: remakeVLAN(s, row.Assignment),
	}
	for _, a := range s.Assigns {
		if _, other, ok := vlanColumn(a.OID); ok && other == vid {
			a.From, a.To = nil, a.From
			back.Assigns = append(back.Assigns, a)
		}
	}
	return []step{back}
}
