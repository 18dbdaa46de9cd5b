package switchdriver

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ctl.internal/sdk/fault"
)

// MaxVLANName is the longest name of a VLAN in octets (dot1qVlanStaticName, RFC 4363).
const MaxVLANName = 32

// MaxVLANID is the highest id of a VLAN (IEEE 802.1Q; 4095 is reserved).
const MaxVLANID = 4094

// The statuses of an entry of the forwarding table (dot1qTpFdbStatus, RFC 4363).
const (
	FDBOther   int32 = 1
	FDBInvalid int32 = 2
	FDBLearned int32 = 3
	FDBSelf    int32 = 4
	FDBMgmt    int32 = 5
)

// The states of a port in a spanning tree (dot1dStpPortState, RFC 4188).
const (
	STPDisabled   int32 = 1
	STPBlocking   int32 = 2
	STPListening  int32 = 3
	STPLearning   int32 = 4
	STPForwarding int32 = 5
	STPBroken     int32 = 6
)

// Label names a switch in errors and logs: its MAC address, and where it is. It
// never shows a login.
func Label(sw *Switch) string {
	id := sw.GetNodeId()
	mac := make([]string, 6)
	for i := range mac {
		mac[i] = fmt.Sprintf("%02x", byte(id>>(40-8*i)))
	}
	return fmt.Sprintf("%s (%s)", strings.Join(mac, ":"), sw.GetAddress())
}

// CheckSwitch refuses a switch that cannot be reached because the call does not say
// where it is: fault.Missing without an address, fault.Invalid when it is not one.
func CheckSwitch(sw *Switch) error {
	switch {
	case sw == nil:
		return fault.At(fault.Missing, "switch", "the call names no switch")
	case sw.Address == "":
		return fault.At(fault.Missing, "switch/address", "switch %s has no address", Label(sw))
	}
	if _, err := netip.ParseAddr(sw.Address); err != nil {
		return fault.At(fault.Invalid, "switch/address", "%.60q is not an IP address", sw.Address)
	}
	return nil
}

// CheckVLANID refuses, with fault.Invalid, what is not a VLAN id, 1 to MaxVLANID.
func CheckVLANID(id uint32) error {
	if id < 1 || id > MaxVLANID {
		return fault.At(fault.Invalid, "vlan-id", "%d is not a VLAN id, 1 to %d", id, MaxVLANID)
	}
	return nil
}

// CheckVLAN refuses a VLAN that no switch can have: a bad id, a name longer than
// MaxVLANName or with other than printable ASCII, a port that has says is not
// there, an untagged port that is not an egress port. has may be nil. All faults
// are reported at once, of kind fault.Invalid (fault.Missing for no VLAN at all).
func CheckVLAN(v *VLAN, has func(port uint32) bool) error {
	if v == nil {
		return fault.At(fault.Missing, "vlan", "the call names no VLAN")
	}
	var l fault.List
	if err := CheckVLANID(v.VlanId); err != nil {
		l = append(l, fault.All(err)...)
	}
	if len(v.Name) > MaxVLANName || !Printable(v.Name) {
		l = append(l, fault.At(fault.Invalid, "vlan-name", "%.40q is not a VLAN name of up to %d printable ASCII characters", v.Name, MaxVLANName))
	}
	for _, p := range v.EgressPorts {
		if has != nil && !has(p) {
			l = append(l, fault.At(fault.Invalid, "egress-ports", "the switch has no port %d", p))
		}
	}
	for _, p := range v.UntaggedPorts {
		if !slices.Contains(v.EgressPorts, p) {
			l = append(l, fault.At(fault.Invalid, "untagged-ports", "port %d is untagged but no egress port of the VLAN", p))
		}
	}
	return l.Err()
}

// CheckUnicast refuses, with fault.Invalid, what is not the MAC address of one
// station: 0, a group address, more than 48 bits.
func CheckUnicast(mac uint64) error {
	if mac == 0 || mac >= 1<<48 || mac>>40&1 != 0 {
		return fault.At(fault.Invalid, "dest-mac-addr", "%#x is not the MAC address of a single station", mac)
	}
	return nil
}

// CheckFDBEntry refuses an entry that no switch can have: a bad VLAN id, an address
// that is not a single station's, port 0. Whether its type can be had is the
// driver's business: Mgmt, or 0 for "not said", always; others if it says so.
func CheckFDBEntry(e *FDBEntry) error {
	if e == nil {
		return fault.At(fault.Missing, "entry", "the call names no entry")
	}
	var l fault.List
	for _, err := range []error{CheckVLANID(e.VlanId), CheckUnicast(e.Mac)} {
		if err != nil {
			l = append(l, fault.All(err)...)
		}
	}
	if e.Port == 0 {
		l = append(l, fault.At(fault.Invalid, "port", "0 is not a port"))
	}
	return l.Err()
}

// CheckARPEntry refuses an entry that no switch can have: no IPv4 address of a
// station, no unicast MAC address, a prefix longer than 32.
func CheckARPEntry(e *ARPEntry, prefixLength uint32) error {
	if e == nil {
		return fault.At(fault.Missing, "entry", "the call names no entry")
	}
	var l fault.List
	if err := CheckIPv4("ip-address", e.IpAddress); err != nil {
		l = append(l, fault.All(err)...)
	}
	if err := CheckUnicast(e.Mac); err != nil {
		l = append(l, fault.At(fault.Invalid, "mac-address", "%#x is not the MAC address of a single station", e.Mac))
	}
	if prefixLength > 32 {
		l = append(l, fault.At(fault.Invalid, "ip-address", "the prefix length %d is more than 32", prefixLength))
	}
	return l.Err()
}

// CheckIPv4 refuses, with fault.Invalid at path, what is not an IPv4 address.
func CheckIPv4(path, s string) error {
	if a, err := netip.ParseAddr(s); err != nil || !a.Is4() {
		return fault.At(fault.Invalid, path, "%.40q is not an IPv4 address", s)
	}
	return nil
}

// Printable reports whether s is printable ASCII only, as names that reach a
// device must be.
func Printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}
