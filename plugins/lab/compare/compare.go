package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"ctl.internal/plugins/lab/intent"
)

// Kind is what is wrong.
type Kind string

// The kinds of findings.
const (
	DeviceMissing Kind = "device-missing"
	DeviceOther   Kind = "device-other"  // another device is at its address, or it is at another address
	DeviceSilent  Kind = "device-silent" // it was there and does not answer
	LinkMissing   Kind = "link-missing"
	LinkExtra     Kind = "link-extra"
	LinkSwapped   Kind = "link-swapped" // cables whose ends are at each other's places
	LinkMisplaced Kind = "link-wrong-port"
	LinkSpeed     Kind = "link-wrong-speed"
	LinkOneWay    Kind = "link-one-way"
	PortUnknown   Kind = "port-unknown"
	VLANPort      Kind = "vlan-port"   // a port is not in the VLAN
	VLANBroken    Kind = "vlan-broken" // the VLAN does not lead from port to port
)

// Finding is one thing that is not as it shall be.
type Finding struct {
	Kind Kind
	// Subject is the link, device, port or VLAN of the document; of swapped cables the first.
	Subject string
	Text    string
	Line    int // of the document; 0 where it has none
	// Intended and Found are the cables that it is about.
	Intended, Found []string
}

// Result is what a comparison finds.
type Result struct {
	Right    []intent.Link
	Findings []Finding
	// Outside is how many cables lead from devices of the lab to others: a lab may be part of a network.
	Outside int
}

// Compare compares a lab with the network. It ends with the error of ctx when that ends.
func Compare(ctx context.Context, lab *intent.Lab, found *Found) (*Result, error) {
	c := &comparison{
		lab:     lab,
		places:  Place(lab, found),
		inLab:   map[*Node]bool{},
		cables:  collectCables(found),
		at:      map[port][]*cable{},
		between: map[[2]*Node][]*cable{},
		result:  &Result{},
	}
	for _, x := range c.cables { // in their order
		for p := range x.ports {
			c.at[p] = append(c.at[p], x)
		}
		ends := [2]*Node{x.a.node, x.b.node}
		c.between[ends] = append(c.between[ends], x)
		if ends[0] != ends[1] {
			ends[0], ends[1] = ends[1], ends[0]
			c.between[ends] = append(c.between[ends], x)
		}
	}
	c.compareDevices()
	if err := c.compareLinks(ctx); err != nil {
		return nil, err
	}
	slices.SortStableFunc(c.result.Findings, func(a, b Finding) int {
		return cmp.Compare(a.Line, b.Line)
	})
	return c.result, nil
}

type comparison struct {
	lab     *intent.Lab
	places  *Places
	inLab   map[*Node]bool
	cables  []*cable
	at      map[port][]*cable
	between map[[2]*Node][]*cable // in both orders of the nodes
	result  *Result
}

func (c *comparison) add(f Finding) {
	c.result.Findings = append(c.result.Findings, f)
}

// compareDevices says which devices are not as they shall be.
func (c *comparison) compareDevices() {
	first := map[*Node]string{}
	for _, d := range c.lab.Devices {
		n := c.places.Node(d.Name)
		kind, text := c.explainDevice(d, n)
		if n != nil {
			c.inLab[n] = true
			other, twice := first[n]
			switch {
			case d.Implied: // links may call a device by any of its names
			case twice:
				kind, text = DeviceOther, "it is the same device as "+other
			default:
				first[n] = d.Name
			}
		}
		if text != "" {
			c.add(Finding{
				Kind:    kind,
				Subject: d.Name,
				Text:    text,
				Line:    d.Line,
			})
		}
	}
}

// explainDevice says what is wrong with a device; n is its node, if it has one.
func (c *comparison) explainDevice(d intent.Device, n *Node) (kind Kind, text string) {
	there := c.places.index.at(d.Address)
	several := c.places.several[d.Name]
	switch {
	case len(there) > 0 && !slices.Contains(there, n):
		return DeviceOther, fmt.Sprintf("at %s is %s, not %s", d.Address, there[0].label(), d.Name)
	case n == nil && len(several) > 0:
		return DeviceMissing, explainSeveral(several)
	case n == nil && !d.Optional:
		return DeviceMissing, "no source of topologies sees it: is it in the list of switches, does it answer, does its name (sysName) agree?"
	case n == nil:
		return "", ""
	case d.Address != "" && n.Address != "" && plainAddress(n.Address) != plainAddress(d.Address):
		return DeviceOther, fmt.Sprintf("it is at %s, not at %s", n.Address, d.Address)
	case n.Silent:
		return DeviceSilent, "it does not answer: what is known of it is old"
	}
	return "", ""
}

// explainSeveral says which devices a name fits, by what each is named alone.
func explainSeveral(nodes []*Node) string {
	var ids, topologies []string
	for _, n := range nodes[:min(len(nodes), maxSuggested)] {
		ids = append(ids, fullID(n))
		if n.Topology != "" && !slices.Contains(topologies, n.Topology) {
			topologies = append(topologies, n.Topology)
		}
	}
	where := ""
	if len(topologies) > 1 {
		where = fmt.Sprintf(" (topologies %s)", strings.Join(topologies, ", "))
	}
	return fmt.Sprintf("%d devices are called so%s: name the topology, or use the id: %s",
		len(nodes), where, strings.Join(ids, ", "))
}

// wanted is a link of the lab whose devices were found, with its ports.
type wanted struct {
	link intent.Link
	a, b port // an empty id: any port
}

// named is how many ends of a link name their port.
func (w wanted) named() int {
	n := 0
	for _, p := range []port{w.a, w.b} {
		if p.id != "" {
			n++
		}
	}
	return n
}

// compareLinks matches what is as it shall be, then explains what is not.
func (c *comparison) compareLinks(ctx context.Context) error {
	var all [3][]wanted // by how many ports they name
	for _, l := range c.lab.Links {
		if err := ctx.Err(); err != nil {
			return err
		}
		if w, ok := c.resolveLink(l); ok {
			all[w.named()] = append(all[w.named()], w)
		}
	}
	var open []wanted
	for _, named := range []int{2, 1, 0} { // those that name their ports choose first
		for _, w := range all[named] {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !c.matchLink(w) {
				open = append(open, w)
			}
		}
	}
	for _, w := range c.takeSwapped(open) {
		c.explainLink(w)
	}
	c.countOthers()
	return ctx.Err()
}

// resolveLink finds the ports of a link. A link at a device that is missing says nothing more than that.
func (c *comparison) resolveLink(l intent.Link) (wanted, bool) {
	w := wanted{link: l}
	for _, end := range []struct {
		said intent.End
		to   *port
	}{{l.A, &w.a}, {l.B, &w.b}} {
		n := c.places.Node(end.said.Device)
		if n == nil {
			d, _ := c.lab.Device(end.said.Device)
			if !l.Optional && !d.Optional {
				c.addLink(LinkMissing, w, "%s was not found", end.said.Device)
			}
			return w, false
		}
		end.to.node = n
		if end.said.Port == "" {
			continue
		}
		id, wrong := n.resolvePort(end.said.Port)
		if wrong != "" {
			c.addLink(PortUnknown, w, "%s %s", end.said.Device, wrong)
			return w, false
		}
		end.to.id = id
	}
	return w, true
}

func (c *comparison) addLink(kind Kind, w wanted, format string, args ...any) {
	c.add(Finding{
		Kind:     kind,
		Subject:  w.link.String(),
		Text:     fmt.Sprintf(format, args...),
		Line:     w.link.Line,
		Intended: []string{w.link.String()},
	})
}

// matchLink finds the cable of a link, and whether it is as it shall be. An inferred link proves no cable.
func (c *comparison) matchLink(w wanted) bool {
	for _, x := range c.candidates(w) {
		if x.inferred || !x.joins(w) {
			continue
		}
		whole := x.isAggregation(w.a) || x.isAggregation(w.b)
		switch {
		case whole:
			x.whole = true
		case x.used >= x.capacity() || x.whole && w.named() == 0:
			continue
		default:
			x.used++
		}
		x.taken[w.a] = true
		x.taken[w.b] = true
		if c.checkCable(w, x) {
			c.result.Right = append(c.result.Right, w.link)
		}
		return true
	}
	return false
}

// candidates are the cables at the end whose port is named, or all between the devices.
func (c *comparison) candidates(w wanted) []*cable {
	switch {
	case w.a.id != "":
		return c.at[w.a]
	case w.b.id != "":
		return c.at[w.b]
	}
	return c.between[[2]*Node{w.a.node, w.b.node}]
}

// checkCable looks at a cable that is where it shall be, and returns whether nothing is wrong with it.
func (c *comparison) checkCable(w wanted, x *cable) bool {
	before := len(c.result.Findings)
	for _, p := range []port{w.a, w.b} {
		isMember := x.membersA[p] || x.membersB[p]
		if isMember && p.node.reports() && !p.node.port(p.id).Up {
			c.addLink(LinkMissing, w, "%s is a member of the aggregation %s and is down", p, x)
			break
		}
	}
	for _, p := range portsOf(w, x) {
		kbps := p.node.port(p.id).Kbps
		if w.link.Kbps > 0 && kbps > 0 && kbps != w.link.Kbps {
			c.addLink(LinkSpeed, w, "%s has %s, not %s", p, intent.FormatSpeed(kbps), intent.FormatSpeed(w.link.Kbps))
			break
		}
	}
	if x.isOneWay() {
		c.addLink(LinkOneWay, w, "only one end reports it: does the other one receive and send LLDP?")
	}
	return len(c.result.Findings) == before
}

// portsOf are the ports whose speed is that of a link: of an aggregation the members that the link names.
func portsOf(w wanted, x *cable) []port {
	if !x.isBundle() {
		return []port{x.a, x.b}
	}
	var out []port
	for _, p := range []port{w.a, w.b} {
		if x.membersA[p] || x.membersB[p] {
			out = append(out, p)
		}
	}
	return out
}

// explainLink says what is at the ends of a link that no cable has.
func (c *comparison) explainLink(w wanted) {
	for _, end := range []struct{ here, there port }{{w.a, w.b}, {w.b, w.a}} {
		x := c.unusedAt(end.here)
		if x == nil {
			continue
		}
		x.explain()
		c.addLink(LinkMisplaced, w, "%s leads to %s, not to %s", end.here, x.other(end.here), end.there)
		last := len(c.result.Findings) - 1
		c.result.Findings[last].Found = []string{x.String()}
		return
	}
	if w.link.Optional {
		return
	}
	for _, end := range []port{w.a, w.b} {
		switch {
		case end.node.Silent:
			c.addLink(LinkMissing, w, "%s does not answer", end.node.label())
			return
		case end.id != "" && end.node.isManaged() && !end.node.port(end.id).Up:
			c.addLink(LinkMissing, w, "%s is down: no cable, or its other end is off", end)
			return
		}
	}
	if c.isInferred(w) {
		c.addLink(LinkMissing, w, "no device reports it: it is only inferred from forwarding tables or the spanning tree")
		return
	}
	c.addLink(LinkMissing, w, "no device reports it, though both ports are up: do both ends send LLDP?")
}

// isInferred reports whether an inferred link leads from one end of a link to the other.
func (c *comparison) isInferred(w wanted) bool {
	return slices.ContainsFunc(c.candidates(w), func(x *cable) bool { return x.inferred && x.joins(w) })
}

// unusedAt is a cable at a port, as far as none of the lab has it.
func (c *comparison) unusedAt(p port) *cable {
	if p.id == "" {
		return nil
	}
	for _, x := range c.at[p] {
		if !x.isUsed() && !x.inferred {
			return x
		}
	}
	return nil
}

// countOthers reports the cables between devices of the lab that it does not have, and counts those that lead out of
// it.
func (c *comparison) countOthers() {
	for _, x := range c.cables {
		switch a, b := c.inLab[x.a.node], c.inLab[x.b.node]; {
		case x.inferred:
		case x.isUsed():
			c.countMembers(x)
		case a && b:
			c.addExtra(x, "the lab has no such link")
		case a || b:
			c.result.Outside++
		}
	}
}

// countMembers reports the members of an aggregation that no link of the lab has.
func (c *comparison) countMembers(x *cable) {
	if x.whole || x.used >= x.capacity() {
		return
	}
	var unused []string
	for p := range x.ports {
		if !x.taken[p] && !x.isAggregation(p) {
			unused = append(unused, p.String())
		}
	}
	slices.Sort(unused)
	c.addExtra(x, fmt.Sprintf("the lab has %d of its %d cables; the others are among %s",
		x.used, x.capacity(), strings.Join(unused, ", ")))
}

func (c *comparison) addExtra(x *cable, text string) {
	c.add(Finding{
		Kind:    LinkExtra,
		Subject: x.String(),
		Text:    text,
		Found:   []string{x.String()},
	})
}
