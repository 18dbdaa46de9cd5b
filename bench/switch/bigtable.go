package main

import (
	"fmt"
	"net/netip"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmprec"
	"ctl.internal/internal/lab/snmpwire"
	"ctl.internal/plugins/switch/mib"
)

// newBigTable makes a MIB with nothing but a forwarding table: more entries than the
// simulated switches hold.
func newBigTable(entries int) *snmprec.MIB {
	var rows []snmpwire.VarBind
	for column, base := range fdbColumns {
		for i := range entries {
			v := snmpwire.Int32(i%24 + 1)
			if column == 1 {
				v = snmpwire.Int32(3) // learned
			}
			name := snmpwire.MustOID(base).Append(
				1,
				8,
				0,
				0,
				uint32(i>>16),
				uint32(i>>8)&255,
				uint32(i)&255,
			)
			rows = append(rows, snmpwire.VarBind{
				Name:  name,
				Value: v,
			})
		}
	}
	return snmprec.New(rows)
}

// listenTable serves a table and returns its line of the switch list.
func listenTable(t *snmprec.MIB, h *snmpagent.Host, message int) (string, error) {
	s, err := h.Listen(
		netip.MustParseAddrPort("127.0.0.1:0"),
		snmpagent.New(snmpagent.Config{
			MIB:           t,
			ReadCommunity: "public",
			MaxMessage:    message,
		}),
	)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(
		"%s,127.0.0.1,public,admin,password,table,%d",
		mib.MAC(0x0a0000000001),
		s.Addr().Port(),
	), nil
}
