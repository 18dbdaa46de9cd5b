package feature

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"ctl.internal/internal/nearest"
	"ctl.internal/sdk/fault"
)

// InstallOptions are those of feature:install.
type InstallOptions struct {
	Simulate bool // -t: say what would change, change nothing
	NoStart  bool // -s: do not start what is new
	// Agree is what the operator grants; without it a plugin that requests grants is not installed, and the
	// error is a *grant.NeededError.
	Agree Agreement
}

// Install requires features (NAME or NAME/VERSION) and makes them run with all
// that they depend on. What is installed already stays as it is. On an error
// nothing has changed.
func (m *Manager) Install(ctx context.Context, names []string, o InstallOptions) (Change, error) {
	return m.changeNamed(ctx, names, func(asked []Requirement, next state) (Change, error) {
		for _, q := range asked {
			next.addRequirement(q)
			if !o.NoStart {
				m.unstopAll(&next, q.Name)
			}
		}
		if o.NoStart {
			plan, err := Closure(asked, m.repo)
			if err != nil {
				return Change{}, err
			}
			for _, f := range plan.Features {
				if m.plan.Get(f.Name) == nil {
					next.addStopped(f.Name)
				}
			}
		}
		return m.changeState(ctx, next, wish{
			simulate: o.Simulate,
			agree:    o.Agree,
			must:     asked,
		})
	})
}

// changeNamed makes a change of the present state for what an operator typed.
func (m *Manager) changeNamed(
	ctx context.Context,
	names []string,
	change func(asked []Requirement, next state) (Change, error),
) (Change, error) {
	asked, err := parseAll(names)
	if err != nil {
		return Change{}, err
	}
	return m.runChange(ctx, func() (Change, error) {
		return change(asked, m.state.clone())
	})
}

// unstopAll lets a feature and what it depends on run again.
func (m *Manager) unstopAll(s *state, name string) {
	s.removeStopped(name)
	if f := m.plan.Get(name); f != nil {
		for _, d := range f.Depends {
			m.unstopAll(s, d.Name)
		}
	}
}

// UninstallOptions are those of feature:uninstall.
type UninstallOptions struct {
	Simulate     bool // -t
	DeleteConfig bool // -c: delete the settings files of what goes
}

// Uninstall takes requirements away. Features that only others need go with
// them; one that others still need cannot be uninstalled by itself.
func (m *Manager) Uninstall(
	ctx context.Context,
	names []string,
	o UninstallOptions,
) (Change, error) {
	if m.o.Room != nil && !o.Simulate {
		m.o.Room()
	}
	return m.changeNamed(ctx, names, func(asked []Requirement, next state) (Change, error) {
		for _, q := range asked {
			if err := m.checkUninstallable(q); err != nil {
				return Change{}, err
			}
			next.releaseRequirement(q.Name)
		}
		c, err := m.changeState(ctx, next, wish{simulate: o.Simulate})
		if err == nil {
			c.Stay = m.describeStaying(asked, next, c)
		}
		if err != nil || o.Simulate || !o.DeleteConfig {
			return c, err
		}
		return c, m.deleteConfig(c.Uninstall)
	})
}

// describeStaying reports which of the features that were released stay, and for whom.
func (m *Manager) describeStaying(asked []Requirement, next state, c Change) []string {
	var out []string
	for _, q := range asked {
		goes := slices.ContainsFunc(c.Uninstall, func(f *Feature) bool {
			return f.Name == q.Name
		})
		if goes || m.plan.Get(q.Name) == nil {
			continue
		}
		out = append(
			out,
			fmt.Sprintf(
				"%s stays: %s. It goes with the last that needs it",
				q.Name,
				m.explainNeededBy(q.Name, next.hasRequirement),
			),
		)
	}
	return out
}

func (m *Manager) checkUninstallable(q Requirement) error {
	f := m.plan.Get(q.Name)
	switch {
	case f == nil && m.state.hasRequirement(q.Name): // broken
		return nil
	case f == nil:
		return fault.New(
			fault.NotFound,
			"feature %s is not installed%s",
			q.Name,
			nearest.Hint(q.Name, m.installedNames()),
		)
	case !q.Version.Contains(f.Version):
		return fault.New(
			fault.NotFound,
			"feature %s is not installed; version %s of it is",
			q,
			f.Version,
		)
	case !m.state.hasRequirement(q.Name):
		return fault.New(
			fault.InUse,
			"feature %s is a dependency: %s. Uninstall that instead",
			q.Name,
			m.explainNeededBy(q.Name, m.state.hasRequirement),
		)
	}
	return nil
}

// explainNeededBy says who needs a feature, up to those that were asked for.
func (m *Manager) explainNeededBy(name string, asked func(string) bool) string {
	var roots []string
	seen := map[string]bool{}
	var up func(string)
	up = func(n string) {
		for _, by := range m.plan.NeededBy(n) {
			if seen[by] {
				continue
			}
			seen[by] = true
			if asked(by) {
				roots = append(roots, by)
			}
			up(by)
		}
	}
	up(name)
	slices.Sort(roots)
	if len(roots) == 1 {
		return roots[0] + " needs it"
	}
	return strings.Join(roots, ", ") + " need it"
}

func (m *Manager) installedNames() []string {
	var names []string
	for _, f := range m.plan.Features {
		names = append(names, f.Name)
	}
	return names
}

// deleteConfig deletes settings files that no remaining feature names.
func (m *Manager) deleteConfig(gone []*Feature) error {
	var kept []string
	for _, f := range m.plan.Features {
		kept = append(kept, f.Config...)
	}
	var errs []error
	for _, f := range gone {
		for _, path := range f.Config {
			if slices.Contains(kept, path) {
				continue
			}
			err := os.Remove(m.o.Dir.Path(path))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fault.Wrap(
			fault.Internal,
			err,
			"uninstalled, but not all settings files could be deleted: %v",
			err,
		)
	}
	return nil
}

// Start lets stopped features run again, with what they depend on.
func (m *Manager) Start(ctx context.Context, names ...string) (Change, error) {
	return m.startStop(ctx, names, m.unstopAll)
}

// Stop lets features rest: what only they and their dependants need stops, they
// stay installed.
func (m *Manager) Stop(ctx context.Context, names ...string) (Change, error) {
	return m.startStop(ctx, names, func(s *state, name string) { s.addStopped(name) })
}

func (m *Manager) startStop(
	ctx context.Context,
	names []string,
	mark func(*state, string),
) (Change, error) {
	return m.changeNamed(ctx, names, func(asked []Requirement, next state) (Change, error) {
		for _, q := range asked {
			f := m.plan.Get(q.Name)
			if f == nil || !q.Version.Contains(f.Version) {
				return Change{}, fault.New(
					fault.NotFound,
					"feature %s is not installed%s",
					q,
					nearest.Hint(q.Name, m.installedNames()),
				)
			}
			mark(&next, q.Name)
		}
		return m.changeState(ctx, next, wish{})
	})
}
