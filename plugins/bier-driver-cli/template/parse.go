package template

import (
	"slices"
	"strings"
)

// Parse finds the sections that are ours in what the router shows: a header at the
// beginning of a line, its lines indented. Sections and lines of no template are the
// router's own and are left out. A section that is shown in several parts is one.
func (m *Model) Parse(show string) []Section {
	var out []Section
	open, at := -1, map[string]int{} // the section, and all of them by their headers
	for _, raw := range strings.Split(strings.ReplaceAll(show, "\r", ""), "\n") {
		l := strings.TrimSpace(raw)
		switch {
		case l == "" || l == "!":
		case !strings.HasPrefix(raw, " "):
			header, ours := m.header(l)
			if open = -1; ours {
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
				templates = [][]*line{m.flow, m.egress}
			}
			if canonical, _, _ := find(l, templates...); canonical != "" {
				s.Lines = append(s.Lines, canonical)
			}
		}
	}
	return slices.DeleteFunc(out, m.strange)
}

// strange is a section that only looks like ours: on routers that count sections, ours
// are those that name their flow, and have its number.
func (m *Model) strange(s Section) bool {
	if m.identity == nil || s.Header == m.bier.text {
		return false
	}
	for _, l := range s.Lines {
		if v := m.identity.read(l); v != nil {
			return m.channel.read(s.Header)["number"] != numberOf(v)
		}
	}
	return true
}

func (m *Model) header(l string) (string, bool) {
	if l == m.bier.text {
		return l, true
	}
	canonical, _, _ := find(l, []*line{m.channel})
	return canonical, canonical != ""
}

// find reads a line by the first template it is of, and writes it again in its
// canonical form.
func find(text string, templates ...[]*line) (canonical string, v values, of *line) {
	for _, group := range templates {
		for _, t := range group {
			if v := t.read(text); v != nil {
				s, ok, err := t.write(v)
				if ok && err == nil {
					return s, v, t
				}
			}
		}
	}
	return "", nil, nil
}
