package template

import (
	"slices"
	"strings"
)

// Parse finds the sections that are ours in what the router shows: a header at the
// beginning of a line, its lines indented. Sections and lines of no template are the
// router's own and are left out. A section that is shown in several parts is one.
func (m *Model) Parse(show string) []Section {
	return slices.DeleteFunc(m.parseSections(show), m.isForeignSection)
}

// parseSections is Parse with the sections that only look like ours.
func (m *Model) parseSections(show string) []Section {
	var out []Section
	open := -1
	at := map[string]int{} // the section, and all of them by their headers
	for _, raw := range strings.Split(strings.ReplaceAll(show, "\r", ""), "\n") {
		l := strings.TrimSpace(raw)
		switch {
		case l == "" || l == "!":
		case !strings.HasPrefix(raw, " "):
			header := m.canonicalHeader(l)
			if open = -1; header != "" {
				before, there := at[header]
				if open = before; !there {
					open, at[header] = len(out), len(out)
					out = append(out, Section{Header: header})
				}
			}
		case open >= 0:
			s := &out[open]
			templates := [][]*line{m.global, m.sub, m.encap}
			if s.Header != m.bier.text {
				templates = [][]*line{m.flow, m.egress, m.ports}
			}
			if canonical, _ := matchTemplates(l, templates...); canonical != "" {
				s.Lines = append(s.Lines, canonical)
			}
		}
	}
	return out
}

// isForeignSection is a section that only looks like ours: on routers that count sections, ours
// are those that name their flow, and have a number that it may have been given.
func (m *Model) isForeignSection(s Section) bool {
	if m.identity == nil || s.Header == m.bier.text {
		return false
	}
	of := m.flowIn(s)
	return of == nil || !canBeFlowNumber(m.channel.readValues(s.Header)["number"], of)
}

// canonicalHeader is a header of ours in its canonical form, "" for any other.
func (m *Model) canonicalHeader(l string) string {
	if l == m.bier.text {
		return l
	}
	canonical, _ := matchTemplates(l, []*line{m.channel})
	return canonical
}

// matchTemplates reads a line by the first template it is of, and writes it again in its
// canonical form.
func matchTemplates(text string, templates ...[]*line) (canonical string, v values) {
	for _, group := range templates {
		for _, t := range group {
			if v := t.readValues(text); v != nil {
				s, ok, err := t.fillValues(v)
				if ok && err == nil {
					return s, v
				}
			}
		}
	}
	return "", nil
}

// Diff is what must be typed, in configuration mode, to come from one state to the
// other; edits has a line for people for each difference.
func (m *Model) Diff(have, want []Section) (typed, edits []string) {
	old := map[string][]string{}
	for _, s := range have {
		old[s.Header] = s.Lines
	}
	keep := map[string]bool{}
	for _, s := range want {
		keep[s.Header] = true
	}
	for _, s := range have {
		if !keep[s.Header] && m.keep && s.Header == m.bier.text {
			want = append([]Section{{Header: s.Header}}, want...) // only our lines go
		} else if !keep[s.Header] {
			typed = append(typed, m.negate+s.Header)
			edits = append(edits, m.negate+s.Header)
		}
	}
	for _, s := range want {
		before, there := old[s.Header]
		var lines []string
		for _, l := range slices.Backward(before) { // what another line needs is taken back first
			if !slices.Contains(s.Lines, l) {
				lines = append(lines, m.negate+l)
			}
		}
		has := make(map[string]bool, len(before))
		for _, l := range before {
			has[l] = true
		}
		for _, l := range s.Lines {
			if !has[l] {
				lines = append(lines, l)
			}
		}
		if len(lines) == 0 && (there || m.keep && s.Header == m.bier.text) {
			continue
		}
		typed = append(append(typed, s.Header), lines...)
		if s.Header != m.bier.text {
			typed = append(typed, m.again...)
		}
		typed = append(typed, m.leave)
		for _, l := range lines {
			edits = append(edits, s.Header+": "+l)
		}
		if len(lines) == 0 {
			edits = append(edits, s.Header)
		}
	}
	return typed, edits
}
