package mibdriver

import (
	"fmt"
	"testing"

	"ctl.internal/plugins/switch/snmp"
)

// The bound of a table is one of rows: those that are kept have all their fields, whatever comes after them.
func TestBoundedColumns(t *testing.T) {
	rows := map[uint32]string{}
	for _, field := range []string{"a", "b"} {
		c := boundedColumn(field, rows, 3, func(r *string, _ snmp.Value) { *r += field })
		for i := range uint32(6) {
			c.take([]uint32{i}, snmp.Value{})
			c.take([]uint32{i, i}, snmp.Value{})
		}
	}
	if got := fmt.Sprint(rows); got != "map[0:ab 1:ab 2:ab]" {
		t.Error(got)
	}
}
