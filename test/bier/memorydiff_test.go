package bier

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"ctl.internal/sdk/bierdriver"
)

// configDiff lists what is different in two configurations, in words: bier-global without its
// sub-domains, each sub-domain, each channel.
func configDiff(from, to *bierdriver.Config) (out []string) {
	have, want := configPieces(from), configPieces(to)
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if want[name] == nil {
			out = append(out, "delete "+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if have[name] == nil || !proto.Equal(have[name], want[name]) {
			out = append(out, "set "+name)
		}
	}
	return out
}

func configPieces(c *bierdriver.Config) map[string]proto.Message {
	out := map[string]proto.Message{}
	if g := c.GetGlobal(); g != nil {
		leaves := proto.CloneOf(g)
		leaves.SubDomains = nil
		out["bier-global"] = leaves
		for _, s := range g.SubDomains {
			out[fmt.Sprintf("sub-domain %d", s.SubDomainId)] = s
		}
	}
	for _, x := range c.GetChannels() {
		entry := proto.CloneOf(x)
		entry.Role = 0 // is not written to routers
		out[fmt.Sprintf("channel %d %s/%d %s/%d", x.VpnId, x.SourceAddress, x.SourceWildcard, x.GroupAddress, x.GroupWildcard)] = entry
	}
	return out
}
