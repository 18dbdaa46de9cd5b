package bridge

import (
	"maps"
	"slices"

	"ctl.internal/sdk/switchdriver"
)

// The modes of a port (column vlan_mode). An empty one is Access with a tag, else Trunk.
const (
	Access         = "access"
	Trunk          = "trunk"
	NativeTagged   = "native-tagged"
	NativeUntagged = "native-untagged"
)

// lastVLAN is the highest id that a port can carry.
const lastVLAN = switchdriver.MaxVLANID

// defaultVLAN is where a port goes that is in no other.
const defaultVLAN = 1

// Columns are what OVSDB says of a port's VLANs.
type Columns struct {
	Tag    int // 0: not set
	Trunks []int
	Mode   string
}

// Equal reports whether both are the same rows.
func (c Columns) Equal(d Columns) bool {
	return c.Tag == d.Tag &&
		c.Mode == d.Mode &&
		slices.Equal(slices.Sorted(slices.Values(c.Trunks)), slices.Sorted(slices.Values(d.Trunks)))
}

// Port is a port of a bridge.
type Port struct {
	UUID    string
	Name    string
	Number  uint32 // OpenFlow port number; 0: none yet
	Columns Columns
}

// member is which VLANs a port is in.
type member struct {
	untagged int  // 0: none
	native   bool // the tag stays the native VLAN although it is tagged
	tagged   map[int]bool
}

// isFixed reports a mode that this package does not change.
func (c Columns) isFixed() bool {
	return !slices.Contains([]string{"", Access, Trunk, NativeTagged, NativeUntagged}, c.Mode)
}

func (c Columns) effectiveMode() string {
	if c.Mode == "" {
		if c.Tag != 0 {
			return Access
		}
		return Trunk
	}
	return c.Mode
}

// toMember reads the columns. An empty list of trunks is all VLANs.
func (c Columns) toMember() member {
	m := member{tagged: map[int]bool{}}
	mode := c.effectiveMode()
	if mode == Access || c.isFixed() {
		m.untagged = c.Tag
		return m
	}
	if len(c.Trunks) == 0 {
		for v := 1; v <= lastVLAN; v++ {
			m.tagged[v] = true
		}
	}
	for _, v := range c.Trunks {
		if v >= 1 && v <= lastVLAN {
			m.tagged[v] = true
		}
	}
	switch {
	case c.Tag == 0:
	case c.effectiveMode() == NativeTagged:
		m.tagged[c.Tag], m.native = true, true
	case c.effectiveMode() == NativeUntagged:
		delete(m.tagged, c.Tag)
		m.untagged = c.Tag
	}
	return m
}

// toColumns writes what a port is in. before is what it was, for what does not change.
func (m member) toColumns(before Columns) Columns {
	all := len(m.tagged) == lastVLAN || (len(m.tagged) == lastVLAN-1 && m.untagged != 0)
	c := Columns{
		Tag:    m.untagged,
		Trunks: slices.Sorted(maps.Keys(m.tagged)),
	}
	if all {
		c.Trunks = nil
	}
	switch {
	case len(m.tagged) == 0:
		c.Mode = Access
	case m.untagged != 0:
		c.Mode = NativeUntagged
	case m.native && m.tagged[before.Tag]:
		c.Mode, c.Tag = NativeTagged, before.Tag
	default:
		c.Mode = Trunk
	}
	return c
}

// leaveVLAN takes a port out of a VLAN; without any it goes to the default one.
func (m *member) leaveVLAN(v int) {
	delete(m.tagged, v)
	if m.untagged == v {
		m.untagged = 0
	}
	if m.untagged == 0 && len(m.tagged) == 0 {
		m.untagged = defaultVLAN
	}
}
