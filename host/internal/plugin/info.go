package plugin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin/process"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Info is what an operator may know of a plugin. As JSON it is part of what plugin:info answers.
type Info struct {
	Name       string    `json:"name"`
	Version    string    `json:"version"` // empty before its first start
	State      State     `json:"state"`
	Reason     string    `json:"reason,omitempty"` // why it is not ready
	Since      time.Time `json:"since"`            // of the state
	PID        int       `json:"pid,omitempty"`    // 0 when there is no process
	Started    time.Time `json:"-"`                // of the process
	Generation uint64    `json:"-"`                // processes so far
	Restarts   int       `json:"restarts"`         // by the controller, after failures
	Failures   int       `json:"-"`                // in a row
	RestartAt  time.Time `json:"-"`                // in backoff
	LastError  string    `json:"lastError,omitempty"`

	Path     string             `json:"path"`
	Origin   string             `json:"origin"` // the catalogue that answers for the file, and who signed it
	SHA256   string             `json:"sha256"` // of the file that runs or ran last
	DataDir  string             `json:"dataDir"`
	Facets   []string           `json:"facets"`
	Health   map[string]string  `json:"details,omitempty"`  // details the plugin gives with its health
	Warnings []string           `json:"warnings,omitempty"` // of its settings
	Tail     []string           `json:"log,omitempty"`      // last lines it logged, newest last
	Manifest *pluginv1.Manifest `json:"-"`

	Grants []grant.Decision `json:"-"`      // what became of its requests
	Denied uint64           `json:"denied"` // tries of what it was not granted

	Isolation  process.Isolation `json:"-"`
	Metrics    string            `json:"metrics,omitempty"` // why its metrics are left out; empty = they are not
	Waiting    int               `json:"waiting"`           // calls that wait for a place
	StoreBytes int64             `json:"storeBytes"`        // of its data, as counted last
	StoreKeys  int64             `json:"storeKeys"`
	OverQuota  map[string]uint64 `json:"-"` // refusals by quota
	LogDropped uint64            `json:"-"` // lines that it logged too fast

	Calls    uint64 `json:"calls"` // to the plugin, ever
	Errors   uint64 `json:"errors"`
	Repeated uint64 `json:"repeated"` // safe calls made again after a crash
	Refused  uint64 `json:"-"`        // while it was down or busy
	InFlight int64  `json:"inFlight"`
	Debugger bool   `json:"debugger,omitempty"` // attached, not started
}

// Info returns all about a plugin.
func (m *Manager) Info(name string) (Info, error) {
	s, err := m.findSupervisor(name)
	if err != nil {
		return Info{}, err
	}
	return s.info(), nil
}

// List describes every plugin, in order of their names.
func (m *Manager) List() []Info {
	var out []Info
	for _, s := range m.index.Load().plugins {
		out = append(out, s.info())
	}
	return out
}

func (s *supervisor) info() Info {
	s.mu.Lock()
	mc, spec, last := s.machine, s.spec, s.last
	s.mu.Unlock()
	i := Info{
		Name:       s.name,
		State:      mc.state,
		Reason:     mc.reason,
		Since:      mc.since,
		Restarts:   mc.restarts,
		Failures:   mc.failures,
		RestartAt:  mc.next,
		LastError:  mc.lastError,
		Generation: s.generation.Load(),
		Path:       spec.Path,
		Origin:     spec.Origin,
		SHA256:     spec.SHA256,
		Facets:     spec.Facets,
		DataDir:    s.dataDir(),
		Manifest:   s.manifest.Load(),
		Calls:      s.stats.calls.Load(),
		Errors:     s.stats.failed.Load(),
		Repeated:   s.stats.repeated.Load(),
		Refused:    s.stats.refused.Load(),
	}
	i.Isolation = s.currentIsolation()
	i.Denied = s.stats.denied.Load()
	if why := s.metrics.Load(); why != nil {
		i.Metrics = *why
	}
	_, i.Waiting = s.calls.countCalls()
	i.StoreBytes, i.StoreKeys = s.services.Stored()
	i.OverQuota, i.LogDropped = s.services.OverQuota(), s.logDropped.Load()
	if r := s.requests.Load(); r != nil {
		i.Grants = s.services.Held().Decisions(*r)
	}
	i.Version = i.Manifest.GetVersion()
	if last != nil {
		i.Tail, i.Warnings = last.proc.Tail(), last.warnings
		if sum := last.proc.SHA256(); sum != "" {
			i.SHA256 = sum
		}
		i.Health = last.health.Load().GetDetails()
	}
	switch cur := s.cur.Load(); {
	case cur == nil:
	case cur.proc.Ended():
		if i.State.Serving() { // the supervisor has not seen it yet
			i.State, i.Reason, i.Since = Backoff, "its process has ended; a new one is being started", time.Now()
		}
	default:
		why := s.m.behindReason(s.name)
		if why != "" && i.State == Ready {
			i.State, i.Reason = Degraded, why
		}
		i.PID, i.Started, i.InFlight, i.Debugger = cur.proc.PID, cur.proc.Started, cur.inflight.Load(), cur.proc.Attached()
	}
	return i
}

// Manifests returns the newest manifest of every plugin that has been described, in
// order of their names: their YANG modules, RPCs, paths and commands.
func (m *Manager) Manifests() []*pluginv1.Manifest {
	var out []*pluginv1.Manifest
	for _, s := range m.index.Load().plugins {
		if mf := s.manifest.Load(); mf != nil {
			out = append(out, mf)
		}
	}
	return out
}

// behindReason is Options.Behind.
func (m *Manager) behindReason(plugin string) string {
	if m.options.Behind == nil {
		return ""
	}
	return m.options.Behind(plugin)
}

// Verify checks that a plugin answers and that its file is still the one that runs.
func (m *Manager) Verify(name string) error {
	s, err := m.findSupervisor(name)
	if err != nil {
		return err
	}
	i := s.info()
	if !i.State.Serving() {
		return fault.New(fault.Unavailable, "plugin %s is %s: %s", name, i.State, i.Reason)
	}
	if why := m.behindReason(name); why != "" {
		return fault.New(fault.Unavailable, "%s", why)
	}
	cur := s.cur.Load()
	if cur == nil {
		return fault.New(fault.Unavailable, "plugin %s is being restarted", name)
	}
	return s.verifyInstance(cur)
}

func (s *supervisor) verifyInstance(cur *instance) error {
	ctx, cancel := context.WithTimeout(cur.ctx, s.m.limits.PingTimeout)
	defer cancel()
	if err := cur.proc.Ping(ctx); err != nil {
		return fault.FromStatus(err)
	}
	if cur.proc.Attached() {
		return nil
	}
	sum, err := process.Hash(cur.spec.Path, cur.spec.SHA256, &s.m.sums)
	if err == nil {
		err = checkFiles(cur.spec)
	}
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "%v", err)
	}
	if sum != cur.proc.SHA256() {
		return fault.New(fault.InUse, "the file %s has changed since plugin %s was started (running %s, on disk %s): reload the plugin",
			cur.spec.Path, s.name, cur.proc.SHA256(), sum)
	}
	return s.checkExecutable(cur, sum)
}

// checkExecutable checks that the process executes the file with a hash still, not another that it has executed since.
func (s *supervisor) checkExecutable(cur *instance, sum string) error {
	if cur.proc.Script() {
		return nil // it is the interpreter that runs
	}
	now, err := process.Hash(fmt.Sprintf("/proc/%d/exe", cur.proc.PID), "", &s.m.sums)
	switch {
	case errors.Is(err, fs.ErrPermission): // the process is closed to its own user; only root could look
		return nil
	case err != nil:
		return fault.Wrap(
			fault.Unavailable,
			err,
			"the program of plugin %s cannot be read: %v",
			s.name,
			err,
		)
	case now != sum:
		return fault.New(fault.Invalid, "the process of plugin %s runs another program (sha256 %s) than it was started with (%s): stop it and find the cause",
			s.name, now, sum)
	}
	return nil
}

// checkFiles compares the files that a program reads beside itself with what the catalogue says.
func checkFiles(spec Spec) error {
	for _, name := range slices.Sorted(maps.Keys(spec.Files)) {
		path := filepath.Join(filepath.Dir(spec.Path), name)
		sum, err := process.FileSum(path)
		if err != nil {
			return fmt.Errorf(
				"plugin %s: a file that the catalogue names cannot be read: %w",
				spec.Name,
				err,
			)
		}
		if !strings.EqualFold(sum, spec.Files[name]) {
			return fmt.Errorf(
				"plugin %s: the file %s is not the one in the catalogue: its sha256 is %s, expected %s",
				spec.Name,
				path,
				sum,
				spec.Files[name],
			)
		}
	}
	return nil
}
