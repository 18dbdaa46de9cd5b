package driver

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/switchdriver"
)

// The bounds of what a driver may say of itself.
const (
	maxMatches = 1000
	maxText    = 1000
)

// matcher is a driver's Match, checked.
type matcher struct {
	models   map[string]bool
	prefixes []string // of sysObjectID, without a leading dot
	descr    *regexp.Regexp
}

// newMatcher refuses what cannot be meant: a bad Match would claim other switches.
func newMatcher(m switchdriver.Match) (*matcher, error) {
	if len(m.Models) > maxMatches || len(m.SysObjectIDs) > maxMatches || len(m.SysDescr) > maxText {
		return nil, fmt.Errorf("it names more than %d models or identifiers", maxMatches)
	}
	out := &matcher{models: map[string]bool{}}
	for _, model := range m.Models {
		if model == "" || len(model) > maxText {
			return nil, fmt.Errorf("%.40q is no model", model)
		}
		out.models[model] = true
	}
	for _, p := range m.SysObjectIDs {
		p = strings.TrimPrefix(p, ".")
		if _, ok := mib.Under("", "."+p, nil); !ok {
			return nil, fmt.Errorf("%.60q is not an object identifier", p)
		}
		out.prefixes = append(out.prefixes, p)
	}
	if m.SysDescr != "" {
		var err error
		if out.descr, err = regexp.Compile(m.SysDescr); err != nil {
			return nil, fmt.Errorf("its sysDescr expression: %w", err)
		}
	}
	return out, nil
}

// usesIdentity reports whether the matcher looks at what a switch says of itself.
func (m *matcher) usesIdentity() bool {
	return len(m.prefixes) > 0 || m.descr != nil
}

// Why is how a driver came to a switch, the stronger the greater.
type Why int

// The reasons. A longer sysObjectID prefix beats a shorter one.
const (
	WhyNot      Why = iota
	WhyDescr        // sysDescr
	WhyObjectID     // sysObjectID
	WhyModel        // the model column
)

// rankSwitch says how well a switch fits: the reason, and the length of the prefix in arcs.
func (m *matcher) rankSwitch(sw *switchdriver.Switch) (why Why, arcs int) {
	if m.models[sw.Model] {
		return WhyModel, 0
	}
	for _, p := range m.prefixes {
		id := strings.TrimPrefix(sw.SysObjectId, ".")
		if id == p || strings.HasPrefix(id, p+".") {
			arcs = max(arcs, strings.Count(p, ".")+1)
		}
	}
	switch {
	case arcs > 0:
		return WhyObjectID, arcs
	case m.descr != nil && sw.SysDescr != "" && m.descr.MatchString(sw.SysDescr):
		return WhyDescr, 0
	}
	return WhyNot, 0
}

// bestProvider returns the provider that a switch gets by matching; of equals the first name.
func bestProvider(all []*provider, sw *switchdriver.Switch) (chosen *provider, why Why) {
	arcs := 0
	for _, p := range all {
		if p.match == nil {
			continue
		}
		w, a := p.match.rankSwitch(sw)
		if w > why || w == why && w != WhyNot && a > arcs {
			chosen, why, arcs = p, w, a
		}
	}
	return chosen, why
}

// knownOperations drops operations that this contract does not have.
func knownOperations(operations []string) map[string]bool {
	all := switchdriver.Operations(switchdriver.NewClient(nil))
	out := map[string]bool{}
	for _, o := range operations {
		if slices.Contains(all, o) {
			out[o] = true
		}
	}
	return out
}
