package operations

import (
	"context"
	"net/netip"
	"strings"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// arpEntry is grouping arp-entry of module misc-config.
type arpEntry struct {
	Address string `json:"ip-address"`
	MAC     int64  `json:"mac-address"`
}

type getARPTableOut struct {
	Entries []arpEntry `json:"arp-table-entry"`
}

// readARP reads the table, or the entry of an address.
func (h *Handlers) readARP(ctx context.Context, c *checker, node *int64, address string) ([]*switchdriver.ARPEntry, error) {
	sw, err := c.node(h.Inventory, node)
	if err != nil {
		return nil, err
	}
	d, sw, err := driver.For[switchdriver.ARPReader](ctx, h.Drivers, sw, "ReadArp")
	if err != nil {
		return nil, err
	}
	all, err := d.ReadARP(ctx, sw, address)
	if err == nil && address != "" && len(all) == 0 {
		err = fault.At(fault.NotFound, "ip-address", "switch %s has no ARP entry for %s", mibdriver.Name(sw), address)
	}
	return all, err
}

func (h *Handlers) getARPTable(ctx context.Context, in nodeIn) (*getARPTableOut, error) {
	all, err := h.readARP(ctx, &checker{}, in.NodeID, "")
	if err != nil {
		return nil, err
	}
	out := &getARPTableOut{Entries: make([]arpEntry, 0, len(all))}
	for _, e := range all {
		out.Entries = append(out.Entries, arpEntry{e.IpAddress, int64(e.Mac)})
	}
	return out, nil
}

// nodeAddressIn names an ARP entry.
type nodeAddressIn struct {
	nodeIn
	Address *string `json:"ip-address"`
}

// host reads an IPv4 address of a device, with or without the length of its subnet's
// prefix; 0 is none.
func (c *checker) host(v *string) (address string, bits uint32) {
	const leaf = "ip-address"
	if v == nil {
		c.missing(leaf)
		return "", 0
	}
	text := strings.TrimSpace(*v)
	if strings.Contains(text, "/") {
		p, err := netip.ParsePrefix(text)
		if err != nil || !p.Addr().Is4() || p.Bits() == 0 {
			c.invalid(leaf, "%.40q is no IPv4 address with the length of its prefix, 192.0.2.7/24", text)
			return "", 0
		}
		text, bits = p.Addr().String(), uint32(p.Bits())
	}
	a, err := netip.ParseAddr(text)
	if err != nil || !a.Is4() || a.IsUnspecified() || a.IsMulticast() {
		c.invalid(leaf, "%.40q is not the IPv4 address of a device, 192.0.2.7 or 192.0.2.7/24", text)
		return "", 0
	}
	return a.String(), bits
}

func (h *Handlers) getARPEntry(ctx context.Context, in nodeAddressIn) (*arpEntry, error) {
	var c checker
	address, _ := c.host(in.Address)
	all, err := h.readARP(ctx, &c, in.NodeID, address)
	if err != nil {
		return nil, err
	}
	return &arpEntry{all[0].IpAddress, int64(all[0].Mac)}, nil
}

type setARPEntryIn struct {
	nodeAddressIn
	MAC *int64 `json:"mac-address"`
}

type setARPEntryOut struct {
	Result string `json:"set-arp-entry-result"`
}

// arpStatic is ipNetToMediaType static(4).
const arpStatic = 4

func (h *Handlers) setARPEntry(ctx context.Context, in setARPEntryIn) (*setARPEntryOut, error) {
	var c checker
	address, bits := c.host(in.Address)
	mac := c.station("mac-address", in.MAC)
	sw, err := c.node(h.Inventory, in.NodeID)
	if err != nil {
		return nil, err
	}
	e := &switchdriver.ARPEntry{IpAddress: address, Mac: uint64(mac), Type: arpStatic}
	err = h.change(ctx, sw, writes.Operation{Name: "WriteArpEntry", What: "setting the ARP entry of " + address, ARP: e, Prefix: bits})
	if err != nil {
		return nil, err
	}
	return &setARPEntryOut{success}, nil
}

type deleteARPEntryOut struct {
	Result string `json:"delete-arp-entry-result"`
}

func (h *Handlers) deleteARPEntry(ctx context.Context, in nodeAddressIn) (*deleteARPEntryOut, error) {
	var c checker
	address, _ := c.host(in.Address)
	sw, err := c.node(h.Inventory, in.NodeID)
	if err != nil {
		return nil, err
	}
	err = h.change(ctx, sw, writes.Operation{Name: "DeleteArpEntry", What: "removing the ARP entry of " + address, ARP: &switchdriver.ARPEntry{IpAddress: address}})
	if err != nil {
		return nil, err
	}
	return &deleteARPEntryOut{success}, nil
}
