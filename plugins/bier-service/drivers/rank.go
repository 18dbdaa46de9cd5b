package drivers

import (
	"cmp"
	"slices"
	"strings"

	"ctl.internal/sdk/bierdriver"
)

// rank orders drivers by how well they fit what a router announces: first those
// that name the longest beginning of one of its capabilities, then by priority,
// then by name. Drivers that only the operator chooses are left out.
func rank(all []bierdriver.Description, capabilities []string) []bierdriver.Description {
	out := slices.DeleteFunc(slices.Clone(all), func(d bierdriver.Description) bool { return !d.Probes })
	slices.SortFunc(out, func(a, b bierdriver.Description) int {
		return cmp.Or(cmp.Compare(fit(b, capabilities), fit(a, capabilities)), cmp.Compare(b.Priority, a.Priority), strings.Compare(a.Name, b.Name))
	})
	return out
}

func fit(d bierdriver.Description, capabilities []string) int {
	best := 0
	for _, want := range d.Capabilities {
		if len(want) > best && slices.ContainsFunc(capabilities, func(c string) bool { return strings.HasPrefix(c, want) }) {
			best = len(want)
		}
	}
	return best
}
