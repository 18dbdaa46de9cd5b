package dialect

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"ctl.internal/sdk/bierdriver"
)

// Reduce leaves out of two configurations what is the same in both, so that comparing
// them as trees costs what they differ in. Lists are in the order of the contract;
// where they are not, all is left in.
func Reduce(have, want *bierdriver.Config) (h, w *bierdriver.Config) {
	h, w = &bierdriver.Config{}, &bierdriver.Config{}
	if !proto.Equal(have.GetGlobal(), want.GetGlobal()) {
		h.Global, w.Global = have.GetGlobal(), want.GetGlobal()
	}
	a, b := have.GetChannels(), want.GetChannels()
	if !slices.IsSortedFunc(a, bierdriver.CompareChannels) || !slices.IsSortedFunc(b, bierdriver.CompareChannels) {
		h.Channels, w.Channels = a, b
		return h, w
	}
	for len(a) > 0 || len(b) > 0 {
		switch order := first(a, b); {
		case order < 0:
			h.Channels, a = append(h.Channels, a[0]), a[1:]
		case order > 0:
			w.Channels, b = append(w.Channels, b[0]), b[1:]
		default:
			if !sameEntry(a[0], b[0]) {
				h.Channels, w.Channels = append(h.Channels, a[0]), append(w.Channels, b[0])
			}
			a, b = a[1:], b[1:]
		}
	}
	return h, w
}

// first says which of two lists has the lower first entry.
func first(a, b []*bierdriver.Channel) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return bierdriver.CompareChannels(a[0], b[0])
}

// sameEntry compares what of a channel is written to routers.
func sameEntry(a, b *bierdriver.Channel) bool {
	return a == b || a.SubDomain == b.SubDomain && a.IngressBfrId == b.IngressBfrId && slices.Equal(a.EgressBfrIds, b.EgressBfrIds)
}
