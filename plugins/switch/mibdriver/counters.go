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
	read := func(wide bool, columns ...string) error {
		return d.snmp.Walk(ctx, t, columns, func(c int, ix []uint32, v snmp.Value) error {
			if len(ix) != 1 {
				return nil
			}
			i, n := out.Interfaces[ix[0]], uint64(v.Int())
			switch c {
			case 0:
				i.In, i.Wide = n, wide
			case 1:
				i.Out = n
			case 2:
				i.InErrors = n
			case 3:
				i.OutErrors = n
			case 4:
				i.InDiscards = n
			case 5:
				i.OutDiscards = n
			case 6:
				i.Oper = int32(n)
			}
			out.Interfaces[ix[0]] = i
			return nil
		})
	}
	if err = read(true, mib.IfHCInOctets, mib.IfHCOutOctets, mib.IfInErrors, mib.IfOutErrors, mib.IfInDiscards, mib.IfOutDiscards, mib.IfOperStatus); err != nil {
		return out, deviceFault(sw, err)
	}
	for _, i := range out.Interfaces {
		if i.Wide {
			return out, nil
		}
	}
	return out, deviceFault(sw, read(false, mib.IfInOctets, mib.IfOutOctets))
}
