package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin/process"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// newIsolate says how the process of a plugin is kept from others; nil = it is not.
func (s *supervisor) newIsolate(held grant.Held) (*process.Isolate, error) {
	if s.m.keeper == nil {
		return nil, nil
	}
	mode := s.m.options.Isolation
	required := mode == "required"
	have, strong := s.m.keeper.Measure()
	if required && !strong {
		return nil, fmt.Errorf(
			"supervisor.isolation is required, but this machine does not support all of it: %s",
			strings.Join(have.Missing, "; "),
		)
	}
	low, network := false, false
	for _, g := range held.InForce() {
		_, port, _ := strings.Cut(g.Value, "/")
		n, err := strconv.Atoi(port)
		low = low || g.Kind == grant.Listen && (err != nil || n < 1024)
		network = network || g.Kind == grant.Listen || g.Kind == grant.Connect
	}
	// names are asked for by UDP
	i := &process.Isolate{
		LowPorts:  low,
		Connect:   grantedPorts(held, grant.Connect),
		Listen:    grantedPorts(held, grant.Listen),
		UDP:       network,
		Files:     s.grantedFiles(held, s.described.Load()),
		Home:      s.m.homeDir(),
		Memory:    s.m.options.Quota.Memory,
		Processes: s.m.options.Quota.Processes,
		Required:  required,
	}
	if i.NoUser = actsAsHost(held); i.NoUser == "" {
		var err error
		if i.User, err = s.m.keeper.User(s.dataDir()); err != nil {
			i.NoUser = err.Error()
		}
	}
	return i, nil
}

// actsAsHost says why a plugin acts as the user of the host; empty = it does not.
func actsAsHost(held grant.Held) string {
	for _, g := range held.InForce() {
		if strings.HasPrefix(g.Value, "~/") {
			return "it was granted " + g.Value + ", which programs look for under the name of the user of ctld"
		}
	}
	return ""
}

// recallManifest learns what a plugin says of itself before its process is started, when the files that it may use are fixed:
// it said so at its last start, or is asked.
func (s *supervisor) recallManifest(ctx context.Context, spec Spec) {
	if s.m.keeper == nil || s.described.Load() != nil || checkFiles(spec) != nil {
		return
	}
	m := s.rememberedManifest()
	if m == nil {
		var err error
		if m, err = process.Describe(ctx, process.Spec{
			Path:    spec.Path,
			Args:    spec.Args,
			Env:     spec.Env,
			SHA256:  spec.SHA256,
			Sums:    &s.m.sums,
			Isolate: process.Alone(s.m.homeDir()),
			Keeper:  s.m.keeper,
		}); err != nil {
			s.log.Debug("the program does not describe itself", "error", err)
			return // the start says what is wrong with it
		}
		s.rememberManifest(m)
	}
	s.described.Store(m)
}

// rememberedManifest is what the plugin said of itself at its last start, nil when that is not known.
func (s *supervisor) rememberedManifest() *pluginv1.Manifest {
	if m := s.described.Load(); m != nil {
		return m
	}
	m := &pluginv1.Manifest{}
	b, err := os.ReadFile(s.manifestFile())
	if err != nil || proto.Unmarshal(b, m) != nil {
		return nil
	}
	return m
}

func (s *supervisor) rememberManifest(m *pluginv1.Manifest) {
	b, err := proto.Marshal(m)
	if err == nil {
		err = os.WriteFile(s.manifestFile(), b, 0o600)
	}
	if err != nil {
		s.log.Debug("the manifest is not kept for the next start", "error", err)
	}
}

// manifestFile is the file with the newest manifest; names of plugins have no dot at the start.
func (s *supervisor) manifestFile() string {
	return filepath.Join(s.m.options.DataDir, "."+s.name+".manifest")
}

// grantedPorts are the TCP ports that were granted; nil = any.
func grantedPorts(held grant.Held, kind string) []uint16 {
	out := []uint16{}
	for _, g := range held.InForce() {
		port, tcp := strings.CutPrefix(g.Value, "tcp/")
		if g.Kind != kind || !tcp {
			continue
		}
		if port == "*" {
			return nil
		}
		if n, err := strconv.ParseUint(port, 10, 16); err == nil {
			out = append(out, uint16(n))
		}
	}
	return out
}

// currentIsolation says what keeps a plugin from others, and what is missing here.
func (s *supervisor) currentIsolation() process.Isolation {
	if s.m.keeper == nil {
		return process.Isolation{Missing: []string{"everything: supervisor.isolation is off"}}
	}
	have, _ := s.m.keeper.Measure()
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	switch {
	case last == nil || last.isolate == nil:
	case last.isolate.User != 0:
		have.By = append([]string{fmt.Sprintf(
			"own uid %d, up to %d processes and threads",
			last.isolate.User,
			last.isolate.Processes,
		)}, have.By...)
	default:
		have.Missing = append([]string{"own uid: " + last.isolate.NoUser}, have.Missing...)
	}
	have.Missing = append(
		have.Missing,
		"anywhere: UDP by port, TCP by address, names and sizes of files; without any grant of connections there is no UDP",
	)
	return have
}

// grantedFiles are what the plugin may use besides its own, as far as m says what it wants.
func (s *supervisor) grantedFiles(held grant.Held, m *pluginv1.Manifest) []process.File {
	requests, err := grant.Requests(m)
	if err != nil {
		return nil
	}
	var config, schema struct {
		values     map[string]any
		Properties map[string]struct{ Default any }
	}
	if slices.ContainsFunc(requests, func(r grant.Request) bool {
		return r.FromSettings()
	}) {
		text, err := s.m.options.Settings(s.name, m.GetConfigSchema())
		if err != nil ||
			json.Unmarshal(text, &config.values) != nil ||
			json.Unmarshal(m.GetConfigSchema(), &schema) != nil {
			config.values = nil // the plugin will not be configured either
		}
	}
	var out []process.File
	for _, d := range held.Decisions(requests) {
		f := process.File{
			Write: d.Request.Kind == grant.Write,
			Run:   d.Request.Kind == grant.Run,
		}
		if !d.Granted || d.Request.Kind != grant.Read && !f.Write && !f.Run {
			continue
		}
		value, explicit := d.Request.Value, d.By != grant.BySettings
		paths := []string{value}
		if dir, ok := strings.CutPrefix(value, "home:"); ok {
			paths = []string{filepath.Join(s.m.homeDir(), dir)}
			if dir == "import" || dir == "export" {
				paths = append(paths, s.m.options.Directories...)
			}
		} else if rest, ok := strings.CutPrefix(value, "~/"); ok {
			paths = nil
			if u, err := user.Current(); err == nil {
				paths = []string{filepath.Join(u.HomeDir, rest)}
			}
		} else if name, ok := strings.CutPrefix(value, "setting:"); ok {
			set := config.values[name]
			if !explicit && reflect.DeepEqual(set, schema.Properties[name].Default) {
				continue // its author's wish, not the operator's
			}
			paths = pathsIn(set)
		}
		for _, p := range paths {
			if f.Path = s.m.rulePath(p, f.Write); f.Path != "" && !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// pathsIn lists the paths that the value of a setting names.
func pathsIn(v any) (out []string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out = append(out, pathsIn(e)...)
		}
	case map[string]any: // with other members, too: only what is a path by its look
		for _, e := range v {
			out = append(out, slices.DeleteFunc(pathsIn(e), func(p string) bool {
				return !filepath.IsAbs(p)
			})...)
		}
		slices.Sort(out)
	case string:
		v = strings.TrimPrefix(strings.TrimPrefix(v, "unix:"), "file://")
		if i := strings.IndexAny(v, "*?["); i >= 0 {
			v = v[:strings.LastIndexByte(v[:i], '/')+1]
		}
		if v != "" && (filepath.IsAbs(v) || !strings.Contains(v, ":")) {
			out = append(out, v)
		}
	}
	return out
}

// rulePath is the file or directory that a rule is made about. A rule holds for the file that is there when the process
// starts; when another comes in its place, follow replaces the process. What is to be written outside of the home may
// come in its directory.
func (m *Manager) rulePath(path string, write bool) string {
	home := m.homeDir()
	if !filepath.IsAbs(path) {
		path = filepath.Join(home, path)
	}
	path = filepath.Clean(path)
	rest, err := filepath.Rel(home, path)
	within := err == nil && filepath.IsLocal(rest)
	info, err := os.Stat(path)
	if err != nil && write && within { // a directory that the plugin would make
		if os.MkdirAll(path, 0o700) == nil {
			return path
		}
	}
	if err == nil && info.IsDir() {
		return path
	}
	if write && !within {
		return filepath.Dir(path)
	}
	return path
}

// statFiles returns what is at the places of files, nil for those that are not there.
func statFiles(files []process.File) []os.FileInfo {
	out := make([]os.FileInfo, len(files))
	for i, f := range files {
		out[i], _ = os.Stat(f.Path)
	}
	return out
}

// followFiles replaces the process when a file that it was granted has come, or was replaced, since its start: the kernel
// has fixed there what it may use.
func (s *supervisor) followFiles(ctx context.Context) {
	same := func(a, b os.FileInfo) bool {
		return b == nil || a != nil && os.SameFile(a, b)
	}
	inst := s.cur.Load()
	if inst == nil ||
		inst.isolate == nil ||
		len(inst.isolate.Files) == 0 ||
		inst.stale.Load() ||
		slices.EqualFunc(inst.files, statFiles(inst.isolate.Files), same) {
		return
	}
	s.following.Lock()
	defer s.following.Unlock()
	if s.cur.Load() != inst ||
		inst.stale.Swap(true) { // another call has done it, or it goes on as it is
		return
	}
	s.log.Info("a file that the plugin may use has come or was replaced: its process is replaced, too")
	err := s.reloadPlugin(ctx)
	if err != nil && ctx.Err() == nil { // it goes on when the caller has left
		s.log.Warn("the plugin goes on without the file", "error", err)
	}
}

// homeDir is the controller's, absolute and without links.
func (m *Manager) homeDir() string {
	home := cmp.Or(m.options.Home, filepath.Dir(m.options.DataDir))
	if real, err := filepath.EvalSymlinks(home); err == nil {
		return real
	}
	return home
}
