package command

import (
	"strconv"
	"strings"
)

// unitPorts is how many numbers each unit of a stack has: port 1 of unit 2 is port 65,
// as in the PortLists and the ifIndexes of these switches.
const unitPorts = 64

// maxPorts bounds the ports of a rule: a range may be a lie.
const maxPorts = 4096

// list is the ports of a rule's line, "1,3-5" or on stacks "1:1-1:3,2:7"; nil when it is
// no such list.
func (p *Parser) list(line string) (out []uint32) {
	m := p.ports.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	for part := range strings.SplitSeq(m[1], ",") {
		low, high, ranged := strings.Cut(part, "-")
		unit, from, ok := port(low, 0)
		last, to, ok2 := unit, from, ok
		if ranged {
			last, to, ok2 = port(high, unit)
		}
		if !ok || !ok2 || last != unit || to < from || len(out)+to-from >= maxPorts {
			return nil // a range over units: which ports these have is not told
		}
		base := max(0, unit-1) * unitPorts
		for n := from; n <= to; n++ {
			out = append(out, uint32(base+n))
		}
	}
	return out
}

// port reads "7", of the unit that is given, or "2:7".
func port(s string, of int) (unit, n int, ok bool) {
	unit = of
	if u, rest, has := strings.Cut(s, ":"); has {
		v, err := strconv.ParseUint(u, 10, 8)
		if err != nil || v == 0 {
			return 0, 0, false
		}
		unit, s = int(v), rest
	}
	v, err := strconv.ParseUint(s, 10, 16)
	return unit, int(v), err == nil && v > 0 && (unit == 0 || v <= unitPorts)
}
