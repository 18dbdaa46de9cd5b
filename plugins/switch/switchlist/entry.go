package switchlist

import (
	"fmt"
	"net/netip"
	"strconv"

	"ctl.internal/plugins/switch/mib"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Entry is one switch of the list.
type Entry struct {
	Line    int        `json:"line"` // in the file
	MAC     mib.MAC    `json:"mac"`
	Address netip.Addr `json:"address"`
	Port    uint16     `json:"port"` // SNMP, 161 when the list does not say
	Model   string     `json:"model,omitempty"`
	Driver  string     `json:"driver,omitempty"` // name of a driver to use instead of the chosen one

	Version        string `json:"version,omitempty"` // "1", "2c", "3", NoSNMP; empty: 2c, and 1 when that is not answered
	ReadCommunity  string `json:"-"`
	WriteCommunity string `json:"-"`
	V3User         string `json:"user,omitempty"`
	V3AuthProtocol string `json:"auth,omitempty"` // "", or one of authProtocols
	V3AuthPassword string `json:"-"`
	V3PrivProtocol string `json:"priv,omitempty"` // "", or one of privProtocols
	V3PrivPassword string `json:"-"`

	V3Context       string `json:"context,omitempty"`
	V3BridgeContext string `json:"bridge-context,omitempty"` // of BRIDGE-MIB and Q-BRIDGE-MIB; empty: V3Context
	AnswersFrom     string `json:"answers-from,omitempty"`   // "any", or an IP address; empty: as the settings say

	CLIUser      string `json:"cli-user,omitempty"`
	CLIPassword  string `json:"-"`
	CLITransport string `json:"cli-transport,omitempty"` // "telnet", "ssh"; empty: as the driver's settings say
	CLIPort      uint16 `json:"cli-port,omitempty"`      // TCP; 0: as the driver's settings say
}

// secretFields are the members that are kept sealed.
func (e *Entry) secretFields() [5]*string {
	return [5]*string{&e.ReadCommunity, &e.WriteCommunity, &e.V3AuthPassword, &e.V3PrivPassword, &e.CLIPassword}
}

// NoSNMP is the Version of a switch without SNMP: only a driver or the functions of the vendor-specific configuration
// serve it.
const NoSNMP = "none"

// The names of protocols the list may use, in lower case.
var (
	authProtocols = []string{"md5", "sha", "sha-224", "sha-256", "sha-384", "sha-512"}
	privProtocols = []string{"des", "aes", "aes-192", "aes-256", "aes-192-c", "aes-256-c"}
)

// Problem is something wrong with one line. The other lines are not affected.
type Problem struct {
	File   string `json:"-"`
	Line   int    `json:"line"`
	Loaded bool   `json:"loaded"` // the line was used all the same
	Text   string `json:"text"`
}

// String returns file:line: text.
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// Place is where the switch is: its address, with the port where it speaks SNMP.
func (e Entry) Place() string {
	if e.Version == NoSNMP {
		return e.Address.String()
	}
	return netip.AddrPortFrom(e.Address, e.Port).String()
}

// String names the switch without its secrets.
func (e Entry) String() string {
	return fmt.Sprintf("switch %s (%s)", e.MAC, e.Place())
}

// GoString is String: no format shows the secrets.
func (e Entry) GoString() string { return e.String() }

// Switch is the entry in the form drivers take.
func (e Entry) Switch() *switchdriver.Switch {
	sw := &switchdriver.Switch{
		NodeId:  uint64(e.MAC),
		Address: e.Address.String(),
		Model:   e.Model,
	}
	if e.Version != NoSNMP {
		sw.Snmp = &pluginv1.SnmpAccess{
			Port:           uint32(e.Port),
			Version:        e.Version,
			ReadCommunity:  e.ReadCommunity,
			WriteCommunity: e.WriteCommunity,
			User:           e.V3User,
			AuthProtocol:   e.V3AuthProtocol,
			AuthPassword:   e.V3AuthPassword,
			PrivProtocol:   e.V3PrivProtocol,
			PrivPassword:   e.V3PrivPassword,
			Context:        e.V3Context,
			BridgeContext:  e.V3BridgeContext,
			AnswersFrom:    e.AnswersFrom,
		}
	}
	if e.CLIUser != "" || e.CLIPassword != "" {
		sw.Cli = &pluginv1.CliAccess{
			User:      e.CLIUser,
			Password:  e.CLIPassword,
			Transport: e.CLITransport,
			Port:      uint32(e.CLIPort),
		}
	}
	return sw
}

// maxCell is the maximum length of one cell that a caller gives, in octets.
const maxCell = 255

// Info is grouping switch-info of module switch-db: the columns of the original list.
type Info struct {
	IP          string `json:"node-ip"` // with :port where SNMP is not at 161
	MAC         string `json:"node-mac"`
	Community   string `json:"community"`
	CLIUser     string `json:"cli-user-name"`
	CLIPassword string `json:"cli-password"`
	Model       string `json:"model"`
}

// Entry makes a switch of the list. The faults name the leaves below path, never a secret.
func (f Info) Entry(path string) (e Entry, l fault.List) {
	for leaf, v := range map[string]string{
		"node-ip":  f.IP,
		"node-mac": f.MAC,
	} {
		if v == "" {
			l = append(l, fault.At(fault.Missing, path+leaf, "%s is missing", leaf))
		}
	}
	if len(l) > 0 {
		return e, l
	}
	var row [columns]string
	leaves := map[int]string{
		colIP:             "node-ip",
		colPort:           "node-ip",
		colMAC:            "node-mac",
		colCommunity:      "community",
		colReadCommunity:  "community",
		colWriteCommunity: "community",
		colCLIUser:        "cli-user-name",
		colCLIPassword:    "cli-password",
		colModel:          "model",
	}
	row[colMAC], row[colCommunity], row[colCLIUser], row[colCLIPassword], row[colModel] = f.MAC, f.Community, f.CLIUser, f.CLIPassword, f.Model
	row[colIP], row[colPort] = SplitAddress(f.IP)
	for col, cell := range row {
		if len(cell) > maxCell {
			l = append(l, fault.At(fault.Invalid, path+leaves[col], "more than %d octets", maxCell))
		} else if isSealed(cell) {
			l = append(
				l,
				fault.At(
					fault.Invalid,
					path+leaves[col],
					"a text of aaa:seal-secret can be used only in files; give the secret itself, it is sealed when it is stored",
				),
			)
		}
	}
	if len(l) > 0 {
		return e, l
	}
	e, bad := parseRow(row)
	for _, b := range bad {
		l = append(l, fault.At(fault.Invalid, path+leaves[b.column], "%s", b.text))
	}
	return e, l
}

// SplitAddress separates the port from an address; port is empty if the address has no port.
func SplitAddress(s string) (address, port string) {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().String(), strconv.Itoa(int(ap.Port()))
	}
	return s, ""
}

// Same reports whether two entries describe the same device: the MAC address, or
// address and port of SNMP.
func (e Entry) Same(o Entry) bool {
	return e.MAC == o.MAC ||
		e.Version != NoSNMP && o.Version != NoSNMP && e.Address == o.Address && e.Port == o.Port
}
