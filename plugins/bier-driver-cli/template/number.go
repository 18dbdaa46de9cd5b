package template

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"strconv"

	"ctl.internal/sdk/bierdriver"
)

// maxNumber is the highest number of a section: routers count interfaces in 31 bits.
const maxNumber = 1 << 30

// numberOf is that of the section of a flow, on routers that distinguish sections by
// numbers. It depends on nothing but the flow, so that the section is found again.
func numberOf(flow values) string {
	h := fnv.New32a()
	for _, name := range []string{"vpn-id", "source-address", "source-wildcard", "group-address", "group-wildcard"} {
		fmt.Fprintf(h, "%s ", flow[name])
	}
	return strconv.FormatUint(uint64(1+h.Sum32()%maxNumber), 10)
}

// flowOf is a channel in the words of the templates.
func flowOf(c *bierdriver.Channel) values {
	v := values{"vpn-id": text(c.VpnId), "source-address": c.SourceAddress, "source-wildcard": text(c.SourceWildcard),
		"group-address": c.GroupAddress, "group-wildcard": text(c.GroupWildcard)}
	if a, err := netip.ParseAddr(c.GroupAddress); err == nil {
		family := map[bool]string{true: "ipv4", false: "ipv6"}[a.Is4()]
		v["source-"+family], v["group-"+family] = c.SourceAddress, c.GroupAddress
	}
	v["number"] = numberOf(v)
	return v
}
