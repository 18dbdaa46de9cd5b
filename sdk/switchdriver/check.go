package switchdriver

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"ctl.internal/sdk/fault"
)

// Label names a switch in errors and logs: its MAC address, and where it is. It
// never shows a login.
func Label(sw *Switch) string {
	mac := net.HardwareAddr(binary.BigEndian.AppendUint64(nil, sw.GetNodeId())[2:])
	return fmt.Sprintf("%s (%s)", mac, sw.GetAddress())
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

// CheckUnicast refuses, with fault.Invalid, what is not the MAC address of one
// station: 0, a group address, more than 48 bits.
func CheckUnicast(mac uint64) error {
	if mac == 0 || mac >= 1<<48 || mac>>40&1 != 0 {
		return fault.At(
			fault.Invalid,
			"dest-mac-addr",
			"%#x is not the MAC address of a single station",
			mac,
		)
	}
	return nil
}

// CheckIPv4 refuses, with fault.Invalid at path, what is not an IPv4 address.
func CheckIPv4(path, s string) error {
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is4() {
		return fault.At(fault.Invalid, path, "%.40q is not an IPv4 address", s)
	}
	return nil
}

// Printable reports whether s is printable ASCII only, as names that reach a
// device must be.
func Printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// The bounds of answers: the highest port, and entries of a table.
const (
	maxPort    = 65535
	maxEntries = 1 << 20
)

func validPort(n uint32) bool { return n >= 1 && n <= maxPort }

func validMAC(mac uint64) bool { return mac < 1<<48 }
