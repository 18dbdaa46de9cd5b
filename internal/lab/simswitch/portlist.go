package simswitch

import (
	"bytes"
	"strconv"

	"ctl.internal/internal/lab/snmpwire"
)

// A PortList is octets whose most significant bit of the first is port 1
// (Q-BRIDGE-MIB). In the model it has the length the agent shows.

func (s *Switch) portListLen() int {
	if n := s.cfg.Profile.PortListLen; n > 0 {
		return n
	}
	return (s.cfg.Ports + 7) / 8
}

func (s *Switch) emptyPortList() []byte {
	return make([]byte, s.portListLen())
}

// withTail sets the bits after the ports that some makes have, in the last octet.
func (s *Switch) withTail(list []byte) []byte {
	out := bytes.Clone(list)
	if s.cfg.Profile.PortListTail {
		out[len(out)-1] |= 0x05
	}
	return out
}

func setBit(list []byte, port int, on bool) {
	i, mask := (port-1)/8, byte(0x80)>>((port-1)%8)
	if on {
		list[i] |= mask
	} else {
		list[i] &^= mask
	}
}

func hasBit(list []byte, port int) bool {
	i := (port - 1) / 8
	return i < len(list) && list[i]&(0x80>>((port-1)%8)) != 0
}

// portList shows a list as the make does.
func (s *Switch) portList(list []byte) value {
	if !s.cfg.Profile.PortListText {
		return snmpwire.Octets(bytes.Clone(list))
	}
	var text []byte
	for _, p := range s.portListMembers(list) {
		if text != nil {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(p), 10)
	}
	return snmpwire.Octets(text)
}

// portListMembers returns the ports of a list in ascending order.
func (s *Switch) portListMembers(list []byte) []int {
	var out []int
	for p := 1; p <= s.cfg.Ports; p++ {
		if hasBit(list, p) {
			out = append(out, p)
		}
	}
	return out
}

// takePortList checks a list that SET brings and brings it to the model's length.
func (s *Switch) takePortList(b []byte) ([]byte, status) {
	switch {
	case s.cfg.Profile.PortListText:
		return nil, snmpwire.NotWritable
	case s.cfg.Profile.PortListExact && len(b) != s.portListLen():
		return nil, snmpwire.WrongLength
	}
	out := s.emptyPortList()
	for _, c := range b[min(len(b), len(out)):] {
		if c != 0 {
			return nil, snmpwire.WrongValue
		}
	}
	copy(out, b)
	if s.cfg.Profile.PortListTail {
		return out, snmpwire.NoError
	}
	for p := s.cfg.Ports + 1; p <= len(out)*8; p++ {
		if hasBit(out, p) {
			return nil, snmpwire.WrongValue // there is no such port
		}
	}
	return out, snmpwire.NoError
}
