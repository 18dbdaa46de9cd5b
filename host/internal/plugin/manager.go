// Package plugin keeps plugins running and leads calls to them: it starts, watches,
// restarts, replaces and stops their processes, repeats calls that may be repeated
// when one dies, and knows who serves what.
//
// Manager is the front. Below it, each in a package of its own: process (one
// operating-system process), logline (what it logs), hostsvc (the services a plugin
// calls), relay (calls from plugin to plugin), events (the event bus) and
// topomirror (the merged view of all topology sources). Which plugins should run is
// the business of package feature; what may be called by whom that of aaa.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"ctl.internal/host/internal/plugin/events"
	"ctl.internal/host/internal/plugin/hostsvc"
	"ctl.internal/host/internal/plugin/process"
	"ctl.internal/internal/nearest"
	"ctl.internal/internal/together"
	"ctl.internal/sdk/fault"
)

// Manager keeps all plugins. It is safe for concurrent use.
type Manager struct {
	options   Options
	limits    Limits
	policy    Policy
	runDir    string
	elsewhere bool // runDir is not in the home, and ours to remove
	bus       *events.Bus
	log       *slog.Logger
	sums      process.Sums
	keeper    *process.Keeper // nil = processes are not isolated
	lock      *process.RunLock
	end       context.CancelFunc // of the work of the manager itself
	work      sync.WaitGroup
	bulkheads *bulkheads

	mu      sync.Mutex
	plugins map[string]*supervisor
	closed  bool

	claims  sync.Mutex // held while a manifest takes effect
	index   atomic.Pointer[index]
	changed together.Signal
	orders  atomic.Uint64 // to start, stop or replace a plugin, so far
}

// New returns a manager without plugins. It sweeps away what a controller of the same directory that died
// has left; it fails when another one is using the directory.
func New(o Options) (*Manager, error) {
	dir, err := process.RunDir(o.RunDir)
	if err != nil {
		return nil, fmt.Errorf("the directory for the plugins' sockets: %w", err)
	}
	if o.DataDir, err = filepath.Abs(o.DataDir); err != nil {
		return nil, err
	}
	m := &Manager{
		options: o,
		limits:  o.Limits,
		policy:  o.Policy,
		runDir:  dir,
		bus:     o.Bus,
		plugins: map[string]*supervisor{},
	}
	m.bulkheads = newBulkheads(m.limits.AllInFlight)
	m.log = o.Logger("plugin")
	if want, err := filepath.Abs(o.RunDir); err == nil && dir != want {
		m.elsewhere = true
		m.log.Debug("sockets of plugins lie elsewhere because the home's path is long", "dir", dir)
	}
	if m.lock, err = process.LockRunDir(dir); err != nil {
		return nil, err
	}
	if err := m.lock.Sweep(m.log); err != nil {
		m.lock.Release(m.elsewhere)
		return nil, err
	}
	if o.Isolation == "on" || o.Isolation == "required" {
		m.keeper = process.NewKeeper(o.Quota, m.lock)
		if err := m.keeper.Pass(m.homeDir(), o.DataDir, dir); err != nil {
			m.keeper.Close()
			m.lock.Release(m.elsewhere)
			return nil, err
		}
		if have, _ := m.keeper.Measure(); len(have.Missing) > 0 {
			m.log.Warn(
				"parts of the isolation of plugins are not available here",
				"missing",
				strings.Join(have.Missing, "; "),
			)
		}
	}
	m.rebuildIndex()
	ctx, cancel := context.WithCancel(context.Background())
	m.end = cancel
	m.work.Go(func() { m.watchDisk(ctx) })
	return m, nil
}

// Ensure makes a plugin run as its spec says and waits until it serves. A plugin
// that runs so already is left alone, one whose spec differs is replaced without a
// lost call, and kept as it was when its successor fails. After any other error the
// plugin is still known and still tried again; Remove gives it up.
func (m *Manager) Ensure(ctx context.Context, spec Spec) error {
	if err := spec.validate(); err != nil {
		return fault.Wrap(fault.Invalid, err, "%v", err)
	}
	s, err := m.addSupervisor(spec)
	if err != nil {
		return err
	}
	m.rebuildIndex()
	before := s.services.Held()
	s.services.SetHeld(spec.Held)
	if err = s.ensureSpec(ctx, spec); err != nil && s.cur.Load() != nil { // it goes on as it was
		s.services.SetHeld(before)
	}
	return err
}

// ensureSpec makes the plugin run as a spec says.
func (s *supervisor) ensureSpec(ctx context.Context, spec Spec) error {
	s.mu.Lock()
	before := s.spec
	s.spec = spec
	s.mu.Unlock()
	if before.equal(spec) {
		return s.orderAndWait(ctx, evStart{})
	}
	err := s.reloadPlugin(ctx)
	if err != nil {
		s.restoreSpec(before)
	}
	return err
}

// addSupervisor returns the supervisor of a plugin, a new one if need be.
func (m *Manager) addSupervisor(spec Spec) (*supervisor, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, fault.New(fault.Unavailable, "the controller is stopping")
	}
	if s, ok := m.plugins[spec.Name]; ok {
		return s, nil
	}
	s := &supervisor{
		m:       m,
		name:    spec.Name,
		spec:    spec,
		log:     m.options.Logger("plugin."+spec.Name).With("plugin", spec.Name),
		dir:     filepath.Join(m.runDir, spec.Name),
		machine: machine{policy: m.policy},
		calls:   m.bulkheads.addBulkhead(m.limits.InFlight),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	services, err := hostsvc.Listen(s.dir, spec.Name, m.servicesFor(s))
	if err != nil {
		s.cancel()
		return nil, err
	}
	s.services = services
	m.plugins[spec.Name] = s
	return s, nil
}

// Remove stops a plugin and forgets it, with the operational data it published. It
// is no error when the plugin is not there.
func (m *Manager) Remove(ctx context.Context, name string) error {
	m.mu.Lock()
	s, ok := m.plugins[name]
	delete(m.plugins, name)
	m.mu.Unlock()
	if !ok {
		return nil
	}
	m.rebuildIndex()
	err := s.removePlugin(ctx)
	_ = os.Remove(s.manifestFile()) // seldom not there
	m.changed.Fire()
	return errors.Join(err, m.clearPublished(ctx, s.manifest.Load()))
}

// Start starts a stopped or failed plugin and waits until it serves.
func (m *Manager) Start(ctx context.Context, name string) error {
	return m.withSupervisor(name, func(s *supervisor) error {
		return s.orderAndWait(ctx, evStart{})
	})
}

// Stop stops a plugin and waits until its process is gone.
func (m *Manager) Stop(ctx context.Context, name string) error {
	return m.withSupervisor(name, func(s *supervisor) error { return s.stopAndWait(ctx) })
}

// Restart stops a plugin and starts it again; it clears failed.
func (m *Manager) Restart(ctx context.Context, name string) error {
	return m.withSupervisor(name, func(s *supervisor) error {
		return s.orderAndWait(ctx, evRestart{})
	})
}

// Reload replaces the process of a plugin by a new one: it is started, configured
// again and checked, then takes over, and the old one ends when its calls have. When
// the new one fails, the old one stays and the error says why.
func (m *Manager) Reload(ctx context.Context, name string) error {
	return m.withSupervisor(name, func(s *supervisor) error {
		return s.reloadPlugin(ctx)
	})
}

// Kill ends the process of a plugin at once, as a crash does; the supervisor starts the next one. It is an error if
// there is no process.
func (m *Manager) Kill(_ context.Context, name string) error {
	return m.withSupervisor(name, func(s *supervisor) error {
		cur := s.cur.Load()
		if cur == nil || cur.proc.Ended() {
			return fault.New(
				fault.NotFound,
				"plugin %s has no process: plugin:start %s starts one",
				name,
				name,
			)
		}
		cur.proc.Kill("it was killed by plugin:kill")
		return nil
	})
}

// Names returns the plugins' names in order.
func (m *Manager) Names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.plugins))
}

// Conn returns a connection to whatever process serves the plugin, for the clients
// of sdk/<capability>. It costs nothing and needs no closing. Calls with a context
// made by Safe survive a crash.
func (m *Manager) Conn(name string) (grpc.ClientConnInterface, error) {
	s, err := m.findSupervisor(name)
	if err != nil {
		return nil, err
	}
	return conn{s: s}, nil
}

func (m *Manager) findSupervisor(name string) (*supervisor, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok := m.plugins[name]; ok {
		return s, nil
	}
	return nil, fault.New(
		fault.NotFound,
		"there is no plugin %q%s",
		name,
		nearest.Hint(name, slices.Sorted(maps.Keys(m.plugins))),
	)
}

func (m *Manager) withSupervisor(name string, f func(*supervisor) error) error {
	s, err := m.findSupervisor(name)
	if err != nil {
		return err
	}
	return f(s)
}

// Close stops all plugins at once. Those that are not gone when ctx ends are killed.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	all := m.plugins
	m.plugins = map[string]*supervisor{}
	m.mu.Unlock()
	m.rebuildIndex()
	m.end()
	m.work.Wait()
	var g errgroup.Group
	for _, s := range all {
		g.Go(func() error { return s.removePlugin(ctx) })
	}
	err := g.Wait()
	m.keeper.Close()
	m.bus.Close()
	m.lock.Release(m.elsewhere) // its directory stays while a process that would not end has its socket there
	return err
}
