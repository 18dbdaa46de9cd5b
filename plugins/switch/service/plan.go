package service

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/plan"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// The bounds of reading what a plan is compared with: switches at a time, and switches outside the plan that are asked
// whether they carry its VLANs.
const (
	planReaders = 32
	maxTransit  = 1000
)

// The bounds of a preview: the problems that are shown, of each switch at least one, and the changes of a plan.
const (
	maxProblems = 1000
	maxChanges  = 20_000
)

// plannedSwitch is one switch of a plan, and what is to be done there.
type plannedSwitch struct {
	sw       *switchdriver.Switch
	name     string
	target   plan.Target
	state    plan.State
	changes  []plan.Change
	problems []string // for which nothing is applied
	risks    []string // for which nothing is applied without force
}

// preview is what a plan would change.
type preview struct {
	switches []*plannedSwitch
	gaps     []string // VLANs that the links do not carry all the way; nothing is applied without force
}

// node is the switch's node; 0: the plan names no switch of the list.
func (p *plannedSwitch) node() mib.MAC { return mib.MAC(p.sw.GetNodeId()) }

// targetOf finds the switch and the ports that a plan names, and at most so many problems.
func (s *Service) targetOf(p *plan.Plan, want *plan.Switch, most int) *plannedSwitch {
	out := &plannedSwitch{name: want.Switch}
	bad := func(err error) { out.problems = append(out.problems, err.Error()) }
	sw, err := s.findNamedSwitch(want.Switch)
	if err != nil {
		bad(err)
		return out
	}
	names := s.portNamesOf(mib.MAC(sw.NodeId))
	out.sw, out.name = sw, s.nameOf(mib.MAC(sw.NodeId))
	t := plan.Target{VLANs: map[uint32]string{}, Ports: map[uint32]plan.Port{}, Names: names}
	add := func(ids ...uint32) {
		for _, id := range ids {
			t.VLANs[id] = p.NameOf(id)
		}
	}
	add(want.VLANs...)
	for _, port := range want.Ports {
		if len(out.problems) >= max(most, 1) {
			break
		}
		number, err := names.parsePort(sw, "document", port.Port)
		if _, twice := t.Ports[number]; twice && err == nil {
			err = fmt.Errorf("port %.64q is in the plan twice", port.Port)
		}
		if err != nil {
			bad(err)
			continue
		}
		t.Ports[number] = port
		if port.Untagged != nil {
			add(*port.Untagged)
		}
		if port.Tagged != nil {
			add(*port.Tagged...)
		}
	}
	out.target = t
	return out
}

// compare reads a switch and finds what is to be changed there.
func (s *Service) compare(ctx context.Context, p *plannedSwitch) error {
	if err := s.readPlannedVLANs(ctx, p); err != nil {
		return err
	}
	if p.target.WantsSettings() {
		if err := s.readPlannedSettings(ctx, p); err != nil {
			return err
		}
	}
	p.changes = p.target.Changes(p.state)
	return nil
}

func (s *Service) readPlannedVLANs(ctx context.Context, p *plannedSwitch) error {
	reader, known, err := driver.For[switchdriver.VLANReader](ctx, s.drivers, p.sw, "ReadVlans")
	if err == nil {
		p.state.VLANs, err = reader.ReadVLANs(ctx, known)
	}
	return err
}

func (s *Service) readPlannedSettings(ctx context.Context, p *plannedSwitch) error {
	d, known, err := driver.For[switchdriver.PortSettingsReader](ctx, s.drivers, p.sw, "ReadPortSettings")
	if err == nil {
		p.state.Settings, _, err = d.ReadPortSettings(ctx, known, 0)
	}
	return err
}

// preview compares a plan with the switches, and checks it.
func (s *Service) previewPlan(ctx context.Context, p *plan.Plan) (*preview, error) {
	out := &preview{}
	nodes := map[mib.MAC]string{}
	problems := 0
	for i := range p.Switches {
		if ctx.Err() != nil {
			return nil, notRead(ctx)
		}
		sw := s.targetOf(p, &p.Switches[i], maxProblems-problems)
		if other, twice := nodes[sw.node()]; twice && sw.sw != nil {
			sw.problems = append(sw.problems, fmt.Sprintf("it is in the plan twice, also as %.64q", other))
		}
		nodes[sw.node()] = p.Switches[i].Switch
		problems += len(sw.problems)
		out.switches = append(out.switches, sw)
	}
	var changes atomic.Int64
	var g errgroup.Group
	g.SetLimit(planReaders)
	for _, sw := range out.switches {
		if sw.sw != nil && len(sw.problems) == 0 {
			g.Go(func() error {
				s.checkPlanned(ctx, sw, &changes)
				return nil
			})
		}
	}
	_ = g.Wait()
	if ctx.Err() != nil {
		return nil, notRead(ctx)
	}
	if out.hasProblems() {
		return out, nil
	}
	out.gaps = s.findGaps(ctx, out)
	if ctx.Err() != nil {
		return nil, notRead(ctx)
	}
	return out, nil
}

// notRead is the fault of a preview that ends before all is read.
func notRead(ctx context.Context) error {
	return fault.Wrap(fault.Timeout, ctx.Err(), "the switches of the plan were not all read in time: %v", ctx.Err())
}

func (p *preview) hasProblems() bool {
	return slices.ContainsFunc(p.switches, func(sw *plannedSwitch) bool { return len(sw.problems) > 0 })
}

// maxRefused bounds the faults for which a plan is refused.
const maxRefused = 100

// refuse is why a plan is not applied; nil: nothing is in the way.
func (p *preview) refuse(force bool) error {
	var l fault.List
	for _, sw := range p.switches {
		for _, text := range sw.problems {
			l = append(l, fault.At(fault.Invalid, "document", "switch %.64s: %s", sw.name, text))
		}
		if len(l) >= maxRefused {
			l = append(l[:maxRefused], fault.At(fault.Invalid, "document", "there may be more; see the preview"))
			break
		}
	}
	if len(l) > 0 || force {
		return l.Err()
	}
	for _, sw := range p.switches {
		for _, text := range sw.risks {
			l = append(l, fault.At(fault.InUse, "force", "switch %s: %s", sw.name, text))
		}
		if len(l) >= maxRefused {
			return l[:maxRefused]
		}
	}
	for _, text := range p.gaps[:min(len(p.gaps), maxRefused)] {
		l = append(l, fault.At(fault.InUse, "force", "%s; write force to apply the plan nevertheless", text))
	}
	return l.Err()
}

// checkPlanned reads a switch and checks that its drivers can make it as planned. all counts the changes of the plan.
func (s *Service) checkPlanned(ctx context.Context, p *plannedSwitch, all *atomic.Int64) {
	if err := s.compare(ctx, p); err != nil {
		p.problems = append(p.problems, err.Error())
		return
	}
	if all.Add(int64(len(p.changes))) > maxChanges {
		p.changes = nil
		p.problems = append(p.problems, fmt.Sprintf("the plan makes more than %d changes; divide it", maxChanges))
		return
	}
	lacks := map[string]bool{}
	for _, c := range p.changes {
		o := writes.Operation{Request: c.Request}
		if _, _, err := s.drivers.Find(ctx, p.sw, o.Name()); err != nil && !lacks[o.Name()] {
			lacks[o.Name()] = true
			p.problems = append(p.problems, err.Error())
		}
		r, ok := c.Request.(*pluginv1.WritePortSettingsRequest)
		if !ok || !interrupts(r.Settings) {
			continue
		}
		if err := s.refuseRisk(ctx, p.sw, c.Port); err != nil {
			p.risks = append(p.risks, err.Error())
		}
	}
	for _, v := range p.state.VLANs {
		if len(p.problems) >= maxProblems {
			break
		}
		if want := p.target.VLANs[v.VlanId]; want != "" && v.Name != want {
			p.problems = append(p.problems, fmt.Sprintf("VLAN %d exists with the name %q, not %q", v.VlanId, v.Name, want))
		}
	}
}

// planned is a switch's VLANs as they are once its changes are made.
func (p *plannedSwitch) planned() []*switchdriver.VLAN {
	now := map[uint32]*switchdriver.VLAN{}
	for _, v := range p.state.VLANs {
		now[v.VlanId] = v
	}
	for _, c := range p.changes {
		if r, ok := c.Request.(*pluginv1.WriteVlanRequest); ok {
			now[r.Vlan.VlanId] = r.Vlan
		}
	}
	return slices.Collect(maps.Values(now))
}

// findGaps finds the VLANs of a plan whose ports are on switches that no chain of links connects of which both ends
// have the VLAN.
func (s *Service) findGaps(ctx context.Context, p *preview) (out []string) {
	vlans := map[mib.MAC][]*switchdriver.VLAN{}
	wanted := map[uint32]map[mib.MAC]string{} // the switches with ports of a VLAN of the plan
	links := s.bridgeLinks()
	for _, sw := range p.switches {
		vlans[sw.node()] = sw.planned()
	}
	for _, sw := range p.switches {
		for _, id := range sw.access(links) {
			if wanted[id] == nil {
				wanted[id] = map[mib.MAC]string{}
			}
			wanted[id][sw.node()] = sw.name
		}
	}
	maps.DeleteFunc(wanted, func(_ uint32, on map[mib.MAC]string) bool { return len(on) < 2 })
	if len(wanted) == 0 {
		return nil
	}
	s.readTransit(ctx, vlans)
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		if ctx.Err() != nil {
			break
		}
		if groups := connectedBy(id, wanted[id], links, vlans); len(groups) > 1 {
			out = append(out, fmt.Sprintf(
				"VLAN %d: no links carry it all the way between its ports at %s",
				id,
				strings.Join(groups, " and those at "),
			))
		}
	}
	return out
}

// access are the VLANs that the plan puts ports into that lead to no other switch.
func (p *plannedSwitch) access(links []bridgeLink) (out []uint32) {
	trunk := map[uint32]bool{}
	for _, l := range links {
		for _, e := range []linkEnd{l.a, l.b} {
			for _, n := range e.numbers {
				trunk[n] = trunk[n] || e.node == p.node()
			}
		}
	}
	for number, port := range p.target.Ports {
		if trunk[number] {
			continue
		}
		if port.Untagged != nil {
			out = append(out, *port.Untagged)
		}
		if port.Tagged != nil {
			out = append(out, *port.Tagged...)
		}
	}
	return out
}

// readTransit reads the VLANs of the switches that are not in the plan: its VLANs may go through them. One that does not
// answer carries none.
func (s *Service) readTransit(ctx context.Context, vlans map[mib.MAC][]*switchdriver.VLAN) {
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(planReaders)
	asked := 0
	for _, sw := range s.inventory.All() {
		if _, known := vlans[mib.MAC(sw.NodeId)]; known || asked == maxTransit {
			continue
		}
		asked++
		g.Go(func() error {
			p := &plannedSwitch{sw: sw}
			if s.compare(ctx, p) == nil {
				mu.Lock()
				defer mu.Unlock()
				vlans[p.node()] = p.state.VLANs
			}
			return nil
		})
	}
	_ = g.Wait()
}

// connectedBy are the switches in groups, each of which is connected by links that carry a VLAN.
func connectedBy(
	id uint32,
	on map[mib.MAC]string,
	links []bridgeLink,
	vlans map[mib.MAC][]*switchdriver.VLAN,
) (groups []string) {
	of := map[mib.MAC][]*switchdriver.VLAN{}
	for node, list := range vlans {
		if i := slices.IndexFunc(list, func(v *switchdriver.VLAN) bool { return v.VlanId == id }); i >= 0 {
			of[node] = list[i : i+1]
		}
	}
	next := map[mib.MAC][]mib.MAC{}
	for _, l := range links {
		if hasVLAN(of[l.a.node], l.a.numbers) && hasVLAN(of[l.b.node], l.b.numbers) {
			next[l.a.node] = append(next[l.a.node], l.b.node)
			next[l.b.node] = append(next[l.b.node], l.a.node)
		}
	}
	seen := map[mib.MAC]bool{}
	for _, start := range slices.Sorted(maps.Keys(on)) {
		if seen[start] {
			continue
		}
		var names []string
		seen[start] = true
		for queue := []mib.MAC{start}; len(queue) > 0; queue = queue[1:] {
			if name, ok := on[queue[0]]; ok {
				names = append(names, name)
			}
			for _, peer := range next[queue[0]] {
				if !seen[peer] {
					seen[peer] = true
					queue = append(queue, peer)
				}
			}
		}
		groups = append(groups, strings.Join(names, ", "))
	}
	return groups
}
