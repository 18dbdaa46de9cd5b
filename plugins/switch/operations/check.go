package operations

import (
	"slices"
	"strconv"
	"strings"

	"ctl.internal/plugins/switch/inventory"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// checker collects everything that is wrong with an input.
type checker struct{ faults fault.List }

func (c *checker) invalid(leaf, format string, args ...any) {
	c.faults = append(c.faults, fault.At(fault.Invalid, leaf, format, args...))
}

func (c *checker) missing(leaf string) {
	c.faults = append(c.faults, fault.At(fault.Missing, leaf, "%s is missing", leaf))
}

// mac reads a MAC address given as a number.
func (c *checker) mac(leaf string, v *int64) mib.MAC {
	switch {
	case v == nil:
		c.missing(leaf)
	case *v <= 0 || !mib.MAC(*v).Valid():
		c.invalid(leaf, "%d is no MAC address as a number, 1 to %d", *v, int64(1)<<48-1)
	default:
		return mib.MAC(*v)
	}
	return 0
}

// station reads the MAC address of a single station.
func (c *checker) station(leaf string, v *int64) mib.MAC {
	m := c.mac(leaf, v)
	if m != 0 && !m.Unicast() {
		c.invalid(leaf, "%d (%s) is a group address; only addresses of single stations can be set", *v, m)
	}
	return m
}

func (c *checker) vlan(v *int32) uint32 {
	const leaf = "vlan-id"
	switch {
	case v == nil:
		c.missing(leaf)
	case *v < 1 || *v > 4094:
		c.invalid(leaf, "%d is no VLAN id, 1 to 4094", *v)
	default:
		return uint32(*v)
	}
	return 0
}

func (c *checker) port(v *int32) uint32 {
	const leaf = "port"
	switch {
	case v == nil:
		c.missing(leaf)
	case *v < 1 || *v > 65535:
		c.invalid(leaf, "%d is no port number, 1 to 65535", *v)
	default:
		return uint32(*v)
	}
	return 0
}

// maxName is the length of vlan-name in the module.
const maxName = 20

func (c *checker) name(v *string) string {
	const leaf = "vlan-name"
	switch {
	case v == nil:
		c.missing(leaf)
		return ""
	case len(*v) > maxName:
		c.invalid(leaf, "the name has more than %d characters", maxName)
	case strings.ContainsFunc(*v, func(r rune) bool { return r < ' ' || r > '~' }):
		c.invalid(leaf, "only printable ASCII characters can be in a name")
	}
	return *v
}

// ports reads a list of port numbers separated by commas; blank is no port.
func (c *checker) ports(leaf string, v *string) mib.Ports {
	out := mib.Ports{}
	switch {
	case v == nil:
		c.missing(leaf)
		return out
	case strings.TrimSpace(*v) == "":
		return out
	}
	for item := range strings.SplitSeq(*v, ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(item), 10, 16)
		if err != nil || n == 0 {
			c.invalid(leaf, "%.20q is no port number; write numbers from 1 to 65535 separated by commas", strings.TrimSpace(item))
			continue
		}
		out[uint32(n)] = true
	}
	return out
}

// members reads both port lists; no port may be in both.
func (c *checker) members(tagged, untagged *string) (egress, plain mib.Ports) {
	t, u := c.ports(mibdriver.PathTagged, tagged), c.ports(mibdriver.PathUntagged, untagged)
	for _, n := range u.Sorted() {
		if t[n] {
			c.invalid(mibdriver.PathUntagged, "port %d is in the tagged list too", n)
		}
	}
	return t.Union(u), u
}

// node reads the switch's id and, when nothing else is wrong, finds the switch.
func (c *checker) node(v *inventory.Inventory, id *int64) (*switchdriver.Switch, error) {
	return c.nodeAt("node-id", v, id)
}

// nodeAt is node for a leaf of another name.
func (c *checker) nodeAt(leaf string, v *inventory.Inventory, id *int64) (*switchdriver.Switch, error) {
	m := c.mac(leaf, id)
	if len(c.faults) > 0 {
		slices.SortStableFunc(c.faults, func(a, b *fault.Error) int { return strings.Compare(a.Path, b.Path) })
		return nil, c.faults.Err()
	}
	sw, err := v.Find(m)
	if err != nil {
		return nil, fault.At(fault.NotFound, leaf, "%v", err)
	}
	return sw, nil
}
