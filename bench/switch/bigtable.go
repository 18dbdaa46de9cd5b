package main

import (
	"fmt"
	"net/netip"
	"slices"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
	"ctl.internal/plugins/switch/mib"
)

// bigTable is a MIB with nothing but a forwarding table: more entries than the
// simulated switches hold.
type bigTable struct{ rows []snmpwire.VarBind }

func newBigTable(entries int) *bigTable {
	t := &bigTable{}
	for column, base := range fdbColumns {
		for i := range entries {
			v := snmpwire.Int32(i%24 + 1)
			if column == 1 {
				v = snmpwire.Int32(3) // learned
			}
			name := snmpwire.MustOID(base).Append(1, 8, 0, 0, uint32(i>>16), uint32(i>>8)&255, uint32(i)&255)
			t.rows = append(t.rows, snmpwire.VarBind{Name: name, Value: v})
		}
	}
	return t
}

// listen serves the table and returns its line of the switch list.
func (t *bigTable) listen(h *snmpagent.Host, message int) (string, error) {
	s, err := h.Listen(netip.MustParseAddrPort("127.0.0.1:0"), snmpagent.New(snmpagent.Config{MIB: t, ReadCommunity: "public", MaxMessage: message}))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s,127.0.0.1,public,admin,password,table,%d", mib.MAC(0x0a0000000001), s.Addr().Port()), nil
}

// Get implements snmpagent.MIB.
func (t *bigTable) Get(name snmpwire.OID) snmpwire.Value {
	if i, ok := t.find(name); ok {
		return t.rows[i].Value
	}
	return snmpwire.Value{Tag: snmpwire.NoSuchInstance}
}

// Next implements snmpagent.MIB.
func (t *bigTable) Next(name, dst snmpwire.OID) (snmpwire.OID, snmpwire.Value) {
	i, ok := t.find(name)
	if ok {
		i++
	}
	if i == len(t.rows) {
		return append(dst[:0], name...), snmpwire.Value{Tag: snmpwire.EndOfMibView}
	}
	return append(dst[:0], t.rows[i].Name...), t.rows[i].Value
}

// Set implements snmpagent.MIB.
func (t *bigTable) Set([]snmpwire.VarBind) (snmpwire.Status, int) { return snmpwire.NotWritable, 1 }

func (t *bigTable) find(name snmpwire.OID) (int, bool) {
	return slices.BinarySearchFunc(t.rows, name, func(v snmpwire.VarBind, n snmpwire.OID) int { return v.Name.Compare(n) })
}
