// Package feature is the catalogue of installable features and the set of those
// required. The state is only the requirements; every change resolves their
// closure again (Closure, pure) and applies the difference (Manager). Running the
// plugins of features is package plugin's.
package feature

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/fault"
)

// Plugins runs plugins; package plugin does.
type Plugins interface {
	// Ensure makes a plugin run as its spec says, replacing one that runs
	// otherwise, and waits until it serves.
	Ensure(ctx context.Context, spec PluginSpec) error
	// Remove stops a plugin and forgets it; it is no error when it is not there.
	Remove(ctx context.Context, name string) error
	// Grant puts decisions about a plugin's grants into force; it is no error when it is not there.
	Grant(name string, held grant.Held)
	// Verify checks that a plugin answers, and that its file and what runs are what was started.
	Verify(name string) error
}

// Options are what a Manager works with.
type Options struct {
	Dir     home.Dir // its features.yaml, features.d and etc
	Store   datastore.Store
	Plugins Plugins
	// Locate finds a plugin's executable and checksum, as Locator.Locate does.
	Locate func(name string) (path, sha256 string, err error)
	// Publish gets what is active: after new plugins serve, before old ones stop.
	// It may ask for Active, and nothing else of the Manager.
	Publish func(Target)
	// Granted gets what an operator agreed to while features were installed.
	Granted func(plugin, by string, grants []grant.Grant)
	// Room makes room on a full disk for an uninstall; nil = there is nothing to give free.
	Room func()
	// Trusted gets which public key an operator trusted or revoked.
	Trusted func(key Signer, by string, trusted bool)
	Boot    []string // requirements of the very first start; nil = those marked boot
	// Booted gets what was required then; nil = it is not reported.
	Booted func(names []string)
	Log    *slog.Logger
}

// Manager keeps what runs equal to what is required. It is safe for concurrent
// use; changes are made one after the other.
type Manager struct {
	o      Options
	active atomic.Pointer[Target]

	// changes lets one change at a time run, however long its plugins take. Whoever
	// holds it may read what follows, and writes it with mu, so that the queries,
	// which take mu alone, never wait for a plugin.
	changes  sync.Mutex
	mu       sync.Mutex
	repo     Repo
	added    added
	grants   map[string]grantRecord // by plugin
	problems []home.Problem         // of repositories that were left out
	state    stored
	plan     Plan
	broken   map[string]error // requirements that cannot be met at present
}

// New reads the catalogue and the stored state; nothing runs before Restore. A
// fault in features.yaml is an error, one in another repository leaves that out.
func New(ctx context.Context, o Options) (*Manager, error) {
	m := &Manager{o: o}
	m.active.Store(&Target{})
	var err error
	if m.state, m.added, m.grants, err = loadState(ctx, o.Store); err != nil {
		return nil, fmt.Errorf("feature: %w", err)
	}
	if m.repo, m.problems, err = readCatalogue(o.Dir, m.added); err != nil {
		return nil, err
	}
	for _, p := range m.problems {
		o.Log.Error("repository of features left out", "problem", p.String())
	}
	return m, nil
}

// readCatalogue reads features.yaml, features.d and the repositories added.
func readCatalogue(dir home.Dir, more added) (Repo, []home.Problem, error) {
	var repos []*Repository
	var problems []home.Problem
	names := map[string]string{}
	take := func(url string, b []byte, own bool) []home.Problem {
		r, ps := ParseRepository(url, b)
		if len(ps) > 0 {
			return ps
		}
		if ps := r.findForbiddenGrants(); !own && len(ps) > 0 {
			return ps
		}
		if other, twice := names[r.Name]; twice {
			return []home.Problem{{
				File: url,
				Key:  "name",
				Text: fmt.Sprintf("the repository %q is in %s already", r.Name, other),
			}}
		}
		names[r.Name] = url
		repos = append(repos, r)
		return nil
	}
	for i, path := range dir.Catalogue() {
		b, err := home.ReadRegular(path)
		if errors.Is(err, fs.ErrNotExist) && i == 0 {
			continue // a home without features.yaml lives on features.d
		}
		if err != nil {
			return Repo{}, nil, fmt.Errorf("feature: %w", err)
		}
		ps := take(path, b, true)
		if err := home.Fatal(ps); err != nil && i == 0 {
			return Repo{}, ps, fault.Wrap(fault.Invalid, err, "%v", err)
		}
		problems = append(problems, ps...)
	}
	for _, name := range slices.Sorted(maps.Keys(more.repos)) {
		record := more.repos[name]
		if err := record.verifySignature(more.keys); err != nil {
			problems = append(
				problems,
				home.Problem{
					File: record.URL,
					Key:  name,
					Text: err.Error(),
				},
			)
			continue
		}
		problems = append(problems, take(record.URL, record.Text, false)...)
	}
	return NewRepo(repos...), problems, nil
}

// Active is what runs now.
func (m *Manager) Active() Target { return *m.active.Load() }

// Restore makes run what is required: at the very first start the boot features,
// later what was installed. A feature that cannot be resolved and a plugin that
// does not start are logged and do not keep the others from running.
func (m *Manager) Restore(ctx context.Context) error {
	_, err := m.runChange(ctx, func() (Change, error) {
		next := m.state.clone()
		var boot []string
		if !next.BootDone {
			if boot = m.o.Boot; boot == nil {
				boot = m.bootFeatures()
			}
			asked, err := parseAll(boot)
			if err != nil {
				return Change{}, fmt.Errorf("features.boot: %w", err)
			}
			for _, q := range asked {
				next.addRequirement(q)
			}
			next.BootDone = true
		}
		saved, err := m.saveState(ctx, next)
		if err != nil {
			return Change{}, err
		}
		if len(boot) > 0 && m.o.Booted != nil {
			m.o.Booted(boot)
		}
		return m.adoptState(ctx, saved)
	})
	return err
}

// startAtOnce is how many plugins a starting controller starts at the same time.
const startAtOnce = 4

// startAll starts plugins side by side: they reach each other through the host,
// which lets a caller wait for one that is still starting.
func (m *Manager) startAll(ctx context.Context, specs []PluginSpec) {
	var g errgroup.Group
	g.SetLimit(startAtOnce)
	for _, spec := range specs {
		g.Go(func() error {
			if err := m.o.Plugins.Ensure(ctx, spec); err != nil {
				m.o.Log.Error(
					"plugin does not start, it will be tried again",
					"plugin",
					spec.Name,
					"error",
					err,
				)
			}
			return nil
		})
	}
	_ = g.Wait() // each has logged its own
}

// withLock changes what queries read.
func (m *Manager) withLock(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// bootFeatures names those that the catalogue marks boot, of which the highest version is ready.
func (m *Manager) bootFeatures() (names []string) {
	for _, name := range m.repo.Names() {
		f := m.repo.Versions(name)[0]
		if f.Boot && f.Ready() {
			names = append(names, name)
		}
	}
	return names
}

// salvageState resolves what can be resolved: all, or requirement by requirement.
func (m *Manager) salvageState(s state) (Plan, map[string]error) {
	broken := map[string]error{}
	if plan, err := Closure(s.Required, m.repo); err == nil {
		if _, err := m.targetOf(plan, s); err == nil {
			return plan, broken
		}
	}
	var good []Requirement
	var plan Plan
	for _, q := range s.Required {
		p, err := Closure(append(good[:len(good):len(good)], q), m.repo)
		if err == nil {
			_, err = m.targetOf(p, s)
		}
		if err != nil {
			broken[q.Name] = err
			continue
		}
		good, plan = append(good, q), p
	}
	return plan, broken
}

func (m *Manager) targetOf(plan Plan, s state) (Target, error) {
	t, err := NewTarget(plan, stoppedIn(plan, s.Stopped), m.o.Locate)
	for i := range t.Plugins {
		p := &t.Plugins[i]
		if err := m.checkNotRevoked(*p); err != nil {
			return Target{}, err
		}
		p.Held, p.Origin = m.heldGrants(plan, p.Name), m.pluginOrigin(p.Repository)
	}
	return t, err
}

// stoppedIn adds those that depend on a stopped feature: they cannot run without it.
func stoppedIn(plan Plan, stopped []string) []string {
	out := slices.Clone(stopped)
	for _, f := range plan.Features { // dependencies first, so one pass is enough
		if !slices.Contains(out, f.Name) &&
			slices.ContainsFunc(f.Depends, func(d Dependency) bool {
				return slices.Contains(out, d.Name)
			}) {
			out = append(out, f.Name)
		}
	}
	return out
}

func (m *Manager) publishTarget(t Target) {
	m.active.Store(&t)
	m.o.Publish(t)
}

// rollbackTime bounds the way back after a plugin did not start.
const rollbackTime = 2 * time.Minute

// wish is how a change is to be made.
type wish struct {
	simulate bool
	agree    Agreement
	must     []Requirement // those that must be met, though they could not be before
	// blame is the error when a requirement cannot be met any more, nil: it may be lost. Without it why is the error.
	blame func(name string, why error) error
}

// firstRefusal is the first requirement of a state that cannot be met, and could be before: one lost plugin file does not block
// every other change.
func (w wish) firstRefusal(s state, broken, before map[string]error) error {
	for _, q := range s.Required {
		why := broken[q.Name]
		if why == nil || before[q.Name] != nil && !slices.Contains(w.must, q) {
			continue
		}
		if w.blame != nil {
			why = w.blame(q.Name, why)
		}
		if why != nil {
			return why
		}
	}
	return nil
}

// changeState goes from the present state to the next, or stays. more is written with
// it. The caller holds changes.
func (m *Manager) changeState(
	ctx context.Context,
	next state,
	w wish,
	more ...datastore.Op,
) (Change, error) {
	plan, broken := m.salvageState(next)
	if err := w.firstRefusal(next, broken, m.broken); err != nil {
		return Change{}, err
	}
	next.Stopped = slices.DeleteFunc(next.Stopped, func(n string) bool {
		return plan.Get(n) == nil
	})
	target, err := m.targetOf(plan, next)
	if err != nil {
		return Change{}, err
	}
	old := m.Active()
	c := Diff(m.plan, plan, old, target)
	if w.simulate {
		return c, nil
	}
	agreed, err := m.ensurePlugins(ctx, c, old, w.agree)
	if err != nil {
		return Change{}, err
	}
	grants, ops := m.grantsAfter(plan, agreed)
	more = append(more, ops...)
	saved, err := m.saveState(ctx, next, more...)
	if err != nil {
		m.rollbackPlugins(ctx, c.Ensure, old)
		return Change{}, err
	}
	for name, held := range agreed {
		grants[name] = grantRecord{held, saved.revision}
		if m.o.Granted != nil {
			m.o.Granted(name, w.agree.By, newlyGranted(held, m.grants[name].Held))
		}
	}
	m.withLock(func() {
		m.state, m.plan, m.grants, m.broken = saved, plan, grants, broken
	})
	m.applyGrants(target)
	m.publishTarget(target)
	m.removeAll(ctx, c.Remove)
	return c, nil
}

// ensurePlugins starts what a change needs, or leaves everything as it was. It returns what was agreed to by plugin.
func (m *Manager) ensurePlugins(
	ctx context.Context,
	c Change,
	old Target,
	agree Agreement,
) (map[string]grant.Held, error) {
	agreed := map[string]grant.Held{}
	for i, spec := range c.Ensure {
		err := m.o.Plugins.Ensure(ctx, spec)
		var needed *grant.NeededError
		if errors.As(err, &needed) && agree.agreesTo(needed) {
			now, granted := time.Now().UTC(), grantsOf(needed.Requests)
			agreed[spec.Name] = m.grants[spec.Name].Grant(agree.By, now, granted...)
			spec.Held = spec.Held.Grant(agree.By, now, granted...)
			c.Ensure[i] = spec
			err = m.o.Plugins.Ensure(ctx, spec)
		}
		if errors.As(err, &needed) {
			m.rollbackPlugins(ctx, c.Ensure[:i+1], old)
			return nil, needed
		}
		if err != nil {
			m.rollbackPlugins(ctx, c.Ensure[:i+1], old)
			kind := fault.KindOf(err)
			if kind == fault.Internal {
				kind = fault.Unavailable
			}
			return nil, fault.Wrap(
				kind,
				err,
				"plugin %s does not start, nothing was changed: %v",
				spec.Name,
				err,
			)
		}
	}
	return agreed, nil
}

func (m *Manager) rollbackPlugins(ctx context.Context, tried []PluginSpec, old Target) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTime)
	defer cancel()
	for _, spec := range slices.Backward(tried) {
		var err error
		i := slices.IndexFunc(old.Plugins, func(p PluginSpec) bool {
			return p.Name == spec.Name
		})
		if i >= 0 {
			was := old.Plugins[i]
			was.Held = m.heldGrants(m.plan, was.Name)
			err = m.o.Plugins.Ensure(ctx, was)
		} else {
			err = m.o.Plugins.Remove(ctx, spec.Name)
		}
		if err != nil {
			m.o.Log.Error(
				"plugin not brought back after a failed change",
				"plugin",
				spec.Name,
				"error",
				err,
			)
		}
	}
}
