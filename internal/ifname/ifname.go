// Package ifname compares names of interfaces, which vendors write in a short and a long form.
package ifname

import (
	"regexp"
	"strings"
)

// interfaceParts are the letters of an interface's name and what follows them: "Gi", "1/0/4".
var interfaceParts = regexp.MustCompile(`^([A-Za-z][A-Za-z \-]*?)[ \-]*([0-9].*)$`)

// shortForms are the short names of kinds of interfaces that are no beginnings of the long ones.
var shortForms = map[string]string{
	"ge":               "gigabitethernet",
	"gige":             "gigabitethernet",
	"gei":              "gigabitethernet",
	"xge":              "tengigabitethernet",
	"xgigabitethernet": "tengigabitethernet",
	"tengige":          "tengigabitethernet",
	"xe":               "tengigabitethernet",
	"tge":              "tengigabitethernet",
	"twentyfivegige":   "twentyfivegigabitethernet",
	"fge":              "fortygigabitethernet",
	"fortygige":        "fortygigabitethernet",
	"hundredgige":      "hundredgigabitethernet",
	"fe":               "fastethernet",
	"bagg":             "bridgeaggregation",
	"mge":              "multigigabitethernet",
}

// Same reports whether two names may be of one interface: "Gi1/0/4" and "GigabitEthernet1/0/4".
func Same(a, b string) bool {
	x := interfaceParts.FindStringSubmatch(strings.TrimSpace(a))
	y := interfaceParts.FindStringSubmatch(strings.TrimSpace(b))
	if x == nil || y == nil || !strings.EqualFold(x[2], y[2]) {
		return false
	}
	p, q := kindOf(x[1]), kindOf(y[1])
	return strings.HasPrefix(p, q) || strings.HasPrefix(q, p)
}

func kindOf(letters string) string {
	kind := strings.NewReplacer(" ", "", "-", "").Replace(strings.ToLower(letters))
	if long := shortForms[kind]; long != "" {
		return long
	}
	return kind
}
