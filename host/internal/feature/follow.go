package feature

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// Run follows what the other controllers of a cluster install, uninstall, start and
// stop, until ctx ends. The set of features is one for all of them; each brings its
// own plugins to it, from its own files.
func (m *Manager) Run(ctx context.Context) error {
	return datastore.Changed(ctx, m.o.Store, []datastore.Prefix{{Namespace: namespace}}, func(ctx context.Context, _ *datastore.Batch) error {
		m.changes.Lock()
		defer m.changes.Unlock()
		err := m.catchUp(ctx)
		if err != nil && ctx.Err() == nil && !errors.Is(err, datastore.ErrClosed) {
			m.o.Log.Error(
				"the features of the cluster cannot be followed, it will be tried again",
				"error",
				err,
			)
		}
		return err
	})
}

// catchUp makes run what is stored, if another controller has stored it. The caller
// holds changes.
func (m *Manager) catchUp(ctx context.Context) error {
	next, more, grants, err := loadState(ctx, m.o.Store)
	if err != nil {
		return err
	}
	m.adoptGrants(grants)
	if next.revision == m.state.revision {
		return nil
	}
	if !reflect.DeepEqual(more, m.added) {
		repo, problems, err := readCatalogue(m.o.Dir, more)
		if err != nil { // what only the repositories of others have is then Unresolved
			m.o.Log.Error(
				"the catalogue stays as it was, though another controller changed its repositories",
				"error",
				err,
			)
		} else {
			m.withLock(func() { m.repo, m.added, m.problems = repo, more, problems })
		}
	}
	c, err := m.adoptState(ctx, next)
	if err == nil && !c.Empty() {
		m.o.Log.Info("another controller has changed the set of features", "change", c.Lines())
	}
	return err
}

// adoptState makes run what a stored state requires, as far as it can be had: a feature
// that cannot be resolved and a plugin that does not start are logged and do not
// keep the others from running.
func (m *Manager) adoptState(ctx context.Context, next stored) (Change, error) {
	plan, broken := m.salvageState(next.state)
	target, err := m.targetOf(plan, next.state)
	if err != nil {
		return Change{}, err
	}
	for name, err := range broken {
		m.o.Log.Error("required feature cannot be had", "feature", name, "error", err)
	}
	c := Diff(m.plan, plan, m.Active(), target)
	m.startAll(ctx, c.Ensure)
	m.withLock(func() { m.state, m.plan, m.broken = next, plan, broken })
	m.applyGrants(target)
	m.publishTarget(target)
	m.removeAll(ctx, c.Remove)
	return c, ctx.Err()
}

func (m *Manager) removeAll(ctx context.Context, plugins []string) {
	for _, name := range plugins {
		if err := m.o.Plugins.Remove(ctx, name); err != nil {
			m.o.Log.Warn("plugin not stopped in order", "plugin", name, "error", err)
		}
	}
}

// tries bounds how often a change is repeated because another controller was faster.
const tries = 5

// runChange makes one change, beginning with what the cluster requires now.
func (m *Manager) runChange(
	ctx context.Context,
	change func() (Change, error),
) (c Change, err error) {
	m.changes.Lock()
	defer m.changes.Unlock()
	for range tries {
		if err := m.catchUp(ctx); err != nil {
			return Change{}, fault.Wrap(
				fault.Unavailable,
				err,
				"features and grants cannot be read; nothing was changed: %v",
				err,
			)
		}
		if c, err = change(); !errors.Is(err, datastore.ErrConflict) {
			return c, err
		}
	}
	return Change{}, fault.Wrap(
		fault.InUse,
		err,
		"other controllers kept changing features or grants, nothing was changed; try again",
	)
}

// saveState stores the next state; datastore.ErrConflict says that another controller
// was faster.
func (m *Manager) saveState(ctx context.Context, next state, more ...datastore.Op) (stored, error) {
	if m.state.revision != 0 && len(more) == 0 && reflect.DeepEqual(next, m.state.state) {
		return m.state, nil // the others need not look
	}
	s, err := commitState(ctx, m.o.Store, m.state, next, more...)
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, datastore.ErrConflict):
		return stored{}, fmt.Errorf("feature: %w", err)
	case errors.Is(err, datastore.ErrFull), errors.Is(err, datastore.ErrMoved):
		return stored{}, err // it says what to do
	}
	return stored{}, fault.Wrap(
		fault.Internal,
		err,
		"the set of features could not be stored; nothing was changed",
	)
}
