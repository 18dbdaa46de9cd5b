package csvlist

import (
	"fmt"
	"net/netip"

	"ctl.internal/plugins/switch/mib"
)

// Entry is one switch of the list.
type Entry struct {
	Line    int // where it stands in the file
	MAC     mib.MAC
	Address netip.Addr
	Port    uint16 // SNMP, 161 when the list does not say
	Model   string
	Driver  string // name of a driver to use instead of the chosen one

	Version        string // "1", "2c", "3", NoSNMP; empty: 2c, and 1 when that is not answered
	ReadCommunity  string
	WriteCommunity string
	V3User         string
	V3AuthProtocol string // "", or one of authProtocols
	V3AuthPassword string
	V3PrivProtocol string // "", or one of privProtocols
	V3PrivPassword string

	CLIUser      string
	CLIPassword  string
	CLITransport string // "telnet", "ssh"; empty: as the driver's settings say
	CLIPort      uint16 // TCP; 0: as the driver's settings say
}

// NoSNMP is the Version of a switch that is not asked by SNMP: only a driver, or what the
// vendor-specific configuration describes, serves it.
const NoSNMP = "none"

// The names of protocols the list may use, in lower case.
var (
	authProtocols = []string{"md5", "sha", "sha-224", "sha-256", "sha-384", "sha-512"}
	privProtocols = []string{"des", "aes", "aes-192", "aes-256", "aes-192-c", "aes-256-c"}
)

// Problem is something wrong with one line. The other lines are not affected.
type Problem struct {
	File string
	Line int
	// Loaded says that the line was used all the same.
	Loaded bool
	Text   string
}

// String returns file:line: text.
func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text) }

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
