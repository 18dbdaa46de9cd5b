package mibdriver

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// ReadFDB reads the forwarding table of a switch, or one entry of it, which fails
// with fault.NotFound when it is not there. Entries of port 0, the switch's own
// addresses, are left out.
func (d *Driver) ReadFDB(
	ctx context.Context,
	sw *switchdriver.Switch,
	vlanID uint32,
	mac uint64,
) ([]*switchdriver.FDBEntry, error) {
	if vlanID == 0 {
		return allPages(ctx, sw, d.FDBPage)
	}
	p, err := d.FDBPage(ctx, sw, driver.Query{
		VLAN:  vlanID,
		MAC:   mac,
		Limit: 1,
	})
	if err == nil && len(p.Entries) == 0 {
		err = fault.New(
			fault.NotFound,
			"switch %s has no entry for %s in VLAN %d",
			switchdriver.Label(sw),
			mib.MAC(mac),
			vlanID,
		)
	}
	return p.Entries, err
}

// fdbIDs is the mapping between VLANs and filtering databases (dot1qVlanFdbId).
type fdbIDs struct {
	ofVLAN map[mib.VID]uint32
	vlanOf map[uint32]mib.VID
}

func (d *Driver) fdbIDs(ctx context.Context, t snmp.Target) (*fdbIDs, error) {
	ids := &fdbIDs{
		ofVLAN: map[mib.VID]uint32{},
		vlanOf: map[uint32]mib.VID{},
	}
	err := d.snmp.WalkFrom(ctx, t, 8, []string{mib.QVlanFdbID}, func(_ int, ix []uint32, v snmp.Value) error {
		if _, vid, ok := mib.TimedVID(ix); ok {
			ids.putVLAN(vid, v.Uint32())
		}
		return nil
	})
	return ids, err
}

// putVLAN records a VLAN's database. Of several VLANs that share one, the one with its
// number is used for it, else the lowest.
func (x *fdbIDs) putVLAN(vid mib.VID, fdb uint32) {
	x.ofVLAN[vid] = fdb
	old, ok := x.vlanOf[fdb]
	if !ok || (vid < old && old != fdb) || vid == fdb {
		x.vlanOf[fdb] = vid
	}
}

func (x *fdbIDs) vlanForFDB(fdb uint32) mib.VID {
	if v, ok := x.vlanOf[fdb]; ok {
		return v
	}
	return fdb
}

func (x *fdbIDs) fdbForVLAN(vlan mib.VID) uint32 {
	if f, ok := x.ofVLAN[vlan]; ok {
		return f
	}
	return vlan
}

// The tables with forwarding entries, as cursors name them.
const (
	tableQ = "q" // dot1qTpFdbTable
	tableD = "d" // dot1dTpFdbTable, which knows no VLANs: those entries have VLAN 0
)

var fdbColumns = map[string]columns{
	tableQ: {[2]string{mib.QTpFdbPort, mib.QTpFdbStatus}, [2]func(snmp.Value) uint64{numberOrNone, numberOrNone}},
	tableD: {[2]string{mib.TpFdbPort, mib.TpFdbStatus}, [2]func(snmp.Value) uint64{numberOrNone, numberOrNone}},
}

// noNumber is the value of an instance that should be a number and is not.
const noNumber = math.MaxUint64

func numberOrNone(v snmp.Value) uint64 {
	if n, ok := v.Number(); ok {
		return n
	}
	return noNumber
}

// FDBPage reads a part of the forwarding table. Entries of port 0, the switch's own addresses, are left out.
// dot1dTpFdbTable is read where dot1qTpFdbTable is empty, or none of its rows can be decoded.
func (d *Driver) FDBPage(
	ctx context.Context,
	sw *switchdriver.Switch,
	q driver.Query,
) (driver.FDBPage, error) {
	t, err := readTarget(sw)
	if err != nil {
		return driver.FDBPage{}, err
	}
	var table string
	var after []uint32
	if !strings.HasPrefix(q.Cursor, "w") { // else it is a cursor of driver.FDBPart
		if table, after, err = readCursor(q.Cursor, tableQ, tableD); err != nil {
			return driver.FDBPage{}, err
		}
	}
	ids, err := d.fdbIDs(ctx, t)
	if err != nil {
		if _, cut := cutTable(err); !cut {
			return driver.FDBPage{}, deviceFault(sw, err)
		}
	}
	if len(ids.ofVLAN) == 0 && table == "" {
		all, partial, err := d.ciscoFDB(ctx, sw, t, q.VLAN, mib.MAC(q.MAC))
		if err != nil {
			return driver.FDBPage{}, deviceFault(sw, err)
		}
		if len(all) > 0 || len(partial) > 0 || q.Cursor != "" {
			p, err := driver.FDBPart(all, q)
			p.Partial = partial
			return p, err
		}
	}
	if q.MAC != 0 {
		p, err := d.fdbFind(ctx, t, ids, q)
		return p, deviceFault(sw, err)
	}
	p, err := d.fdbRows(ctx, t, cmp.Or(table, tableQ), ids, q, after)
	if err == nil && table == "" && q.VLAN == 0 && p.read == 0 {
		var other fdbPage
		if other, err = d.fdbRows(ctx, t, tableD, ids, q, nil); other.read > 0 ||
			len(p.Partial) == 0 {
			p = other
		}
	}
	return p.FDBPage, deviceFault(sw, err)
}

// fdbPage is a page, and how many rows of the table could be decoded for it.
type fdbPage struct {
	driver.FDBPage
	read int
}

func (d *Driver) fdbRows(
	ctx context.Context,
	t snmp.Target,
	table string,
	ids *fdbIDs,
	q driver.Query,
	after []uint32,
) (p fdbPage, err error) {
	var within []uint32
	if q.VLAN != 0 && table == tableQ {
		within = []uint32{ids.fdbForVLAN(q.VLAN)}
	}
	limit := q.Limit
	if q.Port != 0 { // most rows are of other ports
		limit = driver.PageSize
	}
	rows, more, partial, err := d.readPage(ctx, t, fdbColumns[table], within, after, limit)
	if err != nil {
		return p, err
	}
	bad := 0
	entries := make([]switchdriver.FDBEntry, len(rows)) // one allocation
	for i := range rows {
		r := &rows[i]
		fdb, mac, ok := fdbIndex(table, r.index())
		if !ok || r.values[0] == noNumber {
			bad++
			continue
		}
		p.read++
		port := r.values[0]
		if port == 0 || port > 0xffff || q.Port != 0 && uint64(q.Port) != port {
			continue
		}
		e := &entries[i]
		e.VlanId, e.Mac, e.Port, e.Type = fdb, uint64(mac), uint32(r.values[0]), switchdriver.FDBLearned // for agents that report no status
		if table == tableQ {
			e.VlanId = ids.vlanForFDB(fdb)
		}
		if r.has && r.values[1] != noNumber {
			e.Type = int32(r.values[1])
		}
		if p.Entries = append(p.Entries, e); len(p.Entries) == q.Limit && i+1 < len(rows) {
			rows, more = rows[:i+1], true
			break
		}
	}
	p.Partial = append(partial, undecodableCuts(fdbColumns[table].names[0], bad)...)
	if more {
		p.Next = cursorOf(table, rows[len(rows)-1].index())
	}
	return p, nil
}

func fdbIndex(table string, ix []uint32) (fdb uint32, mac mib.MAC, ok bool) {
	if table == tableQ {
		return mib.FDBIndex(ix)
	}
	mac, ok = mib.MACFromArcs(ix)
	return 0, mac, ok
}

// fdbFind asks for one address in every filtering database, which is quick however long the table is.
func (d *Driver) fdbFind(
	ctx context.Context,
	t snmp.Target,
	ids *fdbIDs,
	q driver.Query,
) (p driver.FDBPage, err error) {
	all := slices.Sorted(maps.Keys(ids.vlanOf))
	if q.VLAN != 0 {
		all = []uint32{ids.fdbForVLAN(q.VLAN)}
	} else if len(all) == 0 {
		if all, err = d.fdbsInUse(ctx, t); err != nil {
			return p, err
		}
	}
	arcs := mib.MAC(q.MAC).Arcs()
	for part := range slices.Chunk(all, 14) {
		var oids []string
		for _, fdb := range part {
			// with the length some agents put first
			for _, ix := range [][]uint32{append([]uint32{fdb}, arcs...), append([]uint32{fdb, 6}, arcs...)} {
				oids = append(
					oids,
					mib.Sub(mib.QTpFdbPort, ix...),
					mib.Sub(mib.QTpFdbStatus, ix...),
				)
			}
		}
		v, err := d.snmp.Get(ctx, t, oids...)
		if err != nil {
			return p, err
		}
		for i := 0; i < len(v); i += 2 {
			takeFDBRow(&p, q, ids.vlanForFDB(part[i/4]), v[i], v[i+1])
		}
	}
	if len(p.Entries) > 0 {
		return p, nil
	}
	// The table without VLANs counts only where the other is not served, or cannot be decoded.
	first, err := d.firstIndex(ctx, t, mib.QTpFdbPort)
	if _, _, ok := mib.FDBIndex(first); ok || err != nil {
		return p, err
	}
	v, err := d.snmp.Get(ctx, t, mib.Sub(mib.TpFdbPort, arcs...), mib.Sub(mib.TpFdbStatus, arcs...))
	if err == nil {
		takeFDBRow(&p, q, q.VLAN, v[0], v[1])
	}
	return p, err
}

func takeFDBRow(p *driver.FDBPage, q driver.Query, vlan mib.VID, port, status snmp.Value) {
	n := port.Uint32()
	if !port.Exists() || n == 0 || n > 0xffff || q.Port != 0 && q.Port != n {
		return
	}
	e := &switchdriver.FDBEntry{
		VlanId: vlan,
		Mac:    q.MAC,
		Port:   n,
		Type:   switchdriver.FDBLearned,
	}
	if status.Exists() {
		e.Type = int32(status.Int())
	}
	p.Entries = append(p.Entries, e)
}

// maxFDBs is the maximum number of filtering databases of a switch that does not list them: one for each VLAN.
const maxFDBs = 4096

// pastOctets comes after every octet of an address. Greater ones will not do: agents of net-snmp's AgentX take an arc
// from 2^31 on as negative.
const pastOctets = 256

// fdbsInUse finds the filtering databases that have entries, by stepping over those of each.
func (d *Driver) fdbsInUse(ctx context.Context, t snmp.Target) (ids []uint32, err error) {
	var after []uint32
	for len(ids) < maxFDBs {
		found := errors.New("found")
		var fdb uint32
		decodes := false
		err := d.snmp.WalkAfter(ctx, t, after, []string{mib.QTpFdbPort}, func(_ int, ix []uint32, _ snmp.Value) error {
			fdb, _, decodes = mib.FDBIndex(ix)
			return found
		})
		switch {
		case !errors.Is(err, found):
			return ids, err
		case !decodes:
			return ids, nil
		}
		ids, after = append(ids, fdb), []uint32{fdb, pastOctets}
	}
	return ids, nil
}

// hasInstances reports whether a column has any instance.
func (d *Driver) hasInstances(ctx context.Context, t snmp.Target, column string) (bool, error) {
	first, err := d.firstIndex(ctx, t, column)
	return first != nil, err
}

// firstIndex is the index of the first instance of a column; nil: there is none.
func (d *Driver) firstIndex(
	ctx context.Context,
	t snmp.Target,
	column string,
) (first []uint32, err error) {
	found := errors.New("found")
	err = d.snmp.WalkFrom(ctx, t, 1, []string{column}, func(_ int, ix []uint32, _ snmp.Value) error {
		first = slices.Clone(ix)
		return found
	})
	if errors.Is(err, found) {
		err = nil
	}
	return first, err
}
