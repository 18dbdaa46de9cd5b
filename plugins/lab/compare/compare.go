package compare

import (
	"cmp"
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

// Compare compares a lab with the network.
func Compare(lab *intent.Lab, found *Found) *Result {
	c := &comparison{
		lab:    lab,
		found:  found,
		nodes:  map[string]*Node{},
		inLab:  map[*Node]bool{},
		cables: collectCables(found),
		at:     map[port][]*cable{},
		result: &Result{},
	}
	for _, x := range c.cables {
		for p := range x.ports {
			c.at[p] = append(c.at[p], x)
		}
	}
	for _, list := range c.at {
		slices.SortFunc(list, compareCables)
	}
	c.compareDevices()
	c.compareLinks()
	slices.SortStableFunc(c.result.Findings, func(a, b Finding) int {
		return cmp.Compare(a.Line, b.Line)
	})
	return c.result
}

// port is a port of a node that was found.
type port struct {
	node *Node
	id   string
}

func (p port) String() string {
	if p.id == "" {
		return p.node.label()
	}
	return p.node.label() + ":" + p.node.portName(p.id)
}

// cable is what connects two nodes: one pair of ports, or those of an aggregation.
type cable struct {
	a, b port
	// ports are all that belong to it, with the end at which they are.
	ports map[port]bool // true at b
	// byB and byA say in which directions it is seen.
	byB, byA bool
	oneSided bool
	inferred bool
	used     bool
}

func (c *cable) String() string {
	return c.a.String() + " -- " + c.b.String()
}

func compareCables(x, y *cable) int {
	return cmp.Compare(x.String(), y.String())
}

// other is the end of the cable that does not have p.
func (c *cable) other(p port) port {
	if c.ports[p] {
		return c.a
	}
	return c.b
}

// collectCables makes one cable of the two directions of a link.
func collectCables(f *Found) []*cable {
	byEnds := map[[2]string]*cable{}
	var out []*cable
	for _, l := range f.Links {
		source, dest := f.Nodes[l.SourceNode], f.Nodes[l.DestNode]
		if source == nil || dest == nil {
			continue
		}
		x := cable{
			a:        port{source, l.SourcePort},
			b:        port{dest, l.DestPort},
			byB:      true,
			oneSided: l.OneSided,
			inferred: l.Inferred,
		}
		x.ports = membersOf(x.a, l.SourceMembers, x.b, l.DestMembers)
		key := [2]string{l.SourceNode + "\x00" + l.SourcePort, l.DestNode + "\x00" + l.DestPort}
		if key[0] > key[1] {
			key[0], key[1] = key[1], key[0]
			x.a, x.b = x.b, x.a
			x.byA, x.byB = x.byB, x.byA
			for p, atB := range x.ports {
				x.ports[p] = !atB
			}
		}
		known := byEnds[key]
		if known == nil {
			byEnds[key] = &x
			out = append(out, &x)
			continue
		}
		known.byA = known.byA || x.byA
		known.byB = known.byB || x.byB
		known.inferred = known.inferred && x.inferred
		known.oneSided = known.oneSided || x.oneSided
		for p, atB := range x.ports {
			known.ports[p] = atB
		}
	}
	slices.SortFunc(out, compareCables)
	return out
}

// membersOf are the ports of both ends: those of the aggregations too, if there are.
func membersOf(a port, atA []string, b port, atB []string) map[port]bool {
	out := map[port]bool{
		a: false,
		b: true,
	}
	for _, id := range atA {
		out[port{a.node, id}] = false
	}
	for _, id := range atB {
		out[port{b.node, id}] = true
	}
	return out
}

type comparison struct {
	lab    *intent.Lab
	found  *Found
	nodes  map[string]*Node // by the device's name in the lab
	inLab  map[*Node]bool
	cables []*cable
	at     map[port][]*cable
	result *Result
}

func (c *comparison) add(f Finding) {
	c.result.Findings = append(c.result.Findings, f)
}

// compareDevices finds the node of each device.
func (c *comparison) compareDevices() {
	for _, d := range c.lab.Devices {
		n := c.found.findNode(d.Name, d.Address)
		there := c.found.nodesAt(d.Address)
		if n != nil {
			c.nodes[d.Name] = n
			c.inLab[n] = true
		}
		say := func(kind Kind, format string, args ...any) {
			c.add(Finding{
				Kind:    kind,
				Subject: d.Name,
				Text:    fmt.Sprintf(format, args...),
				Line:    d.Line,
			})
		}
		switch {
		case len(there) > 0 && !slices.Contains(there, n):
			say(DeviceOther, "at %s is %s, not %s", d.Address, there[0].label(), d.Name)
		case n == nil && !d.Optional:
			say(DeviceMissing, "no source of topologies sees it: is it in the list of switches, does it answer, does its name (sysName) agree?")
		case n != nil && d.Address != "" && n.Address != "" && n.Address != d.Address:
			say(DeviceOther, "it is at %s, not at %s", n.Address, d.Address)
		case n != nil && n.Silent:
			say(DeviceSilent, "it does not answer: what is known of it is old")
		}
	}
}

// wanted is a link of the lab whose devices were found, with its ports.
type wanted struct {
	link intent.Link
	a, b port // an empty id: any port
}

// compareLinks matches what is as it shall be, then explains what is not.
func (c *comparison) compareLinks() {
	var open []wanted
	for _, anyPort := range []bool{false, true} { // those that name their ports choose first
		for _, l := range c.lab.Links {
			if (l.A.Port == "" || l.B.Port == "") != anyPort {
				continue
			}
			w, ok := c.resolveLink(l)
			if ok && !c.matchLink(w) {
				open = append(open, w)
			}
		}
	}
	open = c.takeSwapped(open)
	for _, w := range open {
		c.explainLink(w)
	}
	c.countOthers()
}

// resolveLink finds the ports of a link. A link at a device that is missing says nothing more than that.
func (c *comparison) resolveLink(l intent.Link) (wanted, bool) {
	w := wanted{link: l}
	for _, end := range []struct {
		said intent.End
		to   *port
	}{{l.A, &w.a}, {l.B, &w.b}} {
		n := c.nodes[end.said.Device]
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
		p, ok := n.findPort(end.said.Port)
		if !ok {
			c.addLink(PortUnknown, w, "%s has no port %s%s", end.said.Device, end.said.Port, suggestPorts(n))
			return w, false
		}
		end.to.id = p.ID
	}
	return w, true
}

// maxSuggested is how many names of ports an error shows.
const maxSuggested = 6

func suggestPorts(n *Node) string {
	if len(n.Ports) == 0 {
		return ": none of its ports is known"
	}
	var names []string
	for _, p := range n.Ports {
		names = append(names, n.portName(p.ID))
	}
	more := ""
	if len(names) > maxSuggested {
		names, more = names[:maxSuggested], ", …"
	}
	return ": it has " + strings.Join(names, ", ") + more
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

// matchLink finds the cable of a link, and whether it is as it shall be.
func (c *comparison) matchLink(w wanted) bool {
	for _, x := range c.candidates(w) {
		if !x.joins(w) {
			continue
		}
		isBundle := len(x.ports) > 2
		if x.used && !isBundle {
			continue
		}
		x.used = true
		c.checkCable(w, x)
		return true
	}
	return false
}

// candidates are the cables at the end whose port is named, or all of the node.
func (c *comparison) candidates(w wanted) []*cable {
	switch {
	case w.a.id != "":
		return c.at[w.a]
	case w.b.id != "":
		return c.at[w.b]
	}
	return c.cables
}

// joins reports whether a cable leads from one end of a link to the other.
func (c *cable) joins(w wanted) bool {
	has := func(p port, atB bool) bool {
		if p.id != "" {
			at, ok := c.ports[p]
			return ok && at == atB
		}
		if atB {
			return c.b.node == p.node
		}
		return c.a.node == p.node
	}
	return has(w.a, false) && has(w.b, true) || has(w.a, true) && has(w.b, false)
}

// checkCable looks at a cable that is where it shall be.
func (c *comparison) checkCable(w wanted, x *cable) {
	right := true
	for _, end := range []port{x.a, x.b} {
		kbps := end.node.speedOf(end.id)
		if w.link.Kbps > 0 && kbps > 0 && kbps != w.link.Kbps && len(x.ports) == 2 {
			c.addLink(LinkSpeed, w, "%s has %d Mbit/s, not %d", end, kbps/1000, w.link.Kbps/1000)
			right = false
			break
		}
	}
	if x.isOneWay() {
		c.addLink(LinkOneWay, w, "only one end reports it: does the other one receive and send LLDP?")
		right = false
	}
	if right {
		c.result.Right = append(c.result.Right, w.link)
	}
}

// isOneWay reports whether only one end of a cable says that it is there, though both are devices that would.
func (c *cable) isOneWay() bool {
	bothReport := c.a.node.reports() && c.b.node.reports()
	return !c.inferred && bothReport && (c.oneSided || !c.byA || !c.byB)
}

// reports reports whether a node is a device that says what its neighbours are.
func (n *Node) reports() bool {
	return n.MAC != 0 && !n.Silent
}

func (n *Node) speedOf(id string) uint64 {
	for _, p := range n.Ports {
		if p.ID == id {
			return p.Kbps
		}
	}
	return 0
}

// explainLink says what is at the ends of a link that no cable has.
func (c *comparison) explainLink(w wanted) {
	for _, end := range []struct{ here, there port }{{w.a, w.b}, {w.b, w.a}} {
		x := c.unusedAt(end.here)
		if x == nil {
			continue
		}
		x.used = true
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
		case end.id != "" && !end.node.isUp(end.id):
			c.addLink(LinkMissing, w, "%s is down: no cable, or its other end is off", end)
			return
		}
	}
	c.addLink(LinkMissing, w, "no device reports it, though both ports are up: do both ends send LLDP?")
}

func (n *Node) isUp(id string) bool {
	for _, p := range n.Ports {
		if p.ID == id {
			return p.Up
		}
	}
	return false
}

// unusedAt is a cable at a port, as far as none of the lab has it.
func (c *comparison) unusedAt(p port) *cable {
	if p.id == "" {
		return nil
	}
	for _, x := range c.at[p] {
		if !x.used && !x.inferred {
			return x
		}
	}
	return nil
}

// countOthers reports the cables between devices of the lab that it does not have, and counts those that lead out of
// it.
func (c *comparison) countOthers() {
	for _, x := range c.cables {
		if x.used || x.inferred {
			continue
		}
		switch a, b := c.inLab[x.a.node], c.inLab[x.b.node]; {
		case a && b:
			c.add(Finding{
				Kind:    LinkExtra,
				Subject: x.String(),
				Text:    "the lab has no such link",
				Found:   []string{x.String()},
			})
		case a || b:
			c.result.Outside++
		}
	}
}
