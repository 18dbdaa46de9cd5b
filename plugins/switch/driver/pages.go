package driver

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// PageSize is how many rows of a table are read for one page.
const PageSize = 1 << 12

// Query is which entries of a table are asked for. 0 is any.
type Query struct {
	VLAN   uint32 // of a forwarding table, as Port
	MAC    uint64
	Port   uint32
	Cursor string // of Page.Next; empty: the beginning
	Limit  int    // entries at most; a page may have fewer, or none, and not be the last
}

// Page is a part of a table.
type Page[E any] struct {
	Entries []*E
	Next    string // cursor of the next page, empty after the last
	Partial []discovery.Cut
}

// The pages of the two long tables.
type (
	FDBPage = Page[switchdriver.FDBEntry]
	ARPPage = Page[switchdriver.ARPEntry]
)

// Pager is what a driver implements that reads long tables in parts.
type Pager interface {
	FDBPage(ctx context.Context, sw *switchdriver.Switch, q Query) (FDBPage, error)
	ARPPage(ctx context.Context, sw *switchdriver.Switch, q Query) (ARPPage, error)
}

// ReadFDB reads a part of the forwarding table of a switch. A driver that can only read it whole does so for each
// part: what it answers is one message, of a bounded size.
func (c *Chooser) ReadFDB(ctx context.Context, sw *switchdriver.Switch, q Query) (FDBPage, error) {
	d, known, err := For[switchdriver.FDBReader](ctx, c, sw, "ReadFdb")
	if err != nil {
		return FDBPage{}, err
	}
	if p, ok := d.(Pager); ok {
		return p.FDBPage(ctx, known, q)
	}
	all, err := d.ReadFDB(ctx, known, 0, 0)
	if err != nil {
		return FDBPage{}, err
	}
	return FDBPart(all, q)
}

// FDBPart is the part of a whole forwarding table that is asked for. all may be changed.
func FDBPart(all []*switchdriver.FDBEntry, q Query) (FDBPage, error) {
	return pageOfTable(all, q, func(e *switchdriver.FDBEntry) bool {
		return (q.VLAN == 0 || e.VlanId == q.VLAN) &&
			(q.MAC == 0 || e.Mac == q.MAC) &&
			(q.Port == 0 || e.Port == q.Port)
	}, func(a, b *switchdriver.FDBEntry) int {
		return cmp.Or(cmp.Compare(a.VlanId, b.VlanId), cmp.Compare(a.Mac, b.Mac))
	},
		func(e *switchdriver.FDBEntry) string {
			return fmt.Sprintf("w%04d.%012x", e.VlanId, e.Mac)
		})
}

// ReadARP reads a part of the ARP table of a switch.
func (c *Chooser) ReadARP(ctx context.Context, sw *switchdriver.Switch, q Query) (ARPPage, error) {
	d, known, err := For[switchdriver.ARPReader](ctx, c, sw, "ReadArp")
	if err != nil {
		return ARPPage{}, err
	}
	if p, ok := d.(Pager); ok {
		return p.ARPPage(ctx, known, q)
	}
	all, err := d.ReadARP(ctx, known, "")
	if err != nil {
		return ARPPage{}, err
	}
	name := func(e *switchdriver.ARPEntry) string {
		a, _ := netip.ParseAddr(e.IpAddress)
		return fmt.Sprintf("w%010d.%x", e.IfIndex, a.AsSlice())
	}
	return pageOfTable(all, q, func(e *switchdriver.ARPEntry) bool {
		return q.MAC == 0 || e.Mac == q.MAC
	},
		func(a, b *switchdriver.ARPEntry) int {
			return cmp.Compare(name(a), name(b))
		}, name)
}

// PortVLANs reads the VLANs of a switch and, where its driver reports them, the PVIDs of its ports.
func (c *Chooser) PortVLANs(
	ctx context.Context,
	sw *switchdriver.Switch,
) ([]*switchdriver.VLAN, map[uint32]uint32, error) {
	d, known, err := For[switchdriver.VLANReader](ctx, c, sw, "ReadVlans")
	if err != nil {
		return nil, nil, err
	}
	if p, ok := d.(interface {
		PortVLANs(context.Context, *switchdriver.Switch) ([]*switchdriver.VLAN, map[uint32]uint32, error)
	}); ok {
		return p.PortVLANs(ctx, known)
	}
	vlans, err := d.ReadVLANs(ctx, known)
	return vlans, nil, err
}

// pageOfTable is the part of a whole table that is asked for: of the entries that count, those after the cursor, which is the
// name of one. order is the order of the names.
func pageOfTable[E any](
	all []*E,
	q Query,
	counts func(*E) bool,
	order func(a, b *E) int,
	name func(*E) string,
) (p Page[E], err error) {
	all = slices.DeleteFunc(all, func(e *E) bool { return !counts(e) })
	slices.SortFunc(all, order)
	if q.Cursor != "" {
		if q.Cursor[0] != 'w' {
			return p, fault.At(
				fault.Invalid,
				"cursor",
				"%.60q is not a cursor of this table: read it from its beginning",
				q.Cursor,
			)
		}
		from, found := slices.BinarySearchFunc(all, q.Cursor, func(e *E, c string) int {
			return cmp.Compare(name(e), c)
		})
		if found {
			from++
		}
		all = all[from:]
	}
	if p.Entries = all; len(all) > q.Limit {
		p.Entries, p.Next = all[:q.Limit], name(all[q.Limit-1])
	}
	return p, nil
}

// Counters are what the interfaces of a switch have counted since it started, by ifIndex.
type Counters struct {
	At         time.Time
	UpTime     uint32 // hundredths of a second
	Interfaces map[uint32]Interface
}

// Count is the value of a counter. Bits is its width; 0: the switch does not have it.
type Count struct {
	N    uint64
	Bits uint8
}

// Interface is what one interface has counted: octets, frames with errors and frames that were dropped.
type Interface struct {
	In, Out                                      Count
	InErrors, OutErrors, InDiscards, OutDiscards Count
	Oper                                         int32  // ifOperStatus
	Speed                                        uint64 // bit/s; 0: not reported
}

// Counters reads what the interfaces of a switch have counted, by the standard MIB.
func (c *Chooser) Counters(ctx context.Context, sw *switchdriver.Switch) (Counters, error) {
	if sw.GetSnmp() == nil {
		return Counters{}, fault.New(
			fault.Unsupported,
			"switch %s does not use SNMP, which is needed for counters",
			mib.MAC(sw.NodeId),
		)
	}
	return c.opt.Standard.ReadCounters(ctx, sw)
}
