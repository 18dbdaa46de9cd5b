package model

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ctl.internal/internal/bier"
)

// Finding is something that bier:check found at one place.
type Finding struct {
	Topology string
	Severity string // error or warning
	Kind     string // of Place: "router", or "" where Place says it
	Place    string // a node-id, or "channel tv"
	Text     string
	Channel  string // the channel that suffers, "" if none
}

// Cause is all findings of one cause.
type Cause struct {
	Topology, Severity, Where, Text string
}

// Causes puts findings that differ only in their place, in times and in addresses together, in the
// order of the first of each.
func Causes(found []Finding) (out []Cause) {
	type group struct {
		first            Finding
		places, channels map[string]bool
	}
	var order []*group
	groups := map[string]*group{}
	for _, f := range found {
		key := strings.Join(
			[]string{f.Topology, f.Severity, f.Kind, generalizeText(f.Text, f.Place)},
			"\x00",
		)
		g := groups[key]
		if g == nil {
			g = &group{f, map[string]bool{}, map[string]bool{}}
			groups[key] = g
			order = append(order, g)
		}
		g.places[f.Place] = true
		if f.Channel != "" {
			g.channels[f.Channel] = true
		}
	}
	for _, g := range order {
		c := Cause{g.first.Topology, g.first.Severity, formatPlaces(g.first.Kind, sortedByLength(g.places)), g.first.Text}
		if n := len(g.channels); n > 0 {
			c.Text += fmt.Sprintf(
				" (%s: %s)",
				bier.Count(n, "channel"),
				bier.Several(sortedByLength(g.channels)),
			)
		}
		out = append(out, c)
	}
	return out
}

func formatPlaces(kind string, list []string) string {
	switch {
	case kind == "":
		return bier.Several(list)
	case len(list) == 1:
		return kind + " " + list[0]
	}
	return bier.Count(len(list), kind) + ": " + bier.Several(list)
}

func sortedByLength(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for x := range set {
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	return out
}

var (
	times     = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z`)
	addresses = regexp.MustCompile(`\[?[0-9a-fA-F]*[.:][0-9a-fA-F.:]*[.:][0-9a-fA-F.:%a-z0-9]*\]?(:[0-9]+)?(->[^ ]+)?`)
	word      = regexp.MustCompile(`[^\s,;:()"']+`)
)

// generalizeText is a text without what differs from place to place.
func generalizeText(text, place string) string {
	text = addresses.ReplaceAllString(times.ReplaceAllString(text, "TIME"), "ADDRESS")
	return word.ReplaceAllStringFunc(text, func(w string) string {
		if w == place {
			return "PLACE"
		}
		return w
	})
}
