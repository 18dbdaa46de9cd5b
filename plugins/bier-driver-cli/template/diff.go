package template

import "slices"

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
