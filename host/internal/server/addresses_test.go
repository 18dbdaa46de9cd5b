package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorilla/mux"
	"go.yaml.in/yaml/v3"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/policy"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// things are all operations and, two levels deep, all data of the host and of every plugin of the tree,
// each with every address a client may write it at.
func things(t *testing.T) (c *catalog, all [][]string) {
	t.Helper()
	own, err := hostModules()
	if err != nil {
		t.Fatal(err)
	}
	c, err = newCatalog(own, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	aliases := []yang.AliasSet{parsed(t, own.Aliases)}
	var shared []string // modules of the BIER plugins that lie with their model
	err = filepath.WalkDir("../../..", func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), "bier-common") {
			shared, _ = filepath.Glob(filepath.Join(filepath.Dir(path), "*.yang"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var plugins []*pluginv1.Manifest
	files, _ := filepath.Glob("../../../plugins/*/plugin.yaml")
	for _, f := range files {
		p := &pluginv1.Manifest{Name: filepath.Base(filepath.Dir(f))}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct {
			Aliases                                  map[string]any `yaml:"aliases"`
			Capabilities, Owns, Derives, Reads, Uses []string
		}
		if err := yaml.Unmarshal(text, &manifest); err != nil {
			t.Fatal(err)
		}
		if p.Aliases, err = json.Marshal(manifest.Aliases); err != nil {
			t.Fatal(err)
		}
		p.Capabilities, p.Owns, p.Derives, p.Reads = manifest.Capabilities, manifest.Owns, manifest.Derives, manifest.Reads
		p.Uses = manifest.Uses
		aliases = append(aliases, parsed(t, p.Aliases))
		modules, _ := filepath.Glob(filepath.Join(filepath.Dir(f), "yang", "*.yang"))
		if strings.HasPrefix(p.Name, "bier-") {
			modules = append(modules, shared...)
		}
		for _, m := range modules {
			text, err := os.ReadFile(m)
			if err != nil {
				t.Fatal(err)
			}
			p.YangModules = append(p.YangModules, &pluginv1.YangModule{Name: strings.TrimSuffix(filepath.Base(m), ".yang"), Text: string(text), Implemented: true})
		}
		plugins = append(plugins, p)
	}
	c.updateSchema(plugins, func(string, string) bool { return true })
	for owner, why := range *c.bad.Load() {
		t.Fatalf("%s: %s", owner, why)
	}
	names := func(module string) []string {
		out := []string{module}
		for _, a := range aliases {
			for other, m := range a.Modules {
				if m == module {
					out = append(out, other)
				}
			}
		}
		return out
	}
	for _, m := range c.Installed().Schema.Modules() {
		for _, r := range m.RPCs {
			rpcs := []string{r.Name}
			for _, a := range aliases {
				for other, rpc := range a.RPCs {
					if module, name, _ := strings.Cut(other, ":"); module == m.Name && rpc == r.Name {
						rpcs = append(rpcs, name)
					}
				}
			}
			var at []string
			for _, root := range []string{"/restconf/operations/", "/rests/operations/", "/operations/"} {
				for _, module := range names(m.Name) {
					for _, rpc := range rpcs {
						at = append(at, root+module+":"+rpc)
					}
				}
			}
			all = append(all, at)
		}
	}
	for _, n := range c.Installed().Schema.Root.Members() {
		for _, child := range append(n.Members(), nil) {
			if at := dataAddresses(c.Installed().Schema, names(n.Module), n, child); at != nil {
				all = append(all, at)
			}
		}
	}
	return c, all
}

func parsed(t *testing.T, text []byte) yang.AliasSet {
	t.Helper()
	a, err := yang.ParseAliases(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// dataAddresses are those of a top-level node, or of a child of it, an entry if it is a list; nil if no
// key could be made up.
func dataAddresses(set *yang.Set, modules []string, n, child *yang.Node) (out []string) {
	tops := []string{n.Name}
	if set.Root.Member(n.Name) != n {
		tops = nil
	}
	for _, m := range modules {
		tops = append(tops, m+":"+n.Name)
	}
	below := []string{""}
	if child != nil {
		below = []string{"/" + child.Name, "/" + child.QName()}
		if n.IsList() || child.Module != n.Module {
			return nil
		}
		if child.Kind == yang.List && len(child.Keys) == 1 {
			key := ""
			for _, k := range []string{"1", "a", "a:1", "10.0.0.1", "00:00:00:00:00:01"} {
				if _, err := child.Keys[0].Canonical(k); err == nil {
					key = k
				}
			}
			if key == "" {
				return nil
			}
			for _, b := range below {
				out = append(out, b+"="+key, b+"/"+key)
			}
			below, out = out, nil
		}
	}
	for _, root := range []string{"/restconf/config/", "/restconf/operational/", "/restconf/data/", "/rests/data/",
		"/rests/ds/ietf-datastores:running/", "/rests/ds/ietf-datastores:operational/"} {
		for _, top := range tops {
			for _, b := range below {
				out = append(out, root+top+b)
			}
		}
	}
	return out
}

// Who may not read data may not follow its changes.
func TestChangesAreReadWithTheirData(t *testing.T) {
	c, _ := things(t)
	s := serverWith(t, c, "[urls]\n/rests/data/aaa:http-authorization/** = authcBasic, roles[admin]\n/** = authcBasic\n")
	for _, root := range []string{"/rests/streams/json", "/rests/streams/xml", "/rests/streams/stream", "/rests/streams", "/restconf/streams/stream", "/restconf/streams"} {
		for user, want := range map[string]int{"user": 401, "admin": 200} {
			r := httptest.NewRequest("GET", root+"/data-change/running/aaa:http-authorization/policies", nil)
			r.SetBasicAuth(user, user)
			w := httptest.NewRecorder()
			s.aaa.Filter(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) })).ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%s as %s: %d, want %d", root, user, w.Code, want)
			}
		}
	}
}

// A rule or policy about one address of an operation or of data holds at all of them.
func TestOneThingOneDecision(t *testing.T) {
	c, all := things(t)
	if len(all) < 80 {
		t.Fatalf("%d things", len(all))
	}
	addresses := 0
	for _, at := range all {
		addresses += len(at)
	}
	t.Logf("%d operations and data nodes with %d addresses", len(all), addresses)
	ask := func(s *Server, user, method, path string) int {
		r := httptest.NewRequest(method, path, nil)
		r.SetBasicAuth(user, user)
		w := httptest.NewRecorder()
		s.aaa.Filter(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) })).ServeHTTP(w, r)
		return w.Code
	}
	check := func(what string, s *Server, at []string, ruled string) {
		for _, address := range at {
			if got := ask(s, "user", "POST", address); got != 401 {
				t.Errorf("%s about %s: user at %s: %d", what, ruled, address, got)
			}
			if got := ask(s, "admin", "POST", address); got != 200 {
				t.Errorf("%s about %s: admin at %s: %d", what, ruled, address, got)
			}
		}
	}
	s := serverWith(t, c, "[urls]\n/** = authcBasic, dynamicAuthorization\n")
	for i, at := range all {
		ruled := at[i%len(at)]
		if err := s.aaa.Policies().Set([]policy.Policy{{Resource: ruled, Permissions: []policy.Permission{{Role: "admin", Actions: policy.Actions}}}}); err != nil {
			t.Fatal(err)
		}
		check("a policy", s, at, ruled)
	}
	for shift := range 3 {
		ini := "[urls]\n"
		for i, at := range all {
			ini += at[(i+7*shift+1)%len(at)] + " = authcBasic, roles[admin]\n"
		}
		s := serverWith(t, c, ini+"/** = authcBasic\n")
		for i, at := range all {
			check("a rule", s, at, at[(i+7*shift+1)%len(at)])
		}
	}
	s = serverWith(t, c, "[urls]\n/** = authcBasic, dynamicAuthorization\n")
	for _, at := range all {
		for _, address := range at {
			if got := ask(s, "user", "POST", address); got != 200 {
				t.Errorf("without a rule: user at %s: %d", address, got)
			}
		}
	}
}

// With the rules as shipped, policies do not decide about themselves: upstream's lists, which speak of one
// address only, are taken, and the administrator can change them again.
func TestPoliciesForOneTreeAreTaken(t *testing.T) {
	c, _ := things(t)
	ini, err := os.ReadFile("../../../etc/sec.ini")
	if err != nil {
		t.Fatal(err)
	}
	s := serverWith(t, c, string(ini))
	for _, list := range []string{
		`[{"resource":"/restconf/operational/**","permissions":[{"role":"user","actions":["get"]}]}]`,
		`[{"resource":"/restconf/config/aaa:http-authorization/**","permissions":[{"role":"admin","actions":["put"]}]},{"resource":"/**","permissions":[{"role":"admin","actions":["get"]}]}]`,
	} {
		content := json.RawMessage(`{"policies":{"policies":` + list + `}}`)
		if err := s.aaa.Check(t.Context(), aaa.PolicyNode, content); err != nil {
			t.Errorf("%s: %v", list, err)
		}
		if err := s.aaa.Apply(t.Context(), aaa.PolicyNode, content); err != nil {
			t.Error(err)
		}
		r := httptest.NewRequest("PUT", "/restconf/config/aaa:http-authorization/policies", nil)
		r.SetBasicAuth("admin", "admin")
		w := httptest.NewRecorder()
		s.aaa.Filter(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		if w.Code != 200 {
			t.Errorf("with %s admin changes policies no more: %d", list, w.Code)
		}
	}
}

// A rule for one path of what a plugin serves holds at the other names that its manifest gives it.
func TestOtherRoutesOfPluginsAreOneThing(t *testing.T) {
	s := serverWith(t, nil, "[urls]\n/repoinfo/review/changes = authcBasic, roles[admin]\n/repoinfo/gerrit/projects/** = authcBasic, roles[admin]\n/** = authcBasic\n")
	s.router = newRouter(func(*mux.Router) {}, func(string) http.Handler { return http.NotFoundHandler() })
	s.router.updateRoutes([]*pluginv1.Manifest{{Name: "repoinfo", Routes: []*pluginv1.Route{{Path: "/repoinfo", Aliases: []*pluginv1.RouteAlias{
		{Path: "/repoinfo/gerrit", Target: "/repoinfo/review"},
		{Path: "/repoinfo/review/merged_changes", Target: "/repoinfo/review/changes"},
	}}}}})
	for path, want := range map[string]int{
		"/repoinfo/review/changes": 401, "/repoinfo/gerrit/changes": 401, "/repoinfo/review/merged_changes": 401, "/repoinfo/gerrit/merged_changes": 401,
		"/repoinfo/gerrit/merged_changes/": 401, "/repoinfo/review/projects": 401, "/repoinfo/gerrit/projects/x": 401, "/repoinfo/review/other": 200, "/repoinfo/git/x": 200,
	} {
		r := httptest.NewRequest("GET", path, nil)
		r.SetBasicAuth("user", "user")
		w := httptest.NewRecorder()
		s.aaa.Filter(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("user at %s: %d, want %d", path, w.Code, want)
		}
	}
}

// A rule for a project holds whether its name is in the path or in the query, and a rule for the documented
// address holds where the project is in the path.
func TestAProjectInTheQueryIsOneInThePath(t *testing.T) {
	s := serverWith(t, nil, "[urls]\n/repoinfo/projects/secret/** = authcBasic, roles[admin]\n/repoinfo/projects/group/name/** = authcBasic, roles[admin]\n"+
		"/repoinfo/git/branches = authcBasic, roles[admin]\n/** = authcBasic\n")
	s.router = newRouter(func(*mux.Router) {}, func(string) http.Handler { return http.NotFoundHandler() })
	s.router.updateRoutes([]*pluginv1.Manifest{{Name: "repoinfo", Routes: []*pluginv1.Route{{
		Path:       "/repoinfo",
		Aliases:    []*pluginv1.RouteAlias{{Path: "/repoinfo/gerrit", Target: "/repoinfo/review"}},
		Parameters: []*pluginv1.RouteParameter{{Name: "project", Segment: "projects"}},
	}}}})
	for address, want := range map[string]int{
		"/repoinfo/projects/secret/git/tags": 401, "/repoinfo/git/tags?project=secret": 401, "/repoinfo/gerrit/changes?project=secret": 401,
		"/repoinfo/review/changes?branch=x&project=secret": 401, "/repoinfo/git/tags?project=group%2Fname": 401, "/repoinfo/git/tags?project=open&project=secret": 401,
		"/repoinfo/git/tags?project=open": 200, "/repoinfo/projects/open/git/tags": 200, "/repoinfo/projects/open/git/branches": 401, "/repoinfo/git/tags": 200,
		"/repoinfo/projects/secret": 401, "/repoinfo/projects/open": 200, "/repoinfo/projects": 200,
	} {
		r := httptest.NewRequest("GET", address, nil)
		r.SetBasicAuth("user", "user")
		w := httptest.NewRecorder()
		s.aaa.Filter(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("user at %s: %d, want %d", address, w.Code, want)
		}
	}
}

// The addresses that the test above makes up are read as the same thing by RESTCONF's own reader.
func TestAddressesOfDataAreOneThing(t *testing.T) {
	c, all := things(t)
	now := c.Installed()
	for _, at := range all {
		key := ""
		for _, address := range at {
			parts := strings.Split(address, "/")
			if strings.Contains(address, "operations/") {
				continue
			}
			depth := 3
			if parts[2] == "ds" {
				depth = 4
			}
			var below []reqpath.Segment
			for _, p := range parts[depth:] {
				below = append(below, reqpath.Segment{Raw: p, Decoded: p})
			}
			p, err := tree.Parse(now.Schema, below, now.Aliases.Module)
			if err != nil {
				t.Fatalf("%s: %v", address, err)
			}
			if key == "" {
				key = p.Key()
			}
			if p.Key() != key {
				t.Errorf("%s is %s, not %s", address, p.Key(), key)
			}
		}
	}
}

func serverWith(t *testing.T, c *catalog, ini string) *Server {
	t.Helper()
	store := storetest.New(storetest.Options{})
	t.Cleanup(func() { store.Close() })
	s := &Server{catalog: c}
	var err error
	s.aaa, err = aaa.New(context.Background(), aaa.Options{Store: store, SecINI: []byte(ini), First: identity.First{Admin: "admin", User: "user"}, Names: s.otherNames, Routes: s.otherRoutes, MadeOf: s.madeOf, Canonical: s.canonicalPath, ActsOn: s.actsOn})
	if err != nil {
		t.Fatal(fmt.Errorf("%w\n%s", err, ini))
	}
	return s
}
