package mibdriver

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// fdbLearned is dot1qTpFdbStatus learned(3), for agents that report no status.
const fdbLearned = 3

// ReadFDB reads the forwarding table of a switch, or one entry of it, which fails
// with fault.NotFound when it is not there. Entries of port 0, the switch's own
// addresses, are left out.
func (d *Driver) ReadFDB(ctx context.Context, sw *switchdriver.Switch, vlanID uint32, mac uint64) ([]*switchdriver.FDBEntry, error) {
	t, err := reader(sw)
	if err != nil {
		return nil, err
	}
	ids, err := d.fdbIDs(ctx, t)
	if err != nil {
		return nil, deviceFault(sw, err)
	}
	if len(ids.ofVLAN) == 0 {
		out, err := d.ciscoFDB(ctx, sw, t, vlanID, mib.MAC(mac))
		if err != nil || len(out) > 0 {
			return out, deviceFault(sw, err)
		}
	}
	if vlanID != 0 {
		e, err := d.fdbEntry(ctx, t, ids, vlanID, mib.MAC(mac))
		if err == nil && e == nil {
			return nil, fault.New(fault.NotFound, "switch %s has no entry for %s in VLAN %d", switchdriver.Label(sw), mib.MAC(mac), vlanID)
		}
		return []*switchdriver.FDBEntry{e}, deviceFault(sw, err)
	}
	entries, err := d.fdbTable(ctx, t, ids)
	return entries, deviceFault(sw, err)
}

// fdbIDs is the mapping between VLANs and filtering databases (dot1qVlanFdbId).
type fdbIDs struct {
	ofVLAN map[mib.VID]uint32
	vlanOf map[uint32]mib.VID
}

func (d *Driver) fdbIDs(ctx context.Context, t snmp.Target) (*fdbIDs, error) {
	ids := &fdbIDs{ofVLAN: map[mib.VID]uint32{}, vlanOf: map[uint32]mib.VID{}}
	err := d.snmp.WalkFrom(ctx, t, 8, []string{mib.QVlanFdbID}, func(_ int, ix []uint32, v snmp.Value) error {
		if _, vid, ok := mib.TimedVID(ix); ok {
			ids.put(vid, v.Uint32())
		}
		return nil
	})
	return ids, err
}

// put records a VLAN's database. Of several VLANs that share one, the one with its
// number is used for it, else the lowest.
func (x *fdbIDs) put(vid mib.VID, fdb uint32) {
	x.ofVLAN[vid] = fdb
	if old, ok := x.vlanOf[fdb]; !ok || (vid < old && old != fdb) || vid == fdb {
		x.vlanOf[fdb] = vid
	}
}

func (x *fdbIDs) vlan(fdb uint32) mib.VID {
	if v, ok := x.vlanOf[fdb]; ok {
		return v
	}
	return fdb
}

func (x *fdbIDs) fdb(vlan mib.VID) uint32 {
	if f, ok := x.ofVLAN[vlan]; ok {
		return f
	}
	return vlan
}

// fdbTable reads dot1qTpFdbTable; where it is empty, dot1dTpFdbTable, which knows
// no VLANs: those entries have VLAN 0.
func (d *Driver) fdbTable(ctx context.Context, t snmp.Target, ids *fdbIDs) ([]*switchdriver.FDBEntry, error) {
	out, err := d.fdbWalk(ctx, t, mib.QTpFdbPort, mib.QTpFdbStatus, mib.FDBIndex)
	if err == nil && len(out) == 0 {
		out, err = d.fdbWalk(ctx, t, mib.TpFdbPort, mib.TpFdbStatus, func(ix []uint32) (uint32, mib.MAC, bool) {
			mac, ok := mib.MACFromArcs(ix)
			return 0, mac, ok
		})
		return out, err
	}
	for _, e := range out {
		e.VlanId = ids.vlan(e.VlanId)
	}
	return out, err
}

// fdbWalk reads both columns at the same time, on two sockets: a switch takes about
// as long for one as for the other, and tables are long.
func (d *Driver) fdbWalk(ctx context.Context, t snmp.Target, port, status string, decode func([]uint32) (uint32, mib.MAC, bool)) ([]*switchdriver.FDBEntry, error) {
	var ports, states []*switchdriver.FDBEntry
	g, ctx := errgroup.WithContext(ctx)
	read := func(column string, into *[]*switchdriver.FDBEntry, set func(*switchdriver.FDBEntry, snmp.Value)) {
		var slab []switchdriver.FDBEntry // entries are allocated many at a time
		g.Go(func() error {
			return d.snmp.Walk(ctx, t, []string{column}, func(_ int, ix []uint32, v snmp.Value) error {
				fdb, mac, ok := decode(ix)
				if !ok {
					return nil
				}
				if len(slab) == cap(slab) {
					slab = make([]switchdriver.FDBEntry, 0, 256)
				}
				slab = slab[:len(slab)+1]
				e := &slab[len(slab)-1]
				e.VlanId, e.Mac = fdb, uint64(mac)
				set(e, v)
				*into = append(*into, e)
				return nil
			})
		})
	}
	read(port, &ports, func(e *switchdriver.FDBEntry, v snmp.Value) { e.Port, e.Type = v.Uint32(), fdbLearned })
	read(status, &states, func(e *switchdriver.FDBEntry, v snmp.Value) { e.Type = int32(v.Int()) })
	if err := g.Wait(); err != nil {
		return nil, err
	}
	next := 0 // where the row of the next status should be: both columns come in order
	for _, s := range states {
		if i := place(ports, next, s.VlanId, mib.MAC(s.Mac)); i >= 0 {
			ports[i].Type, next = s.Type, i+1
		}
	}
	own := func(e *switchdriver.FDBEntry) bool { return e.Port == 0 || e.Port > 0xffff }
	return slices.DeleteFunc(ports, own), nil
}

// place finds a row among those read, looking first where it should be; -1 when it
// is not there. Rows stand in the order of their index.
func place(rows []*switchdriver.FDBEntry, next int, fdb uint32, mac mib.MAC) int {
	if next < len(rows) && rows[next].VlanId == fdb && rows[next].Mac == uint64(mac) {
		return next
	}
	i, ok := slices.BinarySearchFunc(rows, fdb, func(e *switchdriver.FDBEntry, fdb uint32) int {
		return cmp.Or(cmp.Compare(e.VlanId, fdb), cmp.Compare(e.Mac, uint64(mac)))
	})
	if !ok {
		return -1
	}
	return i
}

// fdbEntry reads one entry; nil when there is none.
func (d *Driver) fdbEntry(ctx context.Context, t snmp.Target, ids *fdbIDs, vlan mib.VID, mac mib.MAC) (*switchdriver.FDBEntry, error) {
	fdb := ids.fdb(vlan)
	plain := append([]uint32{fdb}, mac.Arcs()...)
	sized := append([]uint32{fdb, 6}, mac.Arcs()...) // with the length some agents put first
	v, err := d.snmp.Get(ctx, t, mib.Sub(mib.QTpFdbPort, plain...), mib.Sub(mib.QTpFdbStatus, plain...),
		mib.Sub(mib.QTpFdbPort, sized...), mib.Sub(mib.QTpFdbStatus, sized...),
		mib.Sub(mib.TpFdbPort, mac.Arcs()...), mib.Sub(mib.TpFdbStatus, mac.Arcs()...))
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(v); i += 2 {
		if !v[i].Exists() || v[i].Uint32() == 0 {
			continue
		}
		if i == 4 {
			// The table without VLANs counts only where the other is not served.
			if has, err := d.has(ctx, t, mib.QTpFdbPort); has || err != nil {
				return nil, err
			}
		}
		e := &switchdriver.FDBEntry{VlanId: vlan, Mac: uint64(mac), Port: v[i].Uint32(), Type: fdbLearned}
		if v[i+1].Exists() {
			e.Type = int32(v[i+1].Int())
		}
		return e, nil
	}
	return nil, nil
}

// has reports whether a column has any instance.
func (d *Driver) has(ctx context.Context, t snmp.Target, column string) (bool, error) {
	found := errors.New("found")
	err := d.snmp.WalkFrom(ctx, t, 1, []string{column}, func(int, []uint32, snmp.Value) error { return found })
	if errors.Is(err, found) {
		return true, nil
	}
	return false, err
}
