package rules

import (
	"errors"
	"slices"
	"strings"

	"ctl.internal/host/internal/aaa/pattern"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/secini"
)

// Rule is one line of [urls].
type Rule struct {
	Pattern pattern.Pattern
	Line    int
	Text    string // the filters, as they are written
	filters []filter
}

// Set is the compiled [urls] section.
type Set struct{ rules []Rule }

// Compile compiles the rules of a file; every fault is reported with its line.
func Compile(f *secini.File) (*Set, error) {
	c, errs := newCompiler(f)
	s := &Set{}
	for _, u := range f.URLs {
		p, err := pattern.Compile(u.Pattern)
		if err != nil {
			errs = append(errs, f.Errorf(u.Line, "%v", err))
			continue
		}
		r := Rule{Pattern: p, Line: u.Line, Text: u.Text()}
		for _, fl := range u.Filters {
			one, err := c.compileFilter(fl, u.Line)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			r.filters = append(r.filters, one)
		}
		s.rules = append(s.rules, r)
	}
	return s, errors.Join(errs...)
}

// Rules are the rules in order; the caller must not change them.
func (s *Set) Rules() []Rule { return s.rules }

// NeedsLogin names the first filter that needs the user although no filter before it authenticates one, empty if
// there is no such filter.
func (rule *Rule) NeedsLogin() string {
	for i, f := range rule.filters {
		switch f.login {
		case asks:
			return ""
		case needs:
			return strings.Split(rule.Text+", ", ", ")[min(i, strings.Count(rule.Text, ", "))]
		}
	}
	return ""
}

// Match returns the first rule whose pattern matches, nil when none does. It
// does not allocate.
func (s *Set) Match(path []reqpath.Segment) *Rule {
	if i := s.indexOfMatch(path); i < len(s.rules) {
		return &s.rules[i]
	}
	return nil
}

func (s *Set) indexOfMatch(path []reqpath.Segment) int {
	i := 0
	for i < len(s.rules) && !s.rules[i].Pattern.Match(path) {
		i++
	}
	return i
}

// Line is the line of the rule that decides for a path, 0 when none does.
func (s *Set) Line(path []reqpath.Segment) int {
	if r := s.Match(path); r != nil {
		return r.Line
	}
	return 0
}

// Dynamic reports whether the rule for a path asks the policies.
func (s *Set) Dynamic(path []reqpath.Segment) bool {
	r := s.Match(path)
	return r != nil &&
		slices.ContainsFunc(r.filters, func(f filter) bool {
			return f.name == "dynamicAuthorization"
		})
}

// Decide runs the filters of the rule that matches. A path that no rule names
// needs a login: forgetting a line must not open anything.
//
// In a data tree a resource holds all that is below it, so the rules for what is
// below must pass as well: else the parent would be a way around them.
//
// others are the other addresses of the same thing; the rules for each of them must pass, too. A rule that decides for
// several addresses is run once, for all of them together.
func (s *Set) Decide(env Env, r *Request, others ...reqpath.Path) Verdict {
	asked := r.Path
	defer func() { r.Path, r.Addresses = asked, nil }()
	for _, d := range s.deciding(r, others) {
		r.Path, r.Addresses = d.addresses[0], d.addresses
		verdict := Pass
		if d.rule == len(s.rules) {
			verdict, _ = env.Authenticate(r, Basic|Bearer)
		} else {
			verdict = s.rules[d.rule].runFilters(env, r)
		}
		if verdict != Pass {
			return verdict
		}
	}
	return Pass
}

// decision is a rule, or as the number after the last one that no rule matches, with the addresses that it decides for.
type decision struct {
	rule      int
	addresses []reqpath.Path
}

// deciding are the rules that decide for a request and the other addresses of what it asks for, each once, in the order in
// which the addresses come to them.
func (s *Set) deciding(r *Request, others []reqpath.Path) []decision {
	all := make([]decision, 0, 4)
	note := func(rule int, address reqpath.Path) {
		for i := range all {
			if all[i].rule == rule {
				all[i].addresses = append(all[i].addresses, address)
				return
			}
		}
		all = append(all, decision{rule, append(make([]reqpath.Path, 0, 1+len(others)), address)})
	}
	s.match(r.Path, r.Alone, note)
	for _, p := range others {
		s.match(p, r.Alone, note)
	}
	return all
}

// match notes the rules that decide for an address: that which matches, and those for what is below it.
func (s *Set) match(address reqpath.Path, alone bool, note func(rule int, address reqpath.Path)) {
	path := address.Segments()
	at := s.indexOfMatch(path)
	note(at, address)
	if alone || address.DataDepth() == 0 {
		return
	}
	for i := range s.rules {
		switch {
		case i == at && s.rules[i].Pattern.Tree():
			return // it decides for all below that earlier rules do not
		case i != at && s.rules[i].Pattern.Below(path):
			note(i, address)
		}
	}
}

func (rule *Rule) runFilters(env Env, r *Request) Verdict {
	for _, f := range rule.filters {
		if f.login == needs && !r.Known {
			return Unauthenticated
		}
		if v := f.check(env, r); v != Pass {
			return v
		}
	}
	return Pass
}
