package mibdriver

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/switchdriver"
)

// ReadCounters reads what the interfaces of a switch have counted. Octets are counted in 64 bit; in 32 bit by interfaces
// that have no others (RFC 2863, section 3.1.6), or whose others stand at 0.
func (d *Driver) ReadCounters(
	ctx context.Context,
	sw *switchdriver.Switch,
) (driver.Counters, error) {
	out := driver.Counters{
		At:         time.Now(),
		Interfaces: map[uint32]driver.Interface{},
	}
	t, err := readTarget(sw)
	if err != nil {
		return out, err
	}
	v, err := d.snmp.Get(ctx, t, mib.SysUpTime)
	if err != nil {
		return out, deviceFault(sw, err)
	}
	out.UpTime, out.At = v[0].Uint32(), time.Now()
	read := func(oid string, bits uint8, of func(*driver.Interface) *driver.Count) column {
		return fieldColumn(oid, out.Interfaces, func(i *driver.Interface, v snmp.Value) {
			setCount(of(i), bits, v)
		})
	}
	in := func(i *driver.Interface) *driver.Count { return &i.In }
	outward := func(i *driver.Interface) *driver.Count { return &i.Out }
	err = d.walkColumns(ctx, t, 0, read(mib.IfHCInOctets, 64, in), read(mib.IfHCOutOctets, 64, outward),
		read(mib.IfInErrors, 32, func(i *driver.Interface) *driver.Count {
			return &i.InErrors
		}),
		read(mib.IfOutErrors, 32, func(i *driver.Interface) *driver.Count {
			return &i.OutErrors
		}),
		read(mib.IfInDiscards, 32, func(i *driver.Interface) *driver.Count {
			return &i.InDiscards
		}),
		read(mib.IfOutDiscards, 32, func(i *driver.Interface) *driver.Count {
			return &i.OutDiscards
		}),
		fieldColumn(mib.IfHighSpeed, out.Interfaces, func(i *driver.Interface, v snmp.Value) {
			i.Speed = speedFromMegabits(v)
		}),
		fieldColumn(mib.IfOperStatus, out.Interfaces, func(i *driver.Interface, v snmp.Value) {
			i.Oper = int32(v.Int())
		}))
	if err != nil ||
		!slices.ContainsFunc(slices.Collect(maps.Values(out.Interfaces)), lacksCounters) {
		return out, deviceFault(sw, err)
	}
	narrow := func(oid string, of func(*driver.Interface) *driver.Count) column {
		return fieldColumn(oid, out.Interfaces, func(i *driver.Interface, v snmp.Value) {
			if n := of(i); n.N == 0 {
				setCount(n, 32, v)
			}
		})
	}
	return out, deviceFault(sw, d.walkColumns(ctx, t, 0, narrow(mib.IfInOctets, in), narrow(mib.IfOutOctets, outward),
		fieldColumn(mib.IfSpeed, out.Interfaces, func(i *driver.Interface, v snmp.Value) {
			i.Speed = cmp.Or(i.Speed, slowSpeed(v))
		})))
}

// lacksCounters reports whether the 64-bit counters of an interface, or its ifHighSpeed, say nothing while it is up.
func lacksCounters(i driver.Interface) bool {
	return i.In.Bits == 0 ||
		i.Out.Bits == 0 ||
		i.Oper == 1 && (i.In.N == 0 || i.Out.N == 0 || i.Speed == 0)
}

// setCount takes the value of a counter. All ones is how agents say that they do not count.
func setCount(c *driver.Count, bits uint8, v snmp.Value) {
	n, ok := v.Number()
	if ok && n != 0 && bits == 32 && c.Bits == 64 {
		c.Bits = 0 // the 64-bit counter does not move
	}
	none := uint64(1)<<bits - 1
	if ok && c.Bits == 0 && n != none {
		c.N, c.Bits = n, bits
	}
}
