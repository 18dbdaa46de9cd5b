package mibdriver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Cisco IOS and NX-OS have no Q-BRIDGE-MIB. VLANs are in CISCO-VTP-MIB, and BRIDGE-MIB
// shows those of one VLAN at a time: with the community "name@ID", in SNMPv3 in the
// context "vlan-ID", and without either those of VLAN 1. All of it is only read.

func isCisco(objectID string) bool {
	return strings.HasPrefix(strings.TrimPrefix(objectID, "."), "1.3.6.1.4.1.9.")
}

// inVLAN is the agent's view of one VLAN.
func inVLAN(t snmp.Target, vid mib.VID) snmp.Target {
	switch {
	case vid == 1:
	case t.Version == "3":
		t.Context, t.BridgeContext = fmt.Sprint("vlan-", vid), ""
	default:
		t.Community += fmt.Sprint("@", vid)
	}
	return t
}

// vtpVLAN is a row of vtpVlanTable.
type vtpVLAN struct {
	name        string
	state, kind int64
}

// vtpVLANs reads the Ethernet VLANs in use; none of a switch without CISCO-VTP-MIB.
func (d *Driver) vtpVLANs(ctx context.Context, t snmp.Target) (map[mib.VID]vtpVLAN, error) {
	out := map[mib.VID]vtpVLAN{}
	of := func(oid string, set func(*vtpVLAN, snmp.Value)) column {
		c := fieldColumn(oid, out, set)
		return column{oid, func(ix []uint32, v snmp.Value) {
			if len(ix) == 2 { // the first is a management domain: a switch is in one
				c.take(ix[1:], v)
			}
		}}
	}
	err := d.walkColumns(ctx, t, 8, of(mib.VTPVlanState, func(w *vtpVLAN, v snmp.Value) {
		w.state = v.Int()
	}),
		of(mib.VTPVlanType, func(w *vtpVLAN, v snmp.Value) { w.kind = v.Int() }),
		of(mib.VTPVlanName, func(w *vtpVLAN, v snmp.Value) {
			w.name = mib.Text(v.Peek())
		}))
	maps.DeleteFunc(out, func(vid mib.VID, w vtpVLAN) bool {
		return vid < 1 ||
			vid > switchdriver.MaxVLANID ||
			w.state != mib.VTPStateOperational ||
			(w.kind != 0 && w.kind != mib.VTPTypeEthernet)
	})
	return out, err
}

// What is read of several VLANs.
const (
	vlansAtOnce = 4               // at one switch
	maxPortNum  = 1 << 15         // an ifIndex from here on is not a port number in get-fdb-table
	portVLANs   = 64              // whose ports are asked for
	portTime    = 2 * time.Second // for these at a discovery: an agent may not show them at all
)

// eachVLAN reads columns of BRIDGE-MIB in some VLANs; each is called for one row at a
// time. VLANs that cannot be read are cuts. An agent that shows none of the first VLANs but 1 is not asked for the
// others.
func (d *Driver) eachVLAN(
	ctx context.Context,
	sw *switchdriver.Switch,
	t snmp.Target,
	vlans []mib.VID,
	columns []string,
	each func(vid mib.VID, column int, ix []uint32, v snmp.Value),
) ([]discovery.Cut, error) {
	r := vlanReader{
		d:       d,
		sw:      sw,
		t:       t,
		columns: columns,
		each:    each,
		failed:  map[mib.VID]error{},
	}
	rest := slices.DeleteFunc(slices.Clone(vlans), func(v mib.VID) bool { return v == 1 })
	first := rest[:min(len(rest), vlansAtOnce)]
	r.read(ctx, first)
	alone := len(vlans) == 1
	n := len(r.failed)
	if n > 0 && n == len(first) && (n > 1 || alone) {
		return nil, r.failed[first[0]]
	}
	rest = rest[len(first):]
	if slices.Contains(vlans, 1) {
		rest = append(rest, 1)
	}
	r.read(ctx, rest)
	return r.cuts(), ctx.Err()
}

// vlanReader reads columns of the bridge's MIB in one VLAN after the other.
type vlanReader struct {
	d       *Driver
	sw      *switchdriver.Switch
	t       snmp.Target
	columns []string

	mu     sync.Mutex
	each   func(vid mib.VID, column int, ix []uint32, v snmp.Value)
	failed map[mib.VID]error
}

// read reads VLANs, some at a time; those that fail are noted.
func (r *vlanReader) read(ctx context.Context, vlans []mib.VID) {
	var g errgroup.Group
	g.SetLimit(vlansAtOnce)
	for _, vid := range vlans {
		g.Go(func() error {
			if err := r.one(ctx, vid); err != nil {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.failed[vid] = err
			}
			return nil
		})
	}
	_ = g.Wait() // what failed is noted
}

func (r *vlanReader) one(ctx context.Context, vid mib.VID) error {
	err := r.d.snmp.WalkFrom(ctx, inVLAN(r.t, vid), 8, r.columns, func(c int, ix []uint32, v snmp.Value) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.each(vid, c, ix, v)
		return nil
	})
	if err == nil || ctx.Err() != nil || vid == 1 {
		return err
	}
	f := fault.Device(fault.Downstream, "switch %s has a separate bridge table for each VLAN, but not for VLAN %d: %v; let the switch list's community "+
		"NAME read NAME@%d, or its SNMPv3 user the context vlan-%d", switchdriver.Label(r.sw), vid, err, vid, vid)
	f.Cause = err
	return f
}

// cuts are the VLANs that failed.
func (r *vlanReader) cuts() (cuts []discovery.Cut) {
	for _, vid := range slices.Sorted(maps.Keys(r.failed)) {
		cuts = append(
			cuts,
			discovery.Cut{
				Table: fmt.Sprintf("%s of VLAN %d", mib.TableOf(r.columns[0]), vid),
				Why:   r.failed[vid].Error(),
			},
		)
	}
	return cuts
}

// ciscoPorts adds to the ports of VLAN 1 those of other VLANs, where numbers made of an
// ifIndex would be too great (NX-OS).
func (d *Driver) ciscoPorts(
	ctx context.Context,
	sw *switchdriver.Switch,
	t snmp.Target,
	base map[uint32]uint32,
	vlans map[mib.VID]vtpVLAN,
	all map[uint32]discovery.Interface,
) error {
	great := func(ifIndex uint32) bool { return ifIndex >= maxPortNum }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(all)), great) {
		return nil
	}
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(vlans)), func(v mib.VID) bool {
		return v == 1
	})
	_, err := d.eachVLAN(ctx, sw, t, ids[:min(len(ids), portVLANs)], []string{mib.BasePortIfIndex}, func(_ mib.VID, _ int, ix []uint32, v snmp.Value) {
		if len(ix) != 1 {
			return
		}
		if _, there := base[ix[0]]; !there {
			base[ix[0]] = v.Uint32()
		}
	})
	return err
}

// ciscoNumbers are the port numbers by ifIndex, as an observation has them.
func (d *Driver) ciscoNumbers(
	ctx context.Context,
	sw *switchdriver.Switch,
	t snmp.Target,
	vlans map[mib.VID]vtpVLAN,
) (func(ifIndex uint32) uint32, error) {
	tables := discovery.Tables{
		BasePorts:  map[uint32]uint32{},
		Interfaces: map[uint32]discovery.Interface{},
	}
	if err := d.walkColumns(
		ctx,
		t,
		0,
		unsignedColumn(mib.BasePortIfIndex, tables.BasePorts),
		ifType(tables.Interfaces),
	); err != nil {
		return nil, err
	}
	base := tables.BasePorts
	err := d.ciscoPorts(ctx, sw, t, base, vlans, tables.Interfaces)
	numbers := map[uint32]uint32{}
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(base))) {
		numbers[base[n]] = n
	}
	return func(ifIndex uint32) uint32 {
		if n, ok := numbers[ifIndex]; ok {
			return n
		}
		return discovery.PortNumber(ifIndex, base)
	}, err
}

// ciscoVLANs reads the VLANs; none of a switch without CISCO-VTP-MIB. Access ports are
// untagged in their VLAN, trunks in the native one.
func (d *Driver) ciscoVLANs(
	ctx context.Context,
	sw *switchdriver.Switch,
	t snmp.Target,
) ([]*switchdriver.VLAN, error) {
	vlans, err := d.vtpVLANs(ctx, t)
	if err != nil || len(vlans) == 0 {
		return nil, err
	}
	number, err := d.ciscoNumbers(ctx, sw, t, vlans)
	if err != nil {
		return nil, err
	}
	access, trunks := map[uint32]mib.VID{}, map[uint32]ciscoTrunk{}
	columns := []column{unsignedColumn(mib.AccessVlan, access),
		fieldColumn(mib.TrunkStatus, trunks, func(w *ciscoTrunk, v snmp.Value) {
			w.on = v.Int() == mib.Trunking
		}),
		fieldColumn(mib.TrunkNative, trunks, func(w *ciscoTrunk, v snmp.Value) {
			w.native = v.Uint32()
		})}
	for i, oid := range []string{mib.TrunkVlans, mib.TrunkVlans2k, mib.TrunkVlans3k, mib.TrunkVlans4k} {
		columns = append(
			columns,
			fieldColumn(oid, trunks, func(w *ciscoTrunk, v snmp.Value) {
				w.vlans[i] = v.Bytes()
			}),
		)
	}
	if err := d.walkColumns(ctx, t, 0, columns...); err != nil {
		return nil, err
	}
	out := make([]*switchdriver.VLAN, 0, len(vlans))
	for _, vid := range slices.Sorted(maps.Keys(vlans)) {
		egress, untagged := mib.Ports{}, mib.Ports{}
		for ifIndex, v := range access {
			if v == vid && !trunks[ifIndex].on {
				egress[number(ifIndex)], untagged[number(ifIndex)] = true, true
			}
		}
		for ifIndex, w := range trunks {
			if w.on && w.carriesVLAN(vid) {
				egress[number(ifIndex)] = true
				if w.native == vid {
					untagged[number(ifIndex)] = true
				}
			}
		}
		out = append(
			out,
			&switchdriver.VLAN{
				VlanId:        vid,
				Name:          vlans[vid].name,
				EgressPorts:   egress.Sorted(),
				UntaggedPorts: untagged.Sorted(),
			},
		)
	}
	return out, nil
}

// ciscoTrunk is a row of vlanTrunkPortTable: VLANs in four lists of 1024, the first bit
// of the first one VLAN 0.
type ciscoTrunk struct {
	on     bool
	native mib.VID
	vlans  [4][]byte
}

func (w ciscoTrunk) carriesVLAN(vid mib.VID) bool {
	list, bit := w.vlans[vid/1024], vid%1024
	return int(bit/8) < len(list) && list[bit/8]&(0x80>>(bit%8)) != 0
}

// ciscoFDB reads the forwarding tables of all VLANs, or one entry, in no order; none of a
// switch without CISCO-VTP-MIB. VLANs that cannot be read are cuts.
func (d *Driver) ciscoFDB(
	ctx context.Context,
	sw *switchdriver.Switch,
	t snmp.Target,
	only mib.VID,
	mac mib.MAC,
) ([]*switchdriver.FDBEntry, []discovery.Cut, error) {
	vlans, err := d.vtpVLANs(ctx, t)
	if err != nil || len(vlans) == 0 {
		return nil, nil, err
	}
	if only != 0 {
		maps.DeleteFunc(vlans, func(v mib.VID, _ vtpVLAN) bool { return v != only })
	}
	number, err := d.ciscoNumbers(ctx, sw, t, vlans)
	if err != nil {
		return nil, nil, err
	}
	type row struct {
		vid mib.VID
		mac mib.MAC
	}
	type port struct {
		vid mib.VID
		n   uint32
	}
	rows, ports := map[row]*switchdriver.FDBEntry{}, map[port]uint32{}
	take := func(vid mib.VID, c int, ix []uint32, v snmp.Value) {
		if c == 2 {
			if len(ix) == 1 {
				ports[port{vid, ix[0]}] = v.Uint32()
			}
			return
		}
		m, ok := mib.MACFromArcs(ix)
		if !ok || (mac != 0 && m != mac) {
			return
		}
		e := rows[row{vid, m}]
		if e == nil {
			e = &switchdriver.FDBEntry{
				VlanId: vid,
				Mac:    uint64(m),
				Type:   switchdriver.FDBLearned,
			}
			rows[row{vid, m}] = e
		}
		if c == 0 {
			e.Port = v.Uint32()
		} else {
			e.Type = int32(v.Int())
		}
	}
	cuts, err := d.eachVLAN(
		ctx,
		sw,
		t,
		slices.Sorted(maps.Keys(vlans)),
		[]string{mib.TpFdbPort, mib.TpFdbStatus, mib.BasePortIfIndex},
		take,
	)
	out := make([]*switchdriver.FDBEntry, 0, len(rows))
	for r, e := range rows {
		if e.Port == 0 {
			continue // the switch's own
		}
		if ifIndex := ports[port{r.vid, e.Port}]; ifIndex != 0 {
			e.Port = number(ifIndex)
		}
		out = append(out, e)
	}
	return out, cuts, err
}
