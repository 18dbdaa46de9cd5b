package unixctl

import (
	"strconv"
	"strings"
)

// Entry is a row of fdb/show.
type Entry struct {
	Port   uint32 // OpenFlow port number
	VLAN   uint32 // 0: frames without a tag on a port without a VLAN
	MAC    uint64
	Static bool
}

// ParseFDB reads the output of fdb/show. Rows of the bridge's own port, and what is
// no row, are left out.
func ParseFDB(text string) (out []Entry) {
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		port, err1 := strconv.ParseUint(f[0], 10, 16)
		vlan, err2 := strconv.ParseUint(f[1], 10, 12)
		mac, err3 := strconv.ParseUint(strings.ReplaceAll(f[2], ":", ""), 16, 48)
		if err1 != nil || err2 != nil || err3 != nil || len(f[2]) != 17 || port == 0 {
			continue
		}
		out = append(out, Entry{Port: uint32(port), VLAN: uint32(vlan), MAC: mac, Static: strings.HasPrefix(f[3], "static")})
	}
	return out
}
