package mibdriver

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/switchdriver"
)

// maxComponents bounds the components of a switch that are kept.
const maxComponents = 20_000

// sensorRow is a row of entPhySensorTable.
type sensorRow struct {
	kind, scale, status uint32
	precision, value    int64
}

// ReadInventory reads entPhysicalTable and entPhySensorTable, in the order of their indexes.
func (d *Driver) ReadInventory(
	ctx context.Context,
	sw *switchdriver.Switch,
) ([]driver.Component, error) {
	t, err := readTarget(sw)
	if err != nil {
		return nil, err
	}
	rows := map[uint32]driver.Component{}
	if err := d.readComponents(ctx, t, rows); err != nil {
		return nil, deviceFault(sw, err)
	}
	if len(rows) > 0 {
		if err := d.readSensors(ctx, t, rows); err != nil {
			return nil, deviceFault(sw, err)
		}
	}
	out := make([]driver.Component, 0, len(rows))
	for _, index := range slices.Sorted(maps.Keys(rows)) {
		c := rows[index]
		c.Index = index
		out = append(out, c)
	}
	return out, nil
}

func (d *Driver) readComponents(
	ctx context.Context,
	t snmp.Target,
	rows map[uint32]driver.Component,
) error {
	set := func(oid string, set func(*driver.Component, snmp.Value)) column {
		return boundedColumn(oid, rows, maxComponents, set)
	}
	text := func(oid string, field func(*driver.Component) *string) column {
		return set(oid, func(c *driver.Component, v snmp.Value) {
			*field(c) = strings.TrimSpace(mib.Text(v.Peek()))
		})
	}
	return d.walkColumns(ctx, t, 0,
		text(mib.EntDescr, func(c *driver.Component) *string { return &c.Descr }),
		set(mib.EntContainedIn, func(c *driver.Component, v snmp.Value) { c.ContainedIn = v.Uint32() }),
		set(mib.EntClass, func(c *driver.Component, v snmp.Value) { c.Class = v.Uint32() }),
		text(mib.EntName, func(c *driver.Component) *string { return &c.Name }),
		text(mib.EntHardware, func(c *driver.Component) *string { return &c.Hardware }),
		text(mib.EntFirmware, func(c *driver.Component) *string { return &c.Firmware }),
		text(mib.EntSoftware, func(c *driver.Component) *string { return &c.Software }),
		text(mib.EntSerial, func(c *driver.Component) *string { return &c.Serial }),
		text(mib.EntVendor, func(c *driver.Component) *string { return &c.Vendor }),
		text(mib.EntModel, func(c *driver.Component) *string { return &c.Model }),
		set(mib.EntIsFRU, func(c *driver.Component, v snmp.Value) { c.Replaceable = v.Uint32() == isTrue }),
	)
}

// readSensors adds what the sensors show.
func (d *Driver) readSensors(
	ctx context.Context,
	t snmp.Target,
	rows map[uint32]driver.Component,
) error {
	sensors := map[uint32]sensorRow{}
	field := func(oid string, set func(*sensorRow, snmp.Value)) column {
		return boundedColumn(oid, sensors, maxComponents, set)
	}
	err := d.walkColumns(ctx, t, 0,
		field(mib.EntSensorType, func(r *sensorRow, v snmp.Value) { r.kind = v.Uint32() }),
		field(mib.EntSensorScale, func(r *sensorRow, v snmp.Value) { r.scale = v.Uint32() }),
		field(mib.EntSensorPrecision, func(r *sensorRow, v snmp.Value) { r.precision = v.Int() }),
		field(mib.EntSensorValue, func(r *sensorRow, v snmp.Value) { r.value = v.Int() }),
		field(mib.EntSensorStatus, func(r *sensorRow, v snmp.Value) { r.status = v.Uint32() }),
	)
	for index, r := range sensors {
		c, ok := rows[index]
		if !ok || r.kind == 0 {
			continue
		}
		c.Sensor = &driver.Sensor{Type: r.kind, Status: r.status, Value: r.number()}
		rows[index] = c
	}
	return err
}

// number is the value in units: entPhySensorScale counts in thousands, 9 is units, and entPhySensorPrecision the
// digits after the point.
func (r sensorRow) number() float64 {
	exponent := 0
	if r.scale >= 1 && r.scale <= 17 {
		exponent = (int(r.scale) - 9) * 3
	}
	if r.precision >= -8 && r.precision <= 9 {
		exponent -= int(r.precision)
	}
	if exponent < 0 {
		return float64(r.value) / math.Pow10(-exponent) // exact, where the quotient is
	}
	return float64(r.value) * math.Pow10(exponent)
}
