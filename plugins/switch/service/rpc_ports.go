package service

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// whichIn names a switch, and a port of it.
type whichIn struct {
	Switch string `json:"switch"`
	Port   string `json:"port"`
}

func (in whichIn) which() string { return in.Switch }

type portID struct {
	Port   string `json:"port"`
	Number uint32 `json:"number"`
}

type portView struct {
	portID
	Description string   `json:"description,omitempty"`
	Alias       string   `json:"alias,omitempty"`
	MAC         string   `json:"mac-address,omitempty"`
	Admin       string   `json:"admin-state"`
	State       string   `json:"state"`
	Speed       uint64   `json:"speed-kbps,omitempty"`
	PVID        uint32   `json:"pvid,omitempty"`
	Tagged      []uint32 `json:"tagged-vlan,omitempty"`
	Untagged    []uint32 `json:"untagged-vlan,omitempty"`
	STP         string   `json:"stp-state,omitempty"`
	Neighbors   []string `json:"neighbor,omitempty"`
}

type portsOut struct {
	ofSwitch
	quality
	Entries []portView `json:"entry"`
}

// statusText is ifAdminStatus or ifOperStatus in words.
func statusText(n int32) string {
	switch n {
	case 1:
		return "up"
	case 2, 7: // lowerLayerDown
		return "down"
	}
	return "unknown"
}

// getPorts reads the ports of a switch with their VLANs and spanning tree. What the switch does not have is left out;
// what could not be read is named.
func (s *Service) getPorts(
	ctx context.Context,
	sw *switchdriver.Switch,
	in whichIn,
) (*portsOut, error) {
	o, q, err := s.readCurrent(ctx, sw)
	if err != nil {
		return nil, err
	}
	only, err := namesOf(o).parsePort(sw, "port", in.Port)
	if err != nil {
		return nil, err
	}
	var vlans []*switchdriver.VLAN
	var pvids map[uint32]uint32
	var stp []*switchdriver.STPPort
	aliases := map[uint32]string{}
	if q.Answering {
		var g errgroup.Group
		var cuts [3]string
		g.Go(func() (err error) {
			if vlans, pvids, err = s.drivers.PortVLANs(ctx, sw); err != nil &&
				fault.KindOf(err) != fault.Unsupported {
				cuts[0] = "VLANs: " + err.Error()
			}
			return nil
		})
		g.Go(func() error {
			d, known, err := driver.For[switchdriver.STPReader](ctx, s.drivers, sw, "ReadStp")
			if err == nil {
				stp, _, err = d.ReadSTP(ctx, known, 0)
			}
			if err != nil && fault.KindOf(err) != fault.Unsupported {
				cuts[1] = "spanning tree: " + err.Error()
			}
			return nil
		})
		g.Go(func() error {
			settings, _, err := s.readSettings(ctx, sw, only)
			if err != nil && fault.KindOf(err) != fault.Unsupported {
				cuts[2] = "descriptions: " + err.Error()
			}
			for _, p := range settings {
				aliases[p.Port] = p.GetDescription()
			}
			return nil
		})
		_ = g.Wait() // what failed is in cuts
		for _, c := range cuts {
			if c != "" {
				q.Partial = append(q.Partial, c)
			}
		}
	}
	out := &portsOut{s.switchIdentity(mib.MAC(sw.NodeId)), q, []portView{}}
	neighbors := s.attachedDevices(o)
	bridged := slices.ContainsFunc(o.Ports, func(p discovery.Port) bool {
		return p.Bridged
	})
	for _, p := range o.Ports {
		if only != 0 && p.Number != only {
			continue
		}
		v := portView{
			portID:      portID{portName(p), p.Number},
			Description: p.Descr,
			Alias:       aliases[p.Number],
			Admin:       statusText(p.Admin),
			State:       statusText(p.Oper),
			Speed:       p.Speed / 1000,
			Neighbors:   neighbors[p.ID],
		}
		if p.MAC != 0 {
			v.MAC = p.MAC.String()
		}
		if p.Bridged || !bridged { // a bridge that does not list its ports
			v.setVLANs(vlans, pvids)
			v.setSTP(stp)
		}
		out.Entries = append(out.Entries, v)
	}
	return out, nil
}

func (v *portView) setVLANs(vlans []*switchdriver.VLAN, pvids map[uint32]uint32) {
	for _, vlan := range vlans {
		switch {
		case slices.Contains(vlan.UntaggedPorts, v.Number):
			v.Untagged = append(v.Untagged, vlan.VlanId)
		case slices.Contains(vlan.EgressPorts, v.Number):
			v.Tagged = append(v.Tagged, vlan.VlanId)
		}
	}
	if v.PVID = pvids[v.Number]; v.PVID == 0 && len(v.Untagged) == 1 {
		v.PVID = v.Untagged[0]
	}
}

func (v *portView) setSTP(stp []*switchdriver.STPPort) {
	i := slices.IndexFunc(stp, func(p *switchdriver.STPPort) bool {
		return p.Port == v.Number
	})
	if i >= 0 {
		v.STP = stpStates[stp[i].State]
	}
}

// attachedDevices says who is at the ports of a switch: at the other end of an edge, else by the neighbour's own words.
func (s *Service) attachedDevices(o *discovery.Observation) map[string][]string {
	out := map[string][]string{}
	add := func(port, text string) {
		if text != "" && !slices.Contains(out[port], text) {
			out[port] = append(out[port], text)
		}
	}
	if n := s.survey.Network(); n != nil {
		names := n.Names()
		for _, e := range n.Edges {
			if e.Head.Node == discovery.NodeID(o.Node) {
				add(e.Head.Port, cmp.Or(names[e.Tail.Node], e.Tail.Node)+" "+s.portOf(e.Tail))
			}
		}
	}
	for _, nb := range o.Neighbors {
		if len(out[nb.LocalPort]) == 0 {
			add(nb.LocalPort, neighborName(nb))
		}
	}
	return out
}

// portOf is the name of the port at an end of an edge.
func (s *Service) portOf(e discovery.End) string {
	if id, err := strconv.ParseUint(e.Node, 10, 48); err == nil {
		if o := s.survey.Observation(mib.MAC(id)); o != nil {
			i := slices.IndexFunc(o.Ports, func(p discovery.Port) bool {
				return p.ID == e.Port
			})
			if i >= 0 {
				return portName(o.Ports[i])
			}
		}
	}
	return e.Port
}

func (o *portsOut) formatTable() string {
	t := commands.Table{
		Empty: "The switch reports no ports.",
		Columns: []commands.Column{{Title: "Port"}, {
			Title: "No",
			Right: true,
		}, {Title: "Description", Max: 32}, {Title: "Admin"},
			{Title: "State"}, {
				Title: "Speed",
				Right: true,
			}, {
				Title: "PVID",
				Right: true,
			}, {
				Title: "Untagged",
				Max:   24,
			}, {
				Title: "Tagged",
				Max:   32,
			}, {Title: "STP"}, {Title: "Neighbour", Max: 48}},
	}
	for _, p := range o.Entries {
		t.Add(
			p.Port,
			p.Number,
			p.Alias,
			p.Admin,
			p.State,
			formatSpeed(p.Speed),
			formatNonZero(p.PVID),
			commands.List(",", p.Untagged),
			commands.List(",", p.Tagged),
			p.STP,
			commands.List(", ", p.Neighbors),
		)
	}
	return t.String() + o.qualityNote()
}

// qualityNote says how good an answer is, where it is not as it should be.
func (q quality) qualityNote() (text string) {
	if !q.Answering {
		text = "The switch does not answer; this is what it reported at " + q.Observed + ".\n"
	}
	return text + cutNote(q.Partial)
}

func cutNote(partial []string) (text string) {
	for _, p := range partial {
		text += "partial: " + p + "\n"
	}
	return text
}

func formatNonZero(n uint32) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(n), 10)
}

// formatSpeed writes kbit/s as people say it.
func formatSpeed(kbps uint64) string {
	switch {
	case kbps == 0:
		return ""
	case kbps%1_000_000 == 0:
		return strconv.FormatUint(kbps/1_000_000, 10) + "G"
	case kbps%1000 == 0:
		return strconv.FormatUint(kbps/1000, 10) + "M"
	}
	return strconv.FormatUint(kbps, 10) + "k"
}
