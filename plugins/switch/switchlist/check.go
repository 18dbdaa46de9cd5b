package switchlist

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/internal/switchcli"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
)

// maxContext is the length of an SnmpAdminString (RFC 3411).
const maxContext = 255

// maxCommunity is what the short length form of BER carries.
const maxCommunity = 127

// badCell is something wrong with one cell.
type badCell struct {
	column int
	text   string
}

// parseRow makes a switch of the cells and reports everything that is wrong.
func parseRow(row [columns]string) (e Entry, bad []badCell) {
	fail := func(col int, format string, args ...any) {
		bad = append(bad, badCell{col, fmt.Sprintf(format, args...)})
	}
	for col, cell := range row {
		i := strings.IndexFunc(cell, func(r rune) bool {
			return r < ' ' || r == 0x7f || r == '\ufffd'
		})
		if i >= 0 {
			fail(col, "octet %d is a control character or no UTF-8", i+1)
		}
	}
	e = Entry{
		Port:            161,
		Model:           row[colModel],
		Driver:          row[colDriver],
		ReadCommunity:   cmp.Or(row[colReadCommunity], row[colCommunity], row[colWriteCommunity]),
		WriteCommunity:  cmp.Or(row[colWriteCommunity], row[colCommunity]),
		V3User:          row[colV3User],
		V3AuthPassword:  row[colV3AuthPassword],
		V3PrivPassword:  row[colV3PrivPassword],
		V3Context:       row[colV3Context],
		V3BridgeContext: row[colV3BridgeContext],
		AnswersFrom:     strings.ToLower(row[colAnswersFrom]),
		CLIUser:         row[colCLIUser],
		CLIPassword:     row[colCLIPassword],
		CLITransport:    strings.ToLower(row[colCLITransport]),
	}
	var err error
	if e.MAC, err = mib.ParseMAC(row[colMAC]); err != nil {
		fail(colMAC, "%v", err)
	} else if !e.MAC.Unicast() {
		fail(colMAC, "%s is not the address of a single device", e.MAC)
	}
	if e.Address, err = netip.ParseAddr(row[colIP]); err != nil ||
		e.Address.IsUnspecified() ||
		e.Address.IsMulticast() {
		fail(
			colIP,
			"%q is not the IP address of a switch; write 192.0.2.32 or 2001:db8::32",
			row[colIP],
		)
	}
	for _, p := range []struct {
		col  int
		kind string
		to   *uint16
	}{{colPort, "UDP", &e.Port}, {colCLIPort, "TCP", &e.CLIPort}} {
		if s := row[p.col]; s != "" {
			n, err := strconv.ParseUint(s, 10, 16)
			if err != nil || n == 0 {
				fail(p.col, "%q is not a %s port, 1 to 65535", s, p.kind)
			}
			*p.to = uint16(n)
		}
	}
	if !snmp.CheckFrom(e.AnswersFrom) {
		fail(
			colAnswersFrom,
			"%q is not an IP address; write the address from which the switch answers, or any",
			row[colAnswersFrom],
		)
	}
	t := e.CLITransport
	if t != "" && t != switchcli.Telnet && t != switchcli.SSH {
		fail(
			colCLITransport,
			"%q is not a transport; write %s or %s",
			row[colCLITransport],
			switchcli.Telnet,
			switchcli.SSH,
		)
	}
	checkAccess(&e, row, fail)
	return e, bad
}

// standardDriver is the name by which the column Driver asks for the standard MIBs.
const standardDriver = "standard-mib"

// checkAccess checks what it takes to be let in.
func checkAccess(e *Entry, row [columns]string, fail func(col int, format string, args ...any)) {
	switch v := strings.TrimPrefix(strings.ToLower(row[colVersion]), "v"); v {
	case "1", "3", NoSNMP:
		e.Version = v
	case "2", "2c":
		e.Version = "2c"
	case "":
		switch {
		case e.V3User != "":
			e.Version = "3"
		case e.ReadCommunity == "" && e.Driver != "" && e.Driver != standardDriver:
			e.Version = NoSNMP // that driver speaks to it, by what it has
		}
	default:
		fail(
			colVersion,
			"%q is not an SNMP version; write 1, 2c, 3, or none for a switch that only a driver serves",
			row[colVersion],
		)
		return
	}
	if e.Version == NoSNMP {
		if e.Driver == standardDriver {
			fail(
				colDriver,
				"the driver %s needs SNMP, but the column Version has the value none",
				standardDriver,
			)
		}
		return
	}
	if e.Version != "3" {
		for col, c := range map[int]string{
			colReadCommunity:  e.ReadCommunity,
			colWriteCommunity: e.WriteCommunity,
		} {
			if len(c) > maxCommunity {
				fail(col, "the community has more than %d octets", maxCommunity)
			}
		}
		if e.ReadCommunity == "" {
			fail(
				colCommunity,
				"the community is missing; SNMP version 1 and 2c need one (for a switch that only a driver serves, set Version to none or name the Driver)",
			)
		}
		return
	}
	for _, col := range []int{colV3Context, colV3BridgeContext} {
		if len(row[col]) > maxContext {
			fail(col, "the context has more than %d octets", maxContext)
		}
	}
	if e.V3User == "" {
		fail(colV3User, "the user is missing; SNMP version 3 needs one")
	}
	if len(e.V3User) > 32 {
		fail(colV3User, "the user has more than 32 octets")
	}
	var ok bool
	if e.V3AuthProtocol, ok = protocolName(row[colV3AuthProtocol], authProtocols); !ok {
		fail(
			colV3AuthProtocol,
			"%q is not known; write one of %s",
			row[colV3AuthProtocol],
			strings.Join(authProtocols, ", "),
		)
	}
	if e.V3PrivProtocol, ok = protocolName(row[colV3PrivProtocol], privProtocols); !ok {
		fail(
			colV3PrivProtocol,
			"%q is not known; write one of %s",
			row[colV3PrivProtocol],
			strings.Join(privProtocols, ", "),
		)
	}
	if e.V3AuthProtocol == "" && e.V3AuthPassword != "" {
		e.V3AuthProtocol = "sha"
	}
	if e.V3PrivProtocol == "" && e.V3PrivPassword != "" {
		e.V3PrivProtocol = "aes"
	}
	if e.V3AuthProtocol != "" && len(e.V3AuthPassword) < 8 {
		fail(colV3AuthPassword, "the password must have 8 octets or more (RFC 3414)")
	}
	if e.V3PrivProtocol != "" && len(e.V3PrivPassword) < 8 {
		fail(colV3PrivPassword, "the password must have 8 octets or more (RFC 3414)")
	}
	if e.V3PrivProtocol != "" && e.V3AuthProtocol == "" {
		fail(colV3AuthProtocol, "privacy needs authentication; name an authentication protocol")
	}
}

// protocolName finds a protocol's name; "sha256" and "SHA_256" are "sha-256".
func protocolName(s string, names []string) (string, bool) {
	plain := func(s string) string {
		return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(s))
	}
	switch plain(s) {
	case "", "none", "no":
		return "", true
	case "sha1":
		return "sha", true
	case "aes128":
		return "aes", true
	}
	i := slices.IndexFunc(names, func(n string) bool { return plain(n) == plain(s) })
	if i < 0 {
		return "", false
	}
	return names[i], true
}
