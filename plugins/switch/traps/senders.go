package traps

import (
	"crypto/subtle"
	"net/netip"
	"strconv"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/switchlist"
)

// Senders are the switches of the list by their addresses.
type Senders map[netip.Addr][]*switchlist.Entry

// NewSenders makes the index of a switch list.
func NewSenders(list []switchlist.Entry) Senders {
	s := make(Senders, len(list))
	for i := range list {
		e := &list[i]
		a := e.Address.Unmap()
		s[a] = append(s[a], e)
	}
	return s
}

// withCommunity returns those whose community it is.
func withCommunity(list []*switchlist.Entry, community []byte) []*switchlist.Entry {
	return filter(list, func(e *switchlist.Entry) bool {
		return matches(community, e.ReadCommunity) || matches(community, e.WriteCommunity)
	})
}

func matches(got []byte, want string) bool {
	return want != "" && subtle.ConstantTimeCompare(got, []byte(want)) == 1
}

func filter(list []*switchlist.Entry, f func(*switchlist.Entry) bool) []*switchlist.Entry {
	var out []*switchlist.Entry
	for _, e := range list {
		if f(e) {
			out = append(out, e)
		}
	}
	return out
}

// maxAlike bounds how many switches at one address a trap may be of.
const maxAlike = 16

// nodes says of which switch a trap is. Several at one address are told apart by
// the port the agent sends from, where that is the port it is asked at.
func nodes(list []*switchlist.Entry, from netip.AddrPort) []mib.MAC {
	if len(list) > 1 {
		if at := filter(list, func(e *switchlist.Entry) bool { return e.Port == from.Port() }); len(at) > 0 {
			list = at
		}
	}
	if len(list) > maxAlike {
		return nil
	}
	out := make([]mib.MAC, len(list))
	for i := range list {
		out[i] = list[i].MAC
	}
	return out
}

func uintText(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
