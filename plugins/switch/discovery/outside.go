package discovery

import (
	"unicode"

	"ctl.internal/plugins/switch/mib"
)

// outsideID is the id of a device outside the list: its chassis id as octets in
// hexadecimal, filled to eight octets in front.
func outsideID(n *Neighbor) string {
	if len(n.Chassis.ID) == 0 {
		return ""
	}
	b := n.Chassis.ID
	if m := mib.MACOf(b); m != 0 && n.Chassis.Subtype == chassisMAC && len(b) > 6 {
		return "00:00:" + m.String()
	}
	if len(b) < 8 {
		b = append(make([]byte, 8-len(b)), b...)
	}
	return mib.ColonHex(b)
}

// outsidePort is the port id of such a device as text.
func outsidePort(n *Neighbor) string {
	if s := n.Port.String(); s != "" {
		return s
	}
	if n.PortDesc != "" {
		return n.PortDesc
	}
	return "unknown"
}

// String returns the identifier for people: addresses with colons, text as text,
// other octets in hexadecimal.
func (id Identifier) String() string {
	if len(id.ID) == 6 && (id.Subtype == portMAC || id.Subtype == chassisMAC || id.Subtype == 0) {
		return mib.ColonHex(id.ID)
	}
	s := mib.Text(id.ID)
	for _, r := range s {
		if !unicode.IsPrint(r) || r > 0x7e {
			return mib.ColonHex(id.ID)
		}
	}
	return s
}

// String names the neighbour for people.
func (n *Neighbor) String() string {
	s := n.Chassis.String()
	if s == "" {
		s = "unknown chassis"
	}
	if n.SysName != "" {
		s += " (" + n.SysName + ")"
	}
	return s + " port " + outsidePort(n)
}
