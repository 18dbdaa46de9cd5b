package feature

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ctl.internal/internal/nearest"
	"ctl.internal/sdk/fault"
)

// Plan is what a set of requirements comes to: one version of each feature in
// the closure, dependencies first.
type Plan struct {
	Features []*Feature
}

// Get returns the version of a feature in the plan, nil when it is not in it.
func (p Plan) Get(name string) *Feature {
	for _, f := range p.Features {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// NeededBy returns which features of the plan depend on one directly.
func (p Plan) NeededBy(name string) []string {
	var out []string
	for _, f := range p.Features {
		if slices.ContainsFunc(f.Depends, func(d Dependency) bool { return d.Name == name }) {
			out = append(out, f.Name)
		}
	}
	return out
}

// Closure resolves requirements: of each feature the highest version that all
// who name it accept. It does no I/O and gives the same plan for the same input.
// Its errors are faults: NotFound, Invalid, InUse for conflicts, Unsupported for
// features that are not available yet.
func Closure(required []Requirement, repo Repo) (Plan, error) {
	s := &search{repo: repo, chosen: map[string]*Feature{}}
	var wants []want
	for _, q := range required {
		wants = append(wants, want{Requirement: q})
	}
	if !s.solve(wants) {
		return Plan{}, s.err
	}
	return s.order(required)
}

// want is a requirement with who has it; nobody = the operator.
type want struct {
	Requirement
	by *Feature
}

func (w want) who() string {
	if w.by == nil {
		return "you"
	}
	return w.by.Name
}

// search tries versions from the highest down and takes a choice back when what
// follows from it cannot be met.
type search struct {
	repo   Repo
	chosen map[string]*Feature
	wants  []want // that led to the choices
	steps  int
	err    error // of the first dead end: the one with all the highest versions
}

// maxSteps bounds a search through a catalogue made to be hard.
const maxSteps = 20000

func (s *search) fail(err error) bool {
	if s.err == nil {
		s.err = err
	}
	return false
}

// solve meets the wants one after the other.
func (s *search) solve(wants []want) bool {
	if s.steps++; s.steps > maxSteps {
		s.err = errors.Join(s.err, fault.New(fault.Invalid, "no fitting versions found in %d steps", maxSteps))
		return false
	}
	if len(wants) == 0 {
		return true
	}
	w, rest := wants[0], wants[1:]
	if f, ok := s.chosen[w.Name]; ok {
		if !w.Version.Contains(f.Version) {
			return s.fail(s.versionClash(w, f))
		}
		s.wants = append(s.wants, w)
		if s.solve(rest) {
			return true
		}
		s.wants = s.wants[:len(s.wants)-1]
		return false
	}
	candidates := s.repo.Versions(w.Name)
	if len(candidates) == 0 {
		return s.fail(s.missing(w))
	}
	met := false
	for _, f := range candidates {
		if !w.Version.Contains(f.Version) {
			continue
		}
		met = true
		if err := s.refuses(f); err != nil {
			s.fail(err)
			continue
		}
		s.chosen[w.Name] = f
		s.wants = append(s.wants, w)
		next := slices.Clone(rest)
		for _, d := range f.Depends {
			next = append(next, want{Requirement(d), f})
		}
		if s.solve(next) {
			return true
		}
		delete(s.chosen, w.Name)
		s.wants = s.wants[:len(s.wants)-1]
		if s.steps > maxSteps {
			return false
		}
	}
	if !met {
		return s.fail(fault.New(fault.NotFound, "feature %s: no version in %s, which %s; there is %s",
			w.Name, w.Version, verb(w, "asks for"), s.repo.versionsText(w.Name)))
	}
	return false
}

func verb(w want, do string) string {
	if w.by == nil {
		return "you " + strings.Replace(do, "asks", "ask", 1)
	}
	return w.by.Name + " " + do
}

func (s *search) missing(w want) error {
	text := fmt.Sprintf("there is no feature %q%s", w.Name, nearest.Hint(w.Name, s.repo.Names()))
	if w.by != nil {
		text += ", on which " + w.by.Name + " depends"
	}
	return fault.New(fault.NotFound, "%s", text)
}

func (s *search) versionClash(w want, f *Feature) error {
	other := "something"
	for _, o := range s.wants {
		if o.Name == w.Name {
			other = fmt.Sprintf("%s (%s)", o.who(), orAny(o.Version))
			break
		}
	}
	return fault.New(fault.InUse, "feature %s: %s and %s (%s) cannot have the same version; there is %s",
		w.Name, other, w.who(), orAny(w.Version), s.repo.versionsText(w.Name))
}

func orAny(r Range) string {
	if r.text == "" {
		return "any"
	}
	return r.text
}

// refuses says why a feature cannot be taken with those chosen so far.
func (s *search) refuses(f *Feature) error {
	if !f.Ready() {
		return fault.New(fault.Unsupported, "feature %s is not yet available: %s", f.Name, f.Until)
	}
	for _, o := range s.chosen {
		if conflict(f, o) || conflict(o, f) {
			return fault.New(fault.InUse, "features %s and %s exclude each other; uninstall one of them first", min(f.Name, o.Name), max(f.Name, o.Name))
		}
	}
	return nil
}

func conflict(a, b *Feature) bool {
	return slices.ContainsFunc(a.Conflicts, func(d Dependency) bool { return d.Name == b.Name && d.Version.Contains(b.Version) })
}

// order puts dependencies before those who depend on them.
func (s *search) order(required []Requirement) (Plan, error) {
	var plan Plan
	const visiting, done = 1, 2
	state := map[string]int{}
	var visit func(name string, path []string) error
	visit = func(name string, path []string) error {
		path = append(path, name)
		switch state[name] {
		case done:
			return nil
		case visiting:
			return fault.New(fault.Invalid, "the features depend on each other in a circle: %s", strings.Join(path[slices.Index(path, name):], " → "))
		}
		state[name] = visiting
		for _, d := range s.chosen[name].Depends {
			if err := visit(d.Name, path); err != nil {
				return err
			}
		}
		state[name] = done
		plan.Features = append(plan.Features, s.chosen[name])
		return nil
	}
	for _, q := range required {
		if err := visit(q.Name, nil); err != nil {
			return Plan{}, err
		}
	}
	return plan, nil
}
