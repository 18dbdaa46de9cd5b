package mibdriver

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// ReadARP reads ipNetToMediaTable and ipNetToPhysicalTable, or the entry of one address, which fails with
// fault.NotFound when it is not there.
func (d *Driver) ReadARP(
	ctx context.Context,
	sw *switchdriver.Switch,
	address string,
) ([]*switchdriver.ARPEntry, error) {
	if address == "" {
		return allPages(ctx, sw, d.ARPPage)
	}
	all, err := allPages(ctx, sw, d.ARPPage)
	all = slices.DeleteFunc(all, func(e *switchdriver.ARPEntry) bool {
		return e.IpAddress != address
	})
	if err == nil && len(all) == 0 {
		err = noARP(sw, address)
	}
	return all, err
}

// arpOf reads the entries of an address in the table that is written, at whichever interfaces they are.
func (d *Driver) arpOf(
	ctx context.Context,
	sw *switchdriver.Switch,
	address string,
) ([]*switchdriver.ARPEntry, error) {
	all, err := allPages(ctx, sw, func(ctx context.Context, sw *switchdriver.Switch, q driver.Query) (driver.ARPPage, error) {
		t, err := readTarget(sw)
		if err != nil {
			return driver.ARPPage{}, err
		}
		_, after, err := readCursor(q.Cursor, tableARP)
		if err != nil {
			return driver.ARPPage{}, err
		}
		p, _, err := d.arpRows(ctx, t, tableARP, q, after)
		return p, deviceFault(sw, err)
	})
	return slices.DeleteFunc(all, func(e *switchdriver.ARPEntry) bool {
		return e.IpAddress != address
	}), err
}

func noARP(sw *switchdriver.Switch, address string) error {
	return fault.At(
		fault.NotFound,
		pathAddress,
		"switch %s has no ARP entry for %s",
		switchdriver.Label(sw),
		address,
	)
}

// The tables of addresses, as cursors name them: ipNetToMediaTable, which has IPv4 only, and ipNetToPhysicalTable; of
// that all, or, where the other one has entries, IPv6 only.
const (
	tableARP      = "a"
	tablePhysical = "p"
	tableIPv6     = "v"
)

// arpTable is how a table of addresses is read.
type arpTable struct {
	columns columns
	index   func([]uint32) (uint32, netip.Addr, bool)
}

func arpTableOf(table string) arpTable {
	values := [2]func(snmp.Value) uint64{func(v snmp.Value) uint64 {
		return uint64(mib.MACOf(v.Peek()))
	}, numberOrNone}
	if table == tableARP {
		return arpTable{columns{[2]string{mib.ARPPhysAddress, mib.ARPType}, values}, mib.InterfaceAddress}
	}
	return arpTable{columns{[2]string{mib.PhysicalAddress, mib.PhysicalType}, values}, mib.PhysicalIndex}
}

// ARPPage reads a part of the ARP table, and of the neighbours of IPv6, in the order of interface and IP address: the
// entries that have a MAC address.
func (d *Driver) ARPPage(
	ctx context.Context,
	sw *switchdriver.Switch,
	q driver.Query,
) (p driver.ARPPage, err error) {
	t, err := readTarget(sw)
	if err != nil {
		return p, err
	}
	table, after, err := readCursor(q.Cursor, tableARP, tablePhysical, tableIPv6)
	if err != nil {
		return p, err
	}
	p, read, err := d.arpRows(ctx, t, cmp.Or(table, tableARP), q, after)
	if err == nil && p.Next == "" && (table == "" || table == tableARP) {
		next := tableIPv6
		if table == "" && read == 0 {
			next = tablePhysical
		}
		partial := p.Partial
		switch {
		case len(p.Entries) == 0:
			p, _, err = d.arpRows(ctx, t, next, q, nil)
			p.Partial = append(partial, p.Partial...)
		default:
			more, hasErr := d.hasInstances(ctx, t, mib.PhysicalAddress)
			if err = hasErr; more {
				p.Next = next + "0"
			}
		}
	}
	return p, deviceFault(sw, err)
}

// arpRows reads a part of one table, and says how many of its rows it could decode.
func (d *Driver) arpRows(
	ctx context.Context,
	t snmp.Target,
	table string,
	q driver.Query,
	after []uint32,
) (p driver.ARPPage, read int, err error) {
	from := arpTableOf(table)
	rows, more, partial, err := d.readPage(ctx, t, from.columns, nil, after, q.Limit)
	if err != nil {
		return p, 0, err
	}
	bad := 0
	for i := range rows {
		r := &rows[i]
		ifIndex, ip, ok := from.index(r.index())
		if !ok {
			bad++
			continue
		}
		read++
		// incomplete, and dead ones
		if r.values[0] == 0 ||
			r.values[1] == mib.ARPTypeInvalid ||
			q.MAC != 0 && r.values[0] != q.MAC ||
			table == tableIPv6 && ip.Is4() {
			continue
		}
		e := &switchdriver.ARPEntry{
			IpAddress: ip.String(),
			IfIndex:   ifIndex,
			Mac:       r.values[0],
		}
		if r.values[1] != noNumber {
			e.Type = int32(r.values[1])
		}
		p.Entries = append(p.Entries, e)
	}
	p.Partial = append(partial, undecodableCuts(from.columns.names[0], bad)...)
	if more {
		p.Next = cursorOf(table, rows[len(rows)-1].index())
	}
	return p, read, nil
}

// subnet is a subnet that a switch has an address in.
type subnet struct {
	prefix  netip.Prefix
	ifIndex uint32
}

// readSubnets reads ipAddrTable.
func (d *Driver) readSubnets(ctx context.Context, t snmp.Target) ([]subnet, error) {
	ifIndex, mask := map[netip.Addr]uint32{}, map[netip.Addr]netip.Addr{}
	err := d.snmp.WalkFrom(ctx, t, 4, []string{mib.IPAdEntIfIndex, mib.IPAdEntNetMask}, func(c int, ix []uint32, v snmp.Value) error {
		a, ok := mib.IPv4(ix)
		switch {
		case !ok:
		case c == 0:
			ifIndex[a] = v.Uint32()
		default:
			mask[a], _ = netip.ParseAddr(v.Address())
		}
		return nil
	})
	var out []subnet
	for a, i := range ifIndex {
		if m := mask[a]; m.Is4() && i != 0 {
			out = append(out, subnet{netip.PrefixFrom(a, maskBits(m)).Masked(), i})
		}
	}
	slices.SortFunc(out, func(a, b subnet) int {
		return cmp.Or(
			-cmp.Compare(a.prefix.Bits(), b.prefix.Bits()),
			a.prefix.Addr().Compare(b.prefix.Addr()),
			cmp.Compare(a.ifIndex, b.ifIndex),
		)
	})
	return out, err
}

func maskBits(m netip.Addr) (n int) {
	for _, o := range m.As4() {
		for ; o&0x80 != 0; o <<= 1 {
			n++
		}
	}
	return n
}

// interfaceOf finds the interface an address belongs to: the smallest subnet that has
// it, and that has the prefix length if one was given.
func interfaceOf(
	sw *switchdriver.Switch,
	nets []subnet,
	a netip.Addr,
	bits uint32,
) (uint32, error) {
	var have []string
	var lengths []string
	for _, n := range nets {
		have = append(have, n.prefix.String())
		if !n.prefix.Contains(a) {
			continue
		}
		if bits == 0 || n.prefix.Bits() == int(bits) {
			return n.ifIndex, nil
		}
		lengths = append(lengths, n.prefix.String())
	}
	switch {
	case len(lengths) > 0:
		return 0, fault.At(
			fault.Invalid,
			pathAddress,
			"on switch %s the address %s is in the subnet %s, not in one of length %d",
			switchdriver.Label(sw),
			a,
			strings.Join(lengths, ", "),
			bits,
		)
	case len(have) == 0:
		return 0, fault.Device(
			fault.Unsupported,
			"switch %s does not report its subnets (ipAddrTable), so the interface of %s is not known",
			switchdriver.Label(sw),
			a,
		)
	}
	return 0, fault.At(
		fault.Invalid,
		pathAddress,
		"switch %s has no subnet with the address %s; it has %s",
		switchdriver.Label(sw),
		a,
		strings.Join(have, ", "),
	)
}

// CheckPrefix refuses a prefix length that is not the one of the switch's subnet with an address. A switch
// that does not report its subnets is not asked further.
func (d *Driver) CheckPrefix(
	ctx context.Context,
	sw *switchdriver.Switch,
	address string,
	bits uint32,
) error {
	t, err := readTarget(sw)
	if err != nil {
		return nil // nothing but the driver's own word is known of it
	}
	nets, err := d.readSubnets(ctx, t)
	if err != nil {
		return deviceFault(sw, err)
	}
	if err := switchdriver.CheckIPv4(pathAddress, address); err != nil {
		return err
	}
	if _, err = interfaceOf(sw, nets, netip.MustParseAddr(address), bits); fault.KindOf(err) == fault.Unsupported {
		return nil
	}
	return err
}

// WriteARPEntry makes a static entry at the interface whose subnet has the address;
// an entry there is changes where it is.
func (d *Driver) WriteARPEntry(
	ctx context.Context,
	sw *switchdriver.Switch,
	e *switchdriver.ARPEntry,
	prefixLength uint32,
) error {
	if err := switchdriver.CheckARPEntry(e, prefixLength); err != nil {
		return err
	}
	a := netip.MustParseAddr(e.IpAddress)
	return d.changeARP(ctx, sw, a, func(r snmp.Target, old []*switchdriver.ARPEntry) ([]step, error) {
		ifIndex := e.IfIndex
		if ifIndex == 0 {
			nets, err := d.readSubnets(ctx, r)
			if err != nil {
				return nil, deviceFault(sw, err)
			}
			if ifIndex, err = interfaceOf(sw, nets, a, prefixLength); err != nil {
				if len(old) == 0 || fault.KindOf(err) != fault.Unsupported {
					return nil, err
				}
				ifIndex = old[0].IfIndex
			}
		}
		row := append([]uint32{ifIndex}, mib.IPv4Arcs(a)...)
		var fromMAC, fromKind *string
		for _, o := range old {
			if o.IfIndex == ifIndex {
				fromMAC, fromKind = writes.Hex(mib.MAC(o.Mac).Octets()), writes.Number(int64(max(o.Type, 3)))
			}
		}
		s := step{Step: writes.Step{What: "setting the ARP entry"}}
		s.addAssignment(
			mib.Sub(mib.ARPPhysAddress, row...),
			writes.Octets,
			fromMAC,
			writes.Hex(mib.MAC(e.Mac).Octets()),
		)
		s.addAssignment(
			mib.Sub(mib.ARPType, row...),
			writes.ARP,
			fromKind,
			writes.Number(mib.ARPTypeStatic),
		)
		return []step{s}, nil
	}, func(now []*switchdriver.ARPEntry) string {
		for _, n := range now {
			if n.Mac == e.Mac && n.Type == mib.ARPTypeStatic {
				return ""
			}
		}
		return fmt.Sprintf("no static entry of %s for %s", mib.MAC(e.Mac), a)
	})
}

// DeleteARPEntry removes the entries of an address, at whichever interface they are.
func (d *Driver) DeleteARPEntry(
	ctx context.Context,
	sw *switchdriver.Switch,
	address string,
) error {
	if err := switchdriver.CheckIPv4(pathAddress, address); err != nil {
		return err
	}
	a := netip.MustParseAddr(address)
	return d.changeARP(ctx, sw, a, func(_ snmp.Target, old []*switchdriver.ARPEntry) ([]step, error) {
		if len(old) == 0 {
			return nil, noARP(sw, a.String())
		}
		s := step{
			Step:  writes.Step{What: "removing the ARP entry"},
			final: true,
		}
		for _, o := range old {
			s.addAssignment(
				mib.Sub(mib.ARPType, append([]uint32{o.IfIndex}, mib.IPv4Arcs(a)...)...),
				writes.ARP,
				writes.Number(int64(o.Type)),
				nil,
			)
		}
		return []step{s}, nil
	}, func(now []*switchdriver.ARPEntry) string {
		if len(now) > 0 {
			return "the entry still"
		}
		return ""
	})
}

// changeARP reads the entries of an address, plans, sends and reads back.
func (d *Driver) changeARP(
	ctx context.Context,
	sw *switchdriver.Switch,
	a netip.Addr,
	plan func(snmp.Target, []*switchdriver.ARPEntry) ([]step, error),
	differs func([]*switchdriver.ARPEntry) string,
) error {
	r, w, err := readWriteTargets(sw)
	if err != nil {
		return err
	}
	old, err := d.arpOf(ctx, sw, a.String())
	if err != nil {
		return deviceFault(sw, err)
	}
	steps, err := plan(r, old)
	if err != nil {
		return err
	}
	return d.applySteps(ctx, sw, r, w, steps, func() (string, error) {
		now, err := d.arpOf(ctx, sw, a.String())
		return differs(now), err
	})
}
