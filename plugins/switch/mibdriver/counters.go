package mibdriver

import (
	"context"
	"time"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/switchdriver"
)

// ReadCounters reads what the interfaces of a switch have counted. The counters of 32 bit are used where there are no
// others (RFC 2863, section 3.1.6).
func (d *Driver) ReadCounters(ctx context.Context, sw *switchdriver.Switch) (driver.Counters, error) {
	out := driver.Counters{At: time.Now(), Interfaces: map[uint32]driver.Interface{}}
	t, err := reader(sw)
	if err != nil {
		return out, err
	}
	v, err := d.snmp.Get(ctx, t, mib.SysUpTime)
	if err != nil {
		return out, deviceFault(sw, err)
	}
	out.UpTime, out.At = v[0].Uint32(), time.Now()
	read := func(oid string, set func(*driver.Interface, uint64)) column {
		return field(oid, out.Interfaces, func(i *driver.Interface, v snmp.Value) { set(i, uint64(v.Int())) })
	}
	err = d.walk(ctx, t, 0, read(mib.IfHCInOctets, func(i *driver.Interface, n uint64) { i.In, i.Wide = n, true }),
		read(mib.IfHCOutOctets, func(i *driver.Interface, n uint64) { i.Out = n }),
		read(mib.IfInErrors, func(i *driver.Interface, n uint64) { i.InErrors = n }),
		read(mib.IfOutErrors, func(i *driver.Interface, n uint64) { i.OutErrors = n }),
		read(mib.IfInDiscards, func(i *driver.Interface, n uint64) { i.InDiscards = n }),
		read(mib.IfOutDiscards, func(i *driver.Interface, n uint64) { i.OutDiscards = n }),
		read(mib.IfOperStatus, func(i *driver.Interface, n uint64) { i.Oper = int32(n) }))
	if err != nil {
		return out, deviceFault(sw, err)
	}
	for _, i := range out.Interfaces {
		if i.Wide {
			return out, nil
		}
	}
	return out, deviceFault(sw, d.walk(ctx, t, 0, read(mib.IfInOctets, func(i *driver.Interface, n uint64) { i.In = n }),
		read(mib.IfOutOctets, func(i *driver.Interface, n uint64) { i.Out = n })))
}
