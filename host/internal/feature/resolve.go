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
	return firstFitting(p.Features, func(f *Feature) bool { return f.Name == name })
}

// firstFitting is the first feature that fits, nil when none does.
func firstFitting(all []*Feature, fits func(*Feature) bool) *Feature {
	if i := slices.IndexFunc(all, fits); i >= 0 {
		return all[i]
	}
	return nil
}

// NeededBy returns which features of the plan depend on one directly.
func (p Plan) NeededBy(name string) []string {
	var out []string
	for _, f := range p.Features {
		if slices.ContainsFunc(f.Depends, func(d Dependency) bool {
			return d.Name == name
		}) {
			out = append(out, f.Name)
		}
	}
	return out
}

// Closure resolves requirements, depth first: of each feature the highest version that all who name it accept.
// It takes no choice back: when what a feature depends on cannot be met, a lower version of that feature is not
// tried, and the error names who excludes whom. It does no I/O and gives the same plan for the same input.
// Its errors are faults: NotFound, Invalid, InUse for conflicts, Unsupported for features that are not available
// yet.
func Closure(required []Requirement, repo Repo) (Plan, error) {
	r := &resolver{repo: repo, wants: map[string][]want{}}
	for _, q := range required {
		r.addWant(want{Requirement: q})
	}
	for {
		r.plan, r.chosen = Plan{}, map[string]*Feature{}
		err := r.visitAll(required)
		if !errors.Is(err, errAgain) {
			return r.plan, err
		}
	}
}

// errAgain says that a want was found that excludes a version already chosen; the next pass knows it.
var errAgain = errors.New("again")

// want is a requirement with who has it; nil = the operator.
type want struct {
	Requirement
	by *Feature
}

func (w want) wantedBy() string {
	if w.by == nil {
		return "you"
	}
	return w.by.Name
}

type resolver struct {
	repo   Repo
	wants  map[string][]want // found so far, by the name of the feature that is wanted
	chosen map[string]*Feature
	plan   Plan
}

func (r *resolver) addWant(w want) {
	if !slices.Contains(r.wants[w.Name], w) {
		r.wants[w.Name] = append(r.wants[w.Name], w)
	}
}

func (r *resolver) visitAll(required []Requirement) error {
	for _, q := range required {
		if err := r.visitFeature(want{Requirement: q}, nil); err != nil {
			r.plan = Plan{}
			return err
		}
	}
	return nil
}

// visitFeature puts a feature into the plan, after what it depends on.
func (r *resolver) visitFeature(w want, path []string) error {
	if at := slices.Index(path, w.Name); at >= 0 {
		return fault.New(
			fault.Invalid,
			"the features depend on each other in a loop: %s",
			strings.Join(append(path[at:], w.Name), " → "),
		)
	}
	r.addWant(w)
	if f := r.chosen[w.Name]; f != nil {
		if !w.Version.Contains(f.Version) {
			return errAgain
		}
		return nil
	}
	f, err := r.chooseVersion(w)
	if err != nil {
		return err
	}
	r.chosen[w.Name] = f
	for _, d := range f.Depends {
		if err := r.visitFeature(want{d.toRequirement(), f}, append(path, w.Name)); err != nil {
			return err
		}
	}
	r.plan.Features = append(r.plan.Features, f)
	return nil
}

// chooseVersion returns the highest version that all accept and nothing excludes.
func (r *resolver) chooseVersion(w want) (*Feature, error) {
	versions := r.repo.Versions(w.Name)
	if len(versions) == 0 {
		return nil, r.missingFeatureError(w)
	}
	if r.repo.Find(w.Requirement) == nil {
		verb := "asks"
		if w.by == nil {
			verb = "ask"
		}
		return nil, fault.New(
			fault.NotFound,
			"feature %s: no version in %s, which %s %s for; there is %s",
			w.Name,
			w.Version,
			w.wantedBy(),
			verb,
			r.repo.versionsText(w.Name),
		)
	}
	var refused error
	for _, f := range versions {
		if !isAccepted(f, r.wants[w.Name]...) {
			continue
		}
		err := r.checkRefused(f)
		if err == nil {
			return f, nil
		}
		if refused == nil {
			refused = err
		}
	}
	if refused == nil {
		refused = r.clashError(w.Name)
	}
	return nil, refused
}

func isAccepted(f *Feature, wants ...want) bool {
	return !slices.ContainsFunc(wants, func(w want) bool {
		return !w.Version.Contains(f.Version)
	})
}

func (r *resolver) missingFeatureError(w want) error {
	text := fmt.Sprintf("there is no feature %q%s", w.Name, nearest.Hint(w.Name, r.repo.Names()))
	if w.by != nil {
		text += ", on which " + w.by.Name + " depends"
	}
	return fault.New(fault.NotFound, "%s", text)
}

// clashError names two whose ranges have no version in common, else the first and the last.
func (r *resolver) clashError(name string) error {
	wants := r.wants[name]
	a, b := wants[0], wants[len(wants)-1]
	for i, x := range wants {
		for _, y := range wants[i+1:] {
			if !slices.ContainsFunc(r.repo.Versions(name), func(f *Feature) bool {
				return isAccepted(f, x, y)
			}) {
				a, b = x, y
			}
		}
	}
	return fault.New(fault.InUse, "feature %s: %s (%s) and %s (%s) cannot have the same version; there is %s",
		name, a.wantedBy(), orAny(a.Version), b.wantedBy(), orAny(b.Version), r.repo.versionsText(name))
}

func orAny(r Range) string {
	if r.text == "" {
		return "any"
	}
	return r.text
}

// checkRefused says why a feature cannot be taken with those chosen so far.
func (r *resolver) checkRefused(f *Feature) error {
	if !f.Ready() {
		return fault.New(fault.Unsupported, "feature %s is not yet available: %s", f.Name, f.Until)
	}
	for _, o := range r.chosen {
		if hasConflict(f, o) || hasConflict(o, f) {
			return fault.New(
				fault.InUse,
				"features %s and %s exclude each other; uninstall one of them first",
				min(f.Name, o.Name),
				max(f.Name, o.Name),
			)
		}
	}
	return nil
}

func hasConflict(a, b *Feature) bool {
	return slices.ContainsFunc(a.Conflicts, func(d Dependency) bool {
		return d.Name == b.Name && d.Version.Contains(b.Version)
	})
}
