package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/switchdriver"
)

// Target is what one switch shall have, its ports by number.
type Target struct {
	VLANs map[uint32]string // VLANs that it shall have, and their names
	Ports map[uint32]Port
	Names map[uint32]string // of the ports
}

// State is what a switch has.
type State struct {
	VLANs    []*switchdriver.VLAN
	Settings []*switchdriver.PortSettings
}

// Change is one write that brings a switch nearer to its target.
type Change struct {
	What    string        // "making VLAN 5"
	Detail  string        // which ports, and how
	Port    uint32        // whose settings it changes; 0: it is a VLAN's
	VLAN    uint32        // that it changes; 0: it is a port's
	Request proto.Message // of the driver contract
	Gains   bool          // an untagged port: it leaves the VLAN that it was untagged in by this
}

// members are the ports of a VLAN.
type members struct{ egress, untagged map[uint32]bool }

func setOf(ports []uint32) map[uint32]bool {
	out := map[uint32]bool{}
	for _, p := range ports {
		out[p] = true
	}
	return out
}

func membersOf(v *switchdriver.VLAN) members {
	m := members{setOf(v.GetEgressPorts()), setOf(v.GetUntaggedPorts())}
	maps.Copy(m.egress, m.untagged)
	return m
}

// Changes returns the writes that make a switch as planned, in the order in which they can be made.
func (t *Target) Changes(now State) (out []Change) {
	out = t.vlanChanges(now.VLANs)
	settings := map[uint32]*switchdriver.PortSettings{}
	for _, s := range now.Settings {
		settings[s.Port] = s
	}
	for _, number := range slices.Sorted(maps.Keys(t.Ports)) {
		if c := t.portChange(number, settings[number]); c != nil {
			out = append(out, *c)
		}
	}
	return out
}

// wantsSettings reports whether the settings of ports are of importance.
func (t *Target) WantsSettings() bool {
	for _, p := range t.Ports {
		if p.Description != nil || p.State != "" {
			return true
		}
	}
	return false
}

// vlanChanges are the writes of VLANs: first those that gain untagged ports, which thereby leave others.
func (t *Target) vlanChanges(all []*switchdriver.VLAN) []Change {
	now := map[uint32]*switchdriver.VLAN{}
	for _, v := range all {
		now[v.VlanId] = v
	}
	ids := map[uint32]bool{}
	for id := range t.VLANs {
		ids[id] = true
	}
	for id := range now {
		ids[id] = true
	}
	moving := map[uint32]bool{} // ports that get another untagged VLAN
	for number, p := range t.Ports {
		moving[number] = p.Untagged != nil && !setOf(now[*p.Untagged].GetUntaggedPorts())[number]
	}
	tagged := map[uint32]map[uint32]bool{} // the VLANs, by port
	for number, p := range t.Ports {
		if p.Tagged != nil {
			tagged[number] = setOf(*p.Tagged)
		}
	}
	var first, rest []Change
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		c := t.vlanChange(id, now[id], moving, tagged)
		switch {
		case c == nil:
		case c.Gains:
			first = append(first, *c)
		default:
			rest = append(rest, *c)
		}
	}
	return append(first, rest...)
}

// vlanChange is the write of one VLAN; nil: it is as planned, or will be by those of other VLANs.
func (t *Target) vlanChange(
	id uint32,
	now *switchdriver.VLAN,
	moving map[uint32]bool,
	tagged map[uint32]map[uint32]bool,
) *Change {
	is, want := membersOf(now), membersOf(now)
	implied := membersOf(now) // as it will be by itself
	c := &Change{What: fmt.Sprintf("setting the ports of VLAN %d", id), VLAN: id}
	for number, p := range t.Ports {
		p.place(id, number, tagged[number][id], want)
		left := is.untagged[number] && !want.egress[number]
		if moving[number] && left {
			delete(implied.egress, number)
			delete(implied.untagged, number)
		}
		c.Gains = c.Gains || want.untagged[number] && !is.untagged[number]
	}
	_, wanted := t.VLANs[id]
	switch {
	case now == nil && wanted:
		c.What = fmt.Sprintf("making VLAN %d", id)
	case now == nil, maps.Equal(want.egress, implied.egress) && maps.Equal(want.untagged, implied.untagged):
		return nil
	}
	vlan := &switchdriver.VLAN{
		VlanId:        id,
		Name:          t.VLANs[id],
		EgressPorts:   slices.Sorted(maps.Keys(want.egress)),
		UntaggedPorts: slices.Sorted(maps.Keys(want.untagged)),
	}
	if now != nil {
		vlan.Name = now.Name
	}
	c.Request = &pluginv1.WriteVlanRequest{Vlan: vlan, Create: now == nil, SetPorts: true}
	c.Detail = t.describe(now == nil, t.VLANs[id], is, want)
	return c
}

// place puts a port into a VLAN or takes it out, as far as the plan says it; tagged: the VLAN is one of its tagged ones.
func (p *Port) place(id, number uint32, tagged bool, m members) {
	untagged := p.Untagged != nil && *p.Untagged == id
	switch {
	case untagged:
		m.egress[number], m.untagged[number] = true, true
	case tagged:
		m.egress[number] = true
		delete(m.untagged, number)
	case m.untagged[number] && p.Untagged != nil, m.egress[number] && !m.untagged[number] && p.Tagged != nil:
		delete(m.egress, number)
		delete(m.untagged, number)
	}
}

// describe says what a write of a VLAN changes.
func (t *Target) describe(made bool, name string, is, want members) string {
	var parts []string
	if made && name != "" {
		parts = append(parts, fmt.Sprintf("name %q", name))
	}
	var tagged, untagged, leave []uint32
	for n := range want.egress {
		switch {
		case want.untagged[n] && !is.untagged[n]:
			untagged = append(untagged, n)
		case !want.untagged[n] && (!is.egress[n] || is.untagged[n]):
			tagged = append(tagged, n)
		}
	}
	for n := range is.egress {
		if !want.egress[n] {
			leave = append(leave, n)
		}
	}
	for _, l := range []struct {
		what  string
		ports []uint32
	}{{"untagged", untagged}, {"tagged", tagged}, {"without", leave}} {
		if len(l.ports) > 0 {
			parts = append(parts, l.what+" "+strings.Join(t.namesOf(l.ports), ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// NameOf is the name of a port, or its number.
func (t *Target) NameOf(number uint32) string {
	if name := t.Names[number]; name != "" {
		return name
	}
	return fmt.Sprint(number)
}

// maxNamed bounds the ports that the detail of a change names.
const maxNamed = 100

func (t *Target) namesOf(ports []uint32) (out []string) {
	slices.Sort(ports)
	for _, n := range ports[:min(len(ports), maxNamed)] {
		out = append(out, t.NameOf(n))
	}
	if more := len(ports) - maxNamed; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return out
}

// portChange is the write of the settings of a port; nil: it is as planned.
func (t *Target) portChange(number uint32, now *switchdriver.PortSettings) *Change {
	p := t.Ports[number]
	want := &switchdriver.PortSettings{Port: number}
	var parts []string
	if p.Description != nil && (now.GetDescription() != *p.Description || now.GetDescription() == "" && now == nil) {
		want.Description = p.Description
		parts = append(parts, fmt.Sprintf("description %q instead of %q", *p.Description, now.GetDescription()))
	}
	if p.State != "" && (now == nil || now.Up == nil || *now.Up != (p.State == Up)) {
		want.Up = new(p.State == Up)
		parts = append(parts, "state "+p.State)
	}
	if len(parts) == 0 {
		return nil
	}
	return &Change{
		What:    "setting port " + t.NameOf(number),
		Detail:  strings.Join(parts, "; "),
		Port:    number,
		Request: &pluginv1.WritePortSettingsRequest{Settings: want},
	}
}
