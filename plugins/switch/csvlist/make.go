package csvlist

import (
	"net/netip"
	"strconv"

	"ctl.internal/sdk/fault"
)

// maxCell bounds what a caller may give for one cell, in octets.
const maxCell = 255

// Fields are the columns of the original list, as module switch-db has them.
type Fields struct {
	IP          string // with :port where SNMP is not at 161
	MAC         string
	Community   string
	CLIUser     string
	CLIPassword string
	Model       string
}

// New makes a switch of fields. The faults name the leaves of module switch-db, never
// a secret.
func New(f Fields) (Entry, fault.List) {
	var row [columns]string
	leaves := map[int]string{colIP: "node-ip", colPort: "node-ip", colMAC: "node-mac", colCommunity: "community", colReadCommunity: "community",
		colWriteCommunity: "community", colCLIUser: "cli-user-name", colCLIPassword: "cli-password", colModel: "model"}
	row[colMAC], row[colCommunity], row[colCLIUser], row[colCLIPassword], row[colModel] = f.MAC, f.Community, f.CLIUser, f.CLIPassword, f.Model
	row[colIP], row[colPort] = SplitAddress(f.IP)
	var l fault.List
	for col, cell := range row {
		if len(cell) > maxCell {
			l = append(l, fault.At(fault.Invalid, leaves[col], "more than %d octets", maxCell))
		} else if sealed(cell) {
			l = append(l, fault.At(fault.Invalid, leaves[col], "a text of aaa:seal-secret stands for a secret in files only; give the secret itself, it is sealed when it is stored"))
		}
	}
	if len(l) > 0 {
		return Entry{}, l
	}
	e, bad := examine(row)
	for _, b := range bad {
		l = append(l, fault.At(fault.Invalid, leaves[b.column], "%s", b.text))
	}
	return e, l
}

// SplitAddress takes the port off an address that has one; port is empty where none is given.
func SplitAddress(s string) (address, port string) {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().String(), strconv.Itoa(int(ap.Port()))
	}
	return s, ""
}

// Same reports whether two entries stand for the same device: the MAC address, or
// address and port of SNMP.
func (e Entry) Same(o Entry) bool {
	return e.MAC == o.MAC || e.Version != NoSNMP && o.Version != NoSNMP && e.Address == o.Address && e.Port == o.Port
}
