package sdk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"ctl.internal/internal/nearest"
	"ctl.internal/internal/wire"
	"ctl.internal/internal/yang"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/commands"
)

// manifestFile is plugin.yaml.
type manifestFile struct {
	Name         string   `yaml:"name"`
	Version      string   `yaml:"version"`
	Summary      string   `yaml:"summary"`
	Capabilities []string `yaml:"capabilities"`
	YANG         struct {
		Implements []string `yaml:"implements"`
	} `yaml:"yang"`
	// Operations is of the contract before ctl-schema and still translated; annotations in the modules say it now.
	Operations struct {
		// Safe lists "module:rpc" patterns (path.Match) of calls that change nothing.
		Safe     []string                 `yaml:"safe"`
		Timeouts map[string]time.Duration `yaml:"timeouts"`
	} `yaml:"operations"`
	Routes    []routeEntry      `yaml:"routes"`
	Config    map[string]any    `yaml:"config"`
	Aliases   map[string]any    `yaml:"aliases"`
	Labels    map[string]string `yaml:"labels"`
	Uses      []string          `yaml:"uses"`
	Publishes []string          `yaml:"publishes"`
	Streams   []string          `yaml:"streams"`
	Owns      []string          `yaml:"owns"`
	Derives   []string          `yaml:"derives"`
	Reads     []string          `yaml:"reads"`
	Exports   []string          `yaml:"exports"`
	Roles     []string          `yaml:"roles"`
	Nodes     string            `yaml:"nodes"`
	// Requests are grants that the plugin wants: one key with the kind and what exactly, and why.
	Requests []map[string]string `yaml:"requests"`
}

// routeEntry is an entry of routes.
type routeEntry struct {
	Path    string `yaml:"path"`
	Summary string `yaml:"summary"`
	Aliases []struct {
		Path   string `yaml:"path"`
		Target string `yaml:"target"`
	} `yaml:"aliases"`
	Parameters []struct {
		Name    string `yaml:"name"`
		Segment string `yaml:"segment"`
	} `yaml:"parameters"`
}

func (e routeEntry) toProto() *pluginv1.Route {
	r := &pluginv1.Route{Path: e.Path, Summary: e.Summary}
	for _, a := range e.Aliases {
		r.Aliases = append(r.Aliases, &pluginv1.RouteAlias{
			Path:   a.Path,
			Target: a.Target,
		})
	}
	for _, p := range e.Parameters {
		r.Parameters = append(
			r.Parameters,
			&pluginv1.RouteParameter{
				Name:    p.Name,
				Segment: p.Segment,
			},
		)
	}
	return r
}

// buildManifest makes the manifest from plugin.yaml, the YANG modules and the
// command table. An error names the field that is wrong.
func buildManifest(o Options) (*pluginv1.Manifest, error) {
	var f manifestFile
	dec := yaml.NewDecoder(bytes.NewReader(o.Manifest))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("plugin.yaml: %w", err)
	}
	if f.Name == "" || strings.ContainsAny(f.Name, "/\\ \t\n:") {
		return nil, fmt.Errorf(
			"plugin.yaml: name: %q must be one word without / \\ : or blanks",
			f.Name,
		)
	}
	if f.Version == "" || f.Summary == "" {
		return nil, fmt.Errorf("plugin.yaml: version and summary are required")
	}
	for _, c := range f.Capabilities {
		if all := capabilityNames(); !slices.Contains(all, c) {
			return nil, fmt.Errorf(
				"plugin.yaml: capabilities: %q is not one of %s",
				c,
				strings.Join(all, ", "),
			)
		}
	}
	m := &pluginv1.Manifest{
		Name:         f.Name,
		Version:      f.Version,
		Summary:      f.Summary,
		ApiVersions:  wire.APIVersions,
		Capabilities: f.Capabilities,
		Commands:     commands.ToProto(o.Commands),
		Labels:       f.Labels,
		Uses:         f.Uses,
		Publishes:    f.Publishes,
		Streams:      f.Streams,
		Owns:         f.Owns,
		Derives:      f.Derives,
		Reads:        f.Reads,
		Exports:      f.Exports,
		Roles:        f.Roles,
		SingleNode:   f.Nodes == "one",
	}
	if f.Nodes != "" && f.Nodes != "one" && f.Nodes != "all" {
		return nil, fmt.Errorf("plugin.yaml: nodes: %q is neither one nor all", f.Nodes)
	}
	if err := addRequests(m, f); err != nil {
		return nil, err
	}
	for _, r := range f.Routes {
		m.Routes = append(m.Routes, r.toProto())
	}
	if err := wire.CheckRoutes(m.Routes); err != nil {
		return nil, fmt.Errorf("plugin.yaml: %w", err)
	}
	var err error
	if m.ConfigSchema, err = jsonOf(f.Config); err != nil {
		return nil, fmt.Errorf("plugin.yaml: config: %w", err)
	}
	if m.Aliases, err = jsonOf(f.Aliases); err != nil {
		return nil, fmt.Errorf("plugin.yaml: aliases: %w", err)
	}
	if err := addModules(m, f, o.YANG); err != nil {
		return nil, err
	}
	return m, checkOperations(m, f, o.Manifest)
}

// checkOperations refuses what plugin.yaml says of RPCs that no module has: a name that is misspelt would have
// no effect.
func checkOperations(m *pluginv1.Manifest, f manifestFile, text []byte) error {
	var all []string
	for _, r := range m.Rpcs {
		all = append(all, r.Module+":"+r.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Operations.Timeouts)) {
		if !slices.Contains(all, name) {
			return fmt.Errorf(
				"plugin.yaml:%d: operations.timeouts: the modules of the plugin have no RPC %q%s",
				lineOf(text, name),
				name,
				nearest.Hint(name, all),
			)
		}
	}
	for _, pattern := range f.Operations.Safe {
		matches := func(name string) bool {
			ok, _ := path.Match(pattern, name)
			return ok
		} // addRPCs has refused a bad one
		if !slices.ContainsFunc(all, matches) {
			return fmt.Errorf(
				"plugin.yaml:%d: operations.safe: no RPC of the plugin's modules matches %q%s",
				lineOf(text, pattern),
				pattern,
				nearest.Hint(pattern, all),
			)
		}
	}
	return nil
}

// lineOf returns the number of the first line that holds a word.
func lineOf(text []byte, word string) int {
	before, _, _ := strings.Cut(string(text), word)
	return 1 + strings.Count(before, "\n")
}

// requestKinds are what a plugin can request.
var requestKinds = []string{"rpc", "data", "service", "plugins", "stream", "certificate", "listen", "connect", "read", "write", "run"}

func addRequests(m *pluginv1.Manifest, f manifestFile) error {
	for i, keys := range f.Requests {
		r := &pluginv1.Request{Why: keys["why"]}
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			switch {
			case k == "why":
			case !slices.Contains(requestKinds, k):
				return fmt.Errorf(
					"plugin.yaml: requests[%d]: %q is not one of %s, why%s",
					i,
					k,
					strings.Join(requestKinds, ", "),
					nearest.Hint(k, requestKinds),
				)
			case r.Kind != "":
				return fmt.Errorf(
					"plugin.yaml: requests[%d]: %s and %s are two requests",
					i,
					r.Kind,
					k,
				)
			default:
				r.Kind, r.Value = k, keys[k]
			}
		}
		if r.Kind == "" || r.Value == "" {
			return fmt.Errorf(
				"plugin.yaml: requests[%d]: it needs one of %s with a value",
				i,
				strings.Join(requestKinds, ", "),
			)
		}
		m.Requests = append(m.Requests, r)
	}
	return nil
}

func jsonOf(v map[string]any) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	return json.Marshal(v)
}

// addModules ships every module of the plugin and lists the RPCs of those it implements.
func addModules(m *pluginv1.Manifest, f manifestFile, fsys fs.FS) error {
	missing := slices.Clone(f.YANG.Implements)
	if fsys != nil {
		files, _ := fs.Glob(fsys, "*.yang") // the patterns are well-formed
		nested, _ := fs.Glob(fsys, "*/*.yang")
		for _, file := range append(files, nested...) {
			text, err := fs.ReadFile(fsys, file)
			if err != nil {
				return err
			}
			name := strings.TrimSuffix(path.Base(file), ".yang")
			bare, _, _ := strings.Cut(name, "@")
			implemented := slices.Contains(f.YANG.Implements, bare)
			missing = slices.DeleteFunc(missing, func(s string) bool { return s == bare })
			m.YangModules = append(
				m.YangModules,
				&pluginv1.YangModule{
					Name:        name,
					Text:        string(text),
					Implemented: implemented,
				},
			)
			if implemented {
				if err := addRPCs(m, f, bare, file, string(text)); err != nil {
					return err
				}
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf(
			"plugin.yaml: yang.implements: no file for module %s",
			strings.Join(missing, ", "),
		)
	}
	return nil
}

func addRPCs(m *pluginv1.Manifest, f manifestFile, module, file, text string) error {
	names, err := yang.RPCNames(module, file, []byte(text))
	if err != nil {
		return err
	}
	for _, name := range names {
		full := module + ":" + name
		rpc := &pluginv1.Rpc{Module: module, Name: name}
		for _, pattern := range f.Operations.Safe {
			ok, err := path.Match(pattern, full)
			if err != nil {
				return fmt.Errorf("plugin.yaml: operations.safe: pattern %q: %w", pattern, err)
			}
			rpc.Safe = rpc.Safe || ok
		}
		if d, ok := f.Operations.Timeouts[full]; ok {
			rpc.Timeout = durationpb.New(d)
		}
		m.Rpcs = append(m.Rpcs, rpc)
	}
	return nil
}
