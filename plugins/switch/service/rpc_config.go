package service

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/switchdriver"
)

func (s *Service) configRPCs(m operations.Mux) {
	registerResultHandler(m, "misc-config:set-stp-port-state", s.setSTPPortState)
	registerHandler(m, "misc-config:get-stp-port-state", s.getSTPPortState)
	registerHandler(m, "misc-config:get-stp-port-root", s.getSTPPortRoot)
	registerResultHandler(m, "misc-config:enable-stp", s.writeSTP(true))
	registerResultHandler(m, "misc-config:disable-stp", s.writeSTP(false))
	registerHandler(m, "misc-config:get-arp-table", s.getARPTable)
	registerHandler(m, "misc-config:get-arp-entry", s.getARPEntry)
	registerResultHandler(m, "misc-config:set-arp-entry", s.setARPEntry)
	registerResultHandler(m, "misc-config:delete-arp-entry", s.deleteARPEntry)
}

// stpIn names a port of a switch, and what it is to do.
type stpIn struct {
	nodeIn
	Port   uint32 `json:"port"`
	Enable bool   `json:"enable"`
}

func (s *Service) stpPort(
	ctx context.Context,
	in stpIn,
) (*switchdriver.Switch, *switchdriver.STPPort, error) {
	d, sw, err := readerOf[switchdriver.STPReader](ctx, s, in.Node, "ReadStp")
	if err != nil {
		return nil, nil, err
	}
	ports, _, err := d.ReadSTP(ctx, sw, in.Port)
	switch {
	case err != nil:
		return nil, nil, err
	case len(ports) == 0:
		return nil, nil, fault.At(
			fault.NotFound,
			"port",
			"switch %s has no port %d in its spanning tree",
			switchdriver.Label(sw),
			in.Port,
		)
	}
	return sw, ports[0], nil
}

// stpStates are the values of dot1dStpPortState.
var stpStates = map[int32]string{
	switchdriver.STPDisabled:   "DISABLED",
	switchdriver.STPBlocking:   "BLOCKING",
	switchdriver.STPListening:  "LISTENING",
	switchdriver.STPLearning:   "LEARNING",
	switchdriver.STPForwarding: "FORWARDING",
	switchdriver.STPBroken:     "BROKEN",
}

func (s *Service) getSTPPortState(ctx context.Context, in stpIn) (any, error) {
	sw, p, err := s.stpPort(ctx, in)
	if err != nil {
		return nil, err
	}
	name, ok := stpStates[p.State]
	if !ok {
		return nil, fault.Device(
			fault.Downstream,
			"switch %s reports the unknown state %d of port %d",
			switchdriver.Label(sw),
			p.State,
			p.Port,
		)
	}
	return map[string]string{"stp-port-state": name}, nil
}

// getSTPPortRoot answers the address of the bridge identifier; its priority is left out.
func (s *Service) getSTPPortRoot(ctx context.Context, in stpIn) (any, error) {
	sw, p, err := s.stpPort(ctx, in)
	if err != nil {
		return nil, err
	}
	if len(p.DesignatedRoot) != 8 {
		return nil, fault.Device(
			fault.Unsupported,
			"switch %s does not report the root that port %d knows",
			switchdriver.Label(sw),
			p.Port,
		)
	}
	return map[string]uint64{"root-node-id": binary.BigEndian.Uint64(p.DesignatedRoot) & (1<<48 - 1)}, nil
}

func (s *Service) setSTPPortState(ctx context.Context, in stpIn) error {
	what := map[bool]string{
		true:  "enabling spanning tree",
		false: "disabling spanning tree",
	}[in.Enable]
	if in.Port != 0 {
		what += fmt.Sprintf(" at port %d", in.Port)
	}
	return s.changeSwitch(ctx, in.Node, writes.Operation{What: what,
		Request: &pluginv1.WriteStpRequest{
			Port:   in.Port,
			Enable: in.Enable,
		}})
}

// writeSTP makes the handler that switches spanning tree of a whole switch.
func (s *Service) writeSTP(enable bool) func(context.Context, stpIn) error {
	return func(ctx context.Context, in stpIn) error {
		return s.setSTPPortState(ctx, stpIn{
			nodeIn: in.nodeIn,
			Enable: enable,
		})
	}
}

// arpEntry is grouping arp-entry of module misc-config.
type arpEntry struct {
	Address string `json:"ip-address"`
	MAC     uint64 `json:"mac-address"`
}

type arpTable struct {
	Entries []arpEntry `json:"arp-table-entry"`
	pageOut
}

// getARPTable answers a page of the table.
func (s *Service) getARPTable(ctx context.Context, in struct {
	nodeIn
	pageIn
}) (*arpTable, error) {
	sw, err := s.switchOf("node-id", in.Node)
	if err != nil {
		return nil, err
	}
	p, err := s.drivers.ReadARP(ctx, sw, driver.Query{
		Cursor: in.Cursor,
		Limit:  in.pageRows(),
	})
	if err != nil {
		return nil, err
	}
	out := &arpTable{
		Entries: make([]arpEntry, 0, len(p.Entries)),
		pageOut: pageOut{p.Next, formatCuts(p.Partial)},
	}
	for _, e := range p.Entries {
		out.Entries = append(out.Entries, arpEntry{e.IpAddress, e.Mac})
	}
	return out, nil
}

// arpIn names an ARP entry; set-arp-entry alone has the MAC address.
type arpIn struct {
	nodeIn
	Address string  `json:"ip-address"`
	MAC     mib.MAC `json:"mac-address"`
}

// deviceAddress reads the IPv4 address of a device, with or without the length of its subnet's prefix; 0 means no length.
func (in arpIn) deviceAddress() (address string, bits uint32, err error) {
	const leaf = "ip-address"
	text := strings.TrimSpace(in.Address)
	if strings.Contains(text, "/") {
		p, err := netip.ParsePrefix(text)
		if err != nil || !p.Addr().Is4() || p.Bits() == 0 {
			return "", 0, fault.At(
				fault.Invalid,
				leaf,
				"%.40q is not an IPv4 address with the length of its prefix, 192.0.2.7/24",
				text,
			)
		}
		text, bits = p.Addr().String(), uint32(p.Bits())
	}
	a, err := netip.ParseAddr(text)
	if err != nil || !a.Is4() || a.IsUnspecified() || a.IsMulticast() {
		return "", 0, fault.At(
			fault.Invalid,
			leaf,
			"%.40q is not the IPv4 address of a device, 192.0.2.7 or 192.0.2.7/24",
			text,
		)
	}
	return a.String(), bits, nil
}

func (s *Service) getARPEntry(ctx context.Context, in arpIn) (*arpEntry, error) {
	address, bits, err := in.deviceAddress()
	if err != nil {
		return nil, err
	}
	d, sw, err := readerOf[switchdriver.ARPReader](ctx, s, in.Node, "ReadArp")
	if err != nil {
		return nil, err
	}
	all, err := d.ReadARP(ctx, sw, address)
	switch {
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, fault.At(
			fault.NotFound,
			"ip-address",
			"switch %s has no ARP entry for %s",
			switchdriver.Label(sw),
			address,
		)
	case bits != 0:
		if err := s.standard.CheckPrefix(ctx, sw, address, bits); err != nil {
			return nil, err
		}
	}
	return &arpEntry{all[0].IpAddress, all[0].Mac}, nil
}

func (s *Service) setARPEntry(ctx context.Context, in arpIn) error {
	address, bits, err := in.deviceAddress()
	if l := append(fault.All(err), fault.All(checkStation("mac-address", in.MAC))...); len(l) > 0 {
		return l.Err()
	}
	e := &switchdriver.ARPEntry{
		IpAddress: address,
		Mac:       uint64(in.MAC),
		Type:      mib.ARPTypeStatic,
	}
	return s.changeSwitch(ctx, in.Node, writes.Operation{What: "setting the ARP entry of " + address,
		Request: &pluginv1.WriteArpEntryRequest{
			Entry:        e,
			PrefixLength: bits,
		}})
}

func (s *Service) deleteARPEntry(ctx context.Context, in arpIn) error {
	address, _, err := in.deviceAddress()
	if err != nil {
		return err
	}
	return s.changeSwitch(ctx, in.Node, writes.Operation{What: "removing the ARP entry of " + address,
		Request: &pluginv1.DeleteArpEntryRequest{IpAddress: address}})
}
