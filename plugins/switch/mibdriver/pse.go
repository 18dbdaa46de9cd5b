package mibdriver

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/switchdriver"
)

// pseKey is the index of a port that supplies power: its group, and its number in it.
type pseKey struct{ group, port uint32 }

// psePort is a row of pethPsePortTable.
type psePort struct{ enable, status, priority, class uint32 }

// powerTables are those of POWER-ETHERNET-MIB.
type powerTables struct {
	ports    map[pseKey]psePort
	supplies map[uint32]*switchdriver.PowerSupply
}

// readPower reads the tables; they are empty at a switch without power over Ethernet.
func (d *Driver) readPower(ctx context.Context, t snmp.Target) (powerTables, error) {
	p := powerTables{
		ports:    map[pseKey]psePort{},
		supplies: map[uint32]*switchdriver.PowerSupply{},
	}
	of := func(oid string, set func(*psePort, uint32)) column {
		return column{oid, func(ix []uint32, v snmp.Value) {
			if len(ix) != 2 {
				return
			}
			k := pseKey{ix[0], ix[1]}
			row := p.ports[k]
			set(&row, v.Uint32())
			p.ports[k] = row
		}}
	}
	supply := func(oid string, set func(*switchdriver.PowerSupply, uint32)) column {
		return column{oid, func(ix []uint32, v snmp.Value) {
			if len(ix) != 1 {
				return
			}
			if p.supplies[ix[0]] == nil {
				p.supplies[ix[0]] = &switchdriver.PowerSupply{Group: ix[0]}
			}
			set(p.supplies[ix[0]], v.Uint32())
		}}
	}
	err := d.walkColumns(ctx, t, 0,
		of(mib.PsePortAdminEnable, func(r *psePort, n uint32) { r.enable = n }),
		of(mib.PsePortDetectionStatus, func(r *psePort, n uint32) { r.status = n }),
		of(mib.PsePortPowerPriority, func(r *psePort, n uint32) { r.priority = n }),
		of(mib.PsePortClassification, func(r *psePort, n uint32) { r.class = n }),
		supply(mib.MainPsePower, func(r *switchdriver.PowerSupply, n uint32) {
			r.Budget = n
		}),
		supply(mib.MainPseConsumption, func(r *switchdriver.PowerSupply, n uint32) {
			r.Drawn = n
		}))
	return p, err
}

// groups are how many groups of ports there are.
func (p powerTables) groups() int {
	all := map[uint32]bool{}
	for k := range p.ports {
		all[k.group] = true
	}
	return len(all)
}

// of finds the row of a port. The MIB does not say which one it is: in a stack it is that of the unit and number in
// the port's name, else that of the port's number. Two answers are none.
func (p powerTables) of(port discovery.Port) (pseKey, bool) {
	var found []pseKey
	add := func(k pseKey) {
		_, there := p.ports[k]
		if there && !slices.Contains(found, k) {
			found = append(found, k)
		}
	}
	numbers := numbersIn(port.Name)
	if n := len(numbers); n > 1 {
		add(pseKey{numbers[0], numbers[n-1]})
	}
	if p.groups() == 1 {
		for k := range p.ports {
			add(pseKey{k.group, port.Number})
			break
		}
	}
	if len(found) != 1 {
		return pseKey{}, false
	}
	return found[0], true
}

// numbersIn are the numbers in the name of a port, in order.
func numbersIn(name string) (out []uint32) {
	notDigit := func(r rune) bool { return r < '0' || r > '9' }
	for _, text := range strings.FieldsFunc(name, notDigit) {
		if n, err := strconv.ParseUint(text, 10, 32); err == nil {
			out = append(out, uint32(n))
		}
	}
	return out
}

// list are the supplies in the order of their groups.
func (p powerTables) list() (out []*switchdriver.PowerSupply) {
	for _, group := range slices.Sorted(maps.Keys(p.supplies)) {
		out = append(out, p.supplies[group])
	}
	return out
}
