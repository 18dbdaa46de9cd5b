package plugin

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/wire"
	"ctl.internal/internal/yang"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// index says who serves what, by the newest manifests. A plugin that is down keeps
// its place: its callers get "unavailable" instead of "not found". It is replaced as a
// whole, so reading it needs no lock.
type index struct {
	rpcs    map[string]operation   // "module:rpc"
	modules map[string]*supervisor // who implements a module; of several the first by name
	plugins []*supervisor          // in order of their names
}

type operation struct {
	s          *supervisor
	readOnly   bool
	repeatable bool
	timeout    time.Duration
}

// ReadOnly reports whether an RPC says that it changes nothing.
func (m *Manager) ReadOnly(module, rpc string) bool {
	return m.index.Load().rpcs[module+":"+rpc].readOnly
}

// operationsOf is what a manifest says of its RPCs: the annotations of their modules and, of a plugin of the contract
// before, its fields. Modules that cannot be read say nothing; the schema refuses them.
func operationsOf(m *pluginv1.Manifest) map[string]operation {
	texts := map[string][]byte{}
	for _, y := range m.GetYangModules() {
		texts[y.Name+".yang"] = []byte(y.Text)
	}
	annotated, err := yang.Operations(texts)
	if err != nil {
		annotated = nil
	}
	out := map[string]operation{}
	for _, r := range m.GetRpcs() {
		name := r.Module + ":" + r.Name
		a := annotated[name]
		out[name] = operation{
			readOnly:   a.ReadOnly || r.Safe,
			repeatable: a.Repeatable || r.Safe,
			timeout:    cmp.Or(a.Timeout, r.Timeout.AsDuration()),
		}
	}
	return out
}

func (m *Manager) rebuildIndex() {
	m.mu.Lock()
	defer m.mu.Unlock()
	x := &index{
		rpcs:    map[string]operation{},
		modules: map[string]*supervisor{},
	}
	for _, s := range m.plugins {
		x.plugins = append(x.plugins, s)
		for name, op := range s.operations {
			op.s = s
			x.rpcs[name] = op
		}
	}
	slices.SortFunc(x.plugins, func(a, b *supervisor) int {
		return strings.Compare(a.name, b.name)
	})
	for _, s := range x.plugins {
		for _, y := range s.manifest.Load().GetYangModules() {
			name, _, _ := strings.Cut(y.Name, "@")
			if y.Implemented && x.modules[name] == nil {
				x.modules[name] = s
			}
		}
	}
	m.index.Store(x)
}

// Absent returns a fault of kind Unavailable when what is asked for may be served by a plugin that is installed and has
// not served since this controller started, so that it has no place in the index; nil = it is not. match reports whether
// a manifest has it; a plugin of which no manifest is known may have it.
func (m *Manager) Absent(match func(*pluginv1.Manifest) bool) error {
	var unknown error
	for _, s := range m.index.Load().plugins {
		if s.manifest.Load() != nil {
			continue
		}
		switch mf := s.rememberedManifest(); {
		case mf == nil:
			unknown = fault.New(
				fault.Unavailable,
				"this may be served by plugin %s, which is installed and has not said yet what it serves: %s",
				s.name,
				s.explainState(),
			)
		case match(mf):
			return fault.New(
				fault.Unavailable,
				"this is served by plugin %s, which does not run: %s",
				s.name,
				s.explainState(),
			)
		}
	}
	return unknown
}

// explainState says in what state a plugin is, and the reason.
func (s *supervisor) explainState() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.machine.reason == "" {
		return "it is " + s.machine.state.String()
	}
	return "it is " + s.machine.state.String() + ": " + s.machine.reason
}

// claimServices makes what a plugin serves its own, unless another one was faster.
func (m *Manager) claimServices(s *supervisor, mf *pluginv1.Manifest) error {
	m.claims.Lock()
	defer m.claims.Unlock()
	if err := m.checkConflicts(s.name, mf); err != nil {
		return err
	}
	// A manifest that says the same stays the same value, so that a restart gives
	// no reason to compile schemas again.
	if proto.Equal(s.manifest.Load(), mf) {
		return nil
	}
	s.manifest.Store(mf)
	operations := operationsOf(mf)
	m.mu.Lock()
	s.operations = operations
	m.mu.Unlock()
	m.rebuildIndex()
	return nil
}

// checkConflicts refuses a plugin that claims what another serves.
func (m *Manager) checkConflicts(name string, mine *pluginv1.Manifest) error {
	var l fault.List
	claim := listClaims(mine)
	for _, s := range m.index.Load().plugins {
		other := s.manifest.Load()
		if s.name == name || other == nil {
			continue
		}
		for k := range listClaims(other) {
			if claim[k] {
				l = append(
					l,
					fault.New(
						fault.Exists,
						"plugin %s claims the %s, which plugin %s serves: uninstall one of them",
						name,
						k,
						s.name,
					),
				)
			}
		}
	}
	for _, s := range m.index.Load().plugins {
		other := s.manifest.Load()
		if s.name != name && other != nil {
			l = append(l, findOverlaps(name, mine, s.name, other)...)
		}
	}
	slices.SortFunc(l, func(a, b *fault.Error) int {
		return strings.Compare(a.Text, b.Text)
	})
	return l.Err()
}

// findOverlaps refuses a path that holds one of another plugin or lies below it: which of the two answers would depend on
// the order of their start.
func findOverlaps(
	name string,
	mine *pluginv1.Manifest,
	owner string,
	other *pluginv1.Manifest,
) (l fault.List) {
	for _, a := range mine.Routes {
		for _, b := range other.Routes {
			if a.Path != b.Path && (wire.Below(a.Path, b.Path) || wire.Below(b.Path, a.Path)) {
				l = append(
					l,
					fault.New(
						fault.Exists,
						"plugin %s claims the path %s, which overlaps with %s of plugin %s: uninstall one of them",
						name,
						a.Path,
						b.Path,
						owner,
					),
				)
			}
		}
	}
	return l
}

func listClaims(m *pluginv1.Manifest) map[string]bool {
	c := map[string]bool{}
	for _, r := range m.Rpcs {
		c[fmt.Sprintf("RPC %s:%s", r.Module, r.Name)] = true
	}
	for _, r := range m.Routes {
		c["path "+r.Path] = true
	}
	for _, k := range m.Commands {
		c["command "+k.Name] = true
	}
	for name := range declaredCommands(m) {
		c["command "+name] = true
	}
	return c
}

// declaredCommands are the commands that RPCs of a manifest declare, each with these RPCs, module:rpc in order of their
// names. Modules that cannot be read declare nothing; the schema refuses them.
func declaredCommands(m *pluginv1.Manifest) map[string][]string {
	texts := map[string][]byte{}
	for _, y := range m.GetYangModules() {
		if strings.Contains(y.Text, ":command") { // most have none: they need not be read here
			texts[y.Name+".yang"] = []byte(y.Text)
		}
	}
	annotated, err := yang.Operations(texts)
	if err != nil {
		return nil
	}
	out := map[string][]string{}
	for _, rpc := range slices.Sorted(maps.Keys(annotated)) {
		if a := annotated[rpc]; a.Command != "" {
			module, _, _ := strings.Cut(rpc, ":")
			name := yang.CommandName(module, a.Command)
			out[name] = append(out[name], rpc)
		}
	}
	return out
}

// checkDeclared refuses declared commands that the plugin has already, or that the controller has.
func checkDeclared(plugin string, m *pluginv1.Manifest, ownsCommand func(string) bool) error {
	var l fault.List
	declared := declaredCommands(m)
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		rpcs := declared[name]
		at := "ctl:command of rpc " + rpcs[0]
		switch {
		case len(rpcs) > 1:
			l = append(l, fault.At(fault.Exists, "ctl:command of rpc "+rpcs[1],
				"plugin %s declares the command %s for the rpc %s, too: choose another name", plugin, name, rpcs[0]))
		case slices.ContainsFunc(m.Commands, func(c *pluginv1.Command) bool { return c.Name == name }):
			l = append(l, fault.At(fault.Exists, at,
				"plugin %s has the command %s in its table of commands, too: take one of them out", plugin, name))
		case ownsCommand != nil && ownsCommand(name):
			l = append(l, fault.At(fault.Exists, at,
				"the command %s belongs to the controller: the author of plugin %s must choose another name", name, plugin))
		}
	}
	return l.Err()
}
