package service

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// macOf reads the leaf mac-address; 0 where it is absent.
func macOf(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	m, err := mib.ParseMAC(text)
	if err != nil {
		return 0, fault.At(fault.Invalid, "mac-address", "%v", err)
	}
	return uint64(m), nil
}

// page is a page of a long table.
type page[T line] struct {
	Entries []T `json:"entry"`
	pageOut
	columns []commands.Column
}

// line is an entry that the console shows in the columns of its table.
type line interface{ tableCells() []any }

func (p *page[T]) formatTable() string {
	t := commands.Table{
		Empty:   "No entries.",
		Columns: p.columns,
	}
	for _, e := range p.Entries {
		t.Add(e.tableCells()...)
	}
	return t.String() + cutNote(p.Partial)
}

// fdbLinesIn and fdbLine are RPC fdb of module switch.
type fdbLinesIn struct {
	whichIn
	VLAN uint32 `json:"vlan-id"`
	MAC  string `json:"mac-address"`
	pageIn
}

type fdbLine struct {
	VLAN uint32 `json:"vlan-id"`
	MAC  string `json:"mac-address"`
	portID
	Type string `json:"type"`
}

func (e fdbLine) tableCells() []any {
	return []any{e.VLAN, e.MAC, e.Port, e.Number, e.Type}
}

func (s *Service) fdbLines(
	ctx context.Context,
	sw *switchdriver.Switch,
	in fdbLinesIn,
) (*page[fdbLine], error) {
	mac, err := macOf(in.MAC)
	if err != nil {
		return nil, err
	}
	names := s.portNamesOf(mib.MAC(sw.NodeId))
	port, err := names.parsePort(sw, "port", in.Port)
	if err != nil {
		return nil, err
	}
	q := driver.Query{
		VLAN:   in.VLAN,
		MAC:    mac,
		Port:   port,
		Cursor: in.Cursor,
		Limit:  in.pageRows(),
	}
	p, err := s.drivers.ReadFDB(ctx, sw, q)
	if err != nil {
		return nil, err
	}
	out := &page[fdbLine]{
		Entries: make([]fdbLine, 0, len(p.Entries)),
		pageOut: pageOut{p.Next, formatCuts(p.Partial)},
		columns: []commands.Column{{
			Title: "VLAN",
			Right: true,
		}, {Title: "MAC address"}, {Title: "Port"},
			{Title: "No", Right: true}, {Title: "Type"}},
	}
	for _, e := range p.Entries {
		out.Entries = append(
			out.Entries,
			fdbLine{e.VlanId, mib.MAC(e.Mac).String(), portID{names.nameOfPort(e.Port), e.Port}, entryOf(sw, e).Type},
		)
	}
	return out, nil
}

// arpLinesIn and arpLine are RPC arp of module switch.
type arpLinesIn struct {
	whichIn
	MAC string `json:"mac-address"`
	pageIn
}

type arpLine struct {
	IP      string `json:"ip-address"`
	MAC     string `json:"mac-address"`
	IfIndex uint32 `json:"if-index"`
	Type    string `json:"type"`
}

func (e arpLine) tableCells() []any {
	return []any{e.IP, e.MAC, e.IfIndex, e.Type}
}

func (s *Service) arpLines(
	ctx context.Context,
	sw *switchdriver.Switch,
	in arpLinesIn,
) (*page[arpLine], error) {
	mac, err := macOf(in.MAC)
	if err != nil {
		return nil, err
	}
	p, err := s.drivers.ReadARP(
		ctx,
		sw,
		driver.Query{
			MAC:    mac,
			Cursor: in.Cursor,
			Limit:  in.pageRows(),
		},
	)
	if err != nil {
		return nil, err
	}
	out := &page[arpLine]{
		Entries: make([]arpLine, 0, len(p.Entries)),
		pageOut: pageOut{p.Next, formatCuts(p.Partial)},
		columns: []commands.Column{{Title: "IP address"}, {Title: "MAC address"}, {
			Title: "Interface",
			Right: true,
		},
			{Title: "Type"}},
	}
	for _, e := range p.Entries {
		kind := map[int32]string{
			3:                 "dynamic",
			mib.ARPTypeStatic: "static",
		}[e.Type]
		if kind == "" {
			kind = "other"
		}
		out.Entries = append(
			out.Entries,
			arpLine{e.IpAddress, mib.MAC(e.Mac).String(), e.IfIndex, kind},
		)
	}
	return out, nil
}

type stpLine struct {
	portID
	Enabled bool   `json:"enabled"`
	State   string `json:"state,omitempty"`
	Root    string `json:"root,omitempty"`
}

type stpLines struct {
	ofSwitch
	Enabled bool      `json:"enabled"`
	Entries []stpLine `json:"entry"`
}

func (s *Service) stpLines(
	ctx context.Context,
	sw *switchdriver.Switch,
	in whichIn,
) (*stpLines, error) {
	d, known, err := driver.For[switchdriver.STPReader](ctx, s.drivers, sw, "ReadStp")
	if err != nil {
		return nil, err
	}
	ports, on, err := d.ReadSTP(ctx, known, 0)
	if err != nil {
		return nil, err
	}
	names := s.portNamesOf(mib.MAC(sw.NodeId))
	out := &stpLines{s.switchIdentity(mib.MAC(sw.NodeId)), on, make([]stpLine, 0, len(ports))}
	for _, p := range ports {
		l := stpLine{portID{names.nameOfPort(p.Port), p.Port}, p.Enabled, stpStates[p.State], ""}
		if len(p.DesignatedRoot) == 8 {
			l.Root = fmt.Sprintf(
				"%d %s",
				binary.BigEndian.Uint16(p.DesignatedRoot),
				mib.MACFromBytes(p.DesignatedRoot[2:]),
			)
		}
		out.Entries = append(out.Entries, l)
	}
	return out, nil
}

func (o *stpLines) formatTable() string {
	t := commands.Table{
		Empty: "The switch has no ports in a spanning tree.",
		Columns: []commands.Column{{Title: "Port"}, {
			Title: "No",
			Right: true,
		}, {Title: "Enabled"}, {Title: "State"}, {Title: "Root"}},
	}
	for _, e := range o.Entries {
		t.Add(e.Port, e.Number, e.Enabled, e.State, e.Root)
	}
	return t.String()
}

// vlanIDIn names a VLAN of a switch, or of all.
type vlanIDIn struct {
	Switch string `json:"switch"`
	VLAN   uint32 `json:"vlan-id"`

	answering bool // switches that did not answer last are left out
}

func (in vlanIDIn) which() string { return in.Switch }

type vlanLine struct {
	ofSwitch
	VLAN     uint32   `json:"vlan-id"`
	Name     string   `json:"vlan-name,omitempty"`
	Dynamic  bool     `json:"dynamic"`
	Tagged   []string `json:"tagged-port"`
	Untagged []string `json:"untagged-port"`
}

type vlanLines struct {
	Entries    []vlanLine    `json:"entry"`
	Mismatches []mismatch    `json:"mismatch,omitempty"`
	Links      []carriedLink `json:"link,omitempty"`
	Partial    []string      `json:"partial,omitempty"`
}

// vlanLines reads the VLANs of a switch, or of all. Of one switch a failure is the answer, of many it is shown beside
// the others, with what does not match between them.
func (s *Service) vlanLines(ctx context.Context, in vlanIDIn) (*vlanLines, error) {
	out := &vlanLines{Entries: []vlanLine{}}
	read := map[mib.MAC][]*switchdriver.VLAN{}
	partial, err := s.askEach(ctx, in.Switch, func(ctx context.Context, sw *switchdriver.Switch, mu *sync.Mutex) error {
		if silent := s.survey.Failure(mib.MAC(sw.NodeId)); silent != nil && in.answering {
			return silent
		}
		d, known, err := driver.For[switchdriver.VLANReader](ctx, s.drivers, sw, "ReadVlans")
		if err != nil {
			return err
		}
		vlans, err := d.ReadVLANs(ctx, known)
		if err != nil {
			return err
		}
		m := mib.MAC(sw.NodeId)
		names := s.portNamesOf(m)
		mu.Lock()
		defer mu.Unlock()
		read[m] = nil
		for _, v := range vlans {
			if in.VLAN == 0 || v.VlanId == in.VLAN {
				read[m] = append(read[m], v)
				out.Entries = append(
					out.Entries,
					vlanLine{s.switchIdentity(m), v.VlanId, v.Name, v.Dynamic, names.allNames(taggedPorts(v)), names.allNames(v.UntaggedPorts)},
				)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(out.Entries, func(a, b vlanLine) int {
		return strings.Compare(a.Switch, b.Switch)
	})
	out.Partial = partial
	if in.Switch == "" {
		links := s.bridgeLinks()
		out.Mismatches = findMismatches(links, read)
		if in.VLAN != 0 {
			out.Links = findCarriedLinks(links, read)
		}
	}
	return out, nil
}

func (o *vlanLines) formatTable() string {
	t := commands.Table{
		Empty: "No VLANs.",
		Columns: []commands.Column{{
			Title: "Switch",
			Max:   32,
		}, {
			Title: "VLAN",
			Right: true,
		}, {Title: "Name", Max: 32}, {Title: "Dynamic"},
			{
				Title: "Untagged",
				Max:   60,
			}, {Title: "Tagged", Max: 60}},
	}
	for _, e := range o.Entries {
		t.Add(
			e.Switch,
			e.VLAN,
			e.Name,
			e.Dynamic,
			commands.List(",", e.Untagged),
			commands.List(",", e.Tagged),
		)
	}
	text := t.String()
	if n := len(o.Mismatches); n > 0 {
		text += fmt.Sprintf("mismatches: %d; switch:vlan-mismatches shows them\n", n)
	}
	return text + cutNote(o.Partial)
}

// taggedPorts returns the ports that frames of a VLAN leave with a tag.
func taggedPorts(v *switchdriver.VLAN) []uint32 {
	return slices.DeleteFunc(slices.Clone(v.EgressPorts), func(p uint32) bool {
		return slices.Contains(v.UntaggedPorts, p)
	})
}

// The bounds of asking all switches.
const (
	askedAtOnce = 64
	askedTime   = 20 * time.Second // for one switch
	maxPartial  = 100
)

// askEach asks a switch, or all of the list at the same time. It fails with what failed of the one; of all, it names those
// that did.
func (s *Service) askEach(
	ctx context.Context,
	which string,
	ask func(context.Context, *switchdriver.Switch, *sync.Mutex) error,
) (partial []string, err error) {
	var mu sync.Mutex
	if which != "" {
		sw, err := s.findNamedSwitch(which)
		if err != nil {
			return nil, err
		}
		return nil, ask(ctx, sw, &mu)
	}
	var g errgroup.Group
	g.SetLimit(askedAtOnce)
	for _, sw := range s.inventory.All() {
		g.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, askedTime)
			defer cancel()
			if err := ask(ctx, sw, &mu); err != nil {
				mu.Lock()
				defer mu.Unlock()
				partial = append(partial, s.nameOf(mib.MAC(sw.NodeId))+": "+err.Error())
			}
			return nil
		})
	}
	_ = g.Wait() // failures are in partial
	slices.Sort(partial)
	if more := len(partial) - maxPartial; more > 0 {
		partial = append(partial[:maxPartial], fmt.Sprintf("and %d more", more))
	}
	return partial, nil
}
