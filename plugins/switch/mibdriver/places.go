package mibdriver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// place is the interface that a bridge port is at the moment. Base ports may change places while a switch runs, as
// when a member of a stack is replaced.
type place struct {
	ifIndex     uint32 // 0: the switch does not say
	name, descr string
}

// hasName reports whether the place has a name; one without any name may have all.
func (p place) hasName(name string) bool {
	return p.ifIndex == 0 ||
		p.name == "" && p.descr == "" ||
		strings.EqualFold(p.name, name) ||
		strings.EqualFold(p.descr, name)
}

func (p place) String() string {
	switch {
	case p.ifIndex == 0:
		return "no interface"
	case p.name == "" && p.descr == "":
		return fmt.Sprintf("ifIndex %d", p.ifIndex)
	case p.name == "":
		return fmt.Sprintf("%s (ifIndex %d)", p.descr, p.ifIndex)
	}
	return fmt.Sprintf("%s (ifIndex %d)", p.name, p.ifIndex)
}

// placesAtOnce is how many ports one GET is for.
const placesAtOnce = 16

// readPlaces reads what some bridge ports are at the moment.
func (d *Driver) readPlaces(
	ctx context.Context,
	r snmp.Target,
	ports []uint32,
) (map[uint32]place, error) {
	out := make(map[uint32]place, len(ports))
	for chunk := range slices.Chunk(ports, placesAtOnce) {
		v, err := d.readInstances(ctx, r, chunk, mib.BasePortIfIndex)
		if err != nil {
			return nil, err
		}
		var at, indexes []uint32
		for i, port := range chunk {
			out[port] = place{ifIndex: v[i].Uint32()}
			if v[i].Exists() {
				at, indexes = append(at, port), append(indexes, v[i].Uint32())
			}
		}
		names, err := d.readInstances(ctx, r, indexes, mib.IfName)
		if err != nil {
			return nil, err
		}
		descrs, err := d.readInstances(ctx, r, indexes, mib.IfDescr)
		if err != nil {
			return nil, err
		}
		for i, port := range at {
			out[port] = place{indexes[i], mib.Text(names[i].Peek()), mib.Text(descrs[i].Peek())}
		}
	}
	return out, nil
}

// readInstances reads one column at some indexes.
func (d *Driver) readInstances(
	ctx context.Context,
	r snmp.Target,
	indexes []uint32,
	column string,
) ([]snmp.Value, error) {
	if len(indexes) == 0 {
		return nil, nil
	}
	oids := make([]string, 0, len(indexes))
	for _, i := range indexes {
		oids = append(oids, mib.Sub(column, i))
	}
	return d.snmp.Get(ctx, r, oids...)
}

// renumberPorts gives a change the numbers that its ports have now, where the caller named them and they have changed
// places since. A port whose name is at no base port any more, or at several, is refused.
func (j *job) renumberPorts(ctx context.Context, c *change) error {
	j.named = maps.Clone(writes.Named(ctx))
	maps.DeleteFunc(j.named, func(port uint32, _ string) bool { return !c.egress[port] })
	if len(j.named) == 0 {
		return nil
	}
	now, err := j.d.readPlaces(ctx, j.r, slices.Sorted(maps.Keys(j.named)))
	if err != nil || j.misplacedPort(now) == 0 {
		return deviceFault(j.sw, err)
	}
	base := map[uint32]uint32{}
	names := map[uint32]string{}
	descrs := map[uint32]string{}
	text := func(s *string, v snmp.Value) { *s = mib.Text(v.Peek()) }
	if err := j.d.walkColumns(
		ctx,
		j.r,
		0,
		unsignedColumn(mib.BasePortIfIndex, base),
		fieldColumn(mib.IfName, names, text),
		fieldColumn(mib.IfDescr, descrs, text),
	); err != nil {
		return deviceFault(j.sw, err)
	}
	numbers := map[uint32]uint32{}
	for port, name := range j.named {
		var found []uint32
		for number, ifIndex := range base {
			if strings.EqualFold(names[ifIndex], name) ||
				names[ifIndex] == "" && strings.EqualFold(descrs[ifIndex], name) {
				found = append(found, number)
			}
		}
		if len(found) != 1 {
			return fault.Device(fault.InUse, "the ports of switch %s have changed places since they were read: port %s was number %d, which is %s now, and %d ports are called so; "+
				"nothing was sent; read the switch again with switch:TopoDiscover", switchdriver.Label(j.sw), name, port, now[port], len(found))
		}
		numbers[port] = found[0]
	}
	j.named = renumberMap(j.named, numbers)
	c.egress, c.untagged = renumberMap(c.egress, numbers), renumberMap(c.untagged, numbers)
	return nil
}

// renumberMap is a map by port with other numbers; those that have none stay.
func renumberMap[M ~map[uint32]V, V any](ports M, numbers map[uint32]uint32) M {
	out := make(M, len(ports))
	for port, v := range ports {
		if n, ok := numbers[port]; ok {
			port = n
		}
		out[port] = v
	}
	return out
}

// misplacedPort finds a port that is not what the caller called it; 0: none.
func (j *job) misplacedPort(now map[uint32]place) uint32 {
	for _, port := range slices.Sorted(maps.Keys(j.named)) {
		p, ok := now[port]
		if ok && !p.hasName(j.named[port]) {
			return port
		}
	}
	return 0
}

// touchedPorts are the bridge ports that steps change something of.
func touchedPorts(steps []step) mib.Ports {
	out := mib.Ports{}
	for _, s := range steps {
		for _, a := range s.Assigns {
			port, ok := mib.Under(mib.QPvid, a.OID, nil)
			if ok && len(port) == 1 {
				out[port[0]] = true
			}
			if port, ok := mib.Under(mib.StpPortEnable, a.OID, nil); ok && len(port) == 1 {
				out[port[0]] = true
			}
			if a.Mask != "" {
				differ := combineOctets(octets(a.From), octets(a.To), xorBytes)
				out = out.Union(mib.PortList(differ, mib.ListBits.Ports(octets(&a.Mask), nil)))
			}
		}
	}
	return out
}

// describeMoves says which ports are another interface than before; empty: none.
func describeMoves(before, now map[uint32]place) string {
	var parts []string
	for _, port := range slices.Sorted(maps.Keys(before)) {
		if now[port] != before[port] {
			parts = append(
				parts,
				fmt.Sprintf(
					"port %d as %s, which was %s when the change began",
					port,
					now[port],
					before[port],
				),
			)
		}
	}
	return strings.Join(parts, ", ")
}
