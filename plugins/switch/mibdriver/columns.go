package mibdriver

import (
	"context"

	"ctl.internal/plugins/switch/snmp"
)

// column is a column of a table, and what is done with each value of it.
type column struct {
	oid  string
	take func(ix []uint32, v snmp.Value)
}

// walkColumns reads columns side by side; few is how many rows are asked for at first, 0 is as many as the switch can.
func (d *Driver) walkColumns(ctx context.Context, t snmp.Target, few int, columns ...column) error {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.oid
	}
	return d.snmp.WalkFrom(ctx, t, few, names, func(c int, ix []uint32, v snmp.Value) error {
		columns[c].take(ix, v)
		return nil
	})
}

// fieldColumn is a column whose values are a part of rows that are kept by their one number.
func fieldColumn[R any](oid string, rows map[uint32]R, set func(*R, snmp.Value)) column {
	return column{oid, func(ix []uint32, v snmp.Value) {
		if len(ix) == 1 {
			r := rows[ix[0]]
			set(&r, v)
			rows[ix[0]] = r
		}
	}}
}

// boundedColumn is fieldColumn for the first rows, up to most; a row that is kept gets all its fields.
func boundedColumn[R any](oid string, rows map[uint32]R, most int, set func(*R, snmp.Value)) column {
	c := fieldColumn(oid, rows, set)
	return column{oid, func(ix []uint32, v snmp.Value) {
		if len(ix) != 1 {
			return
		}
		if _, kept := rows[ix[0]]; kept || len(rows) < most {
			c.take(ix, v)
		}
	}}
}

// unsignedColumn is a column of plain numbers.
func unsignedColumn(oid string, rows map[uint32]uint32) column {
	return fieldColumn(oid, rows, func(n *uint32, v snmp.Value) { *n = v.Uint32() })
}
