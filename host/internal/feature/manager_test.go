package feature

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/home"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakePlugins records what runs and fails where a test says.
type fakePlugins struct {
	mu      sync.Mutex
	running map[string]PluginSpec
	log     []string
	fails   map[string]error
	hook    func() // called by Ensure
	needs   map[string][]grant.Request
}

func (p *fakePlugins) Ensure(_ context.Context, s PluginSpec) error {
	if p.hook != nil {
		p.hook()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, "ensure "+s.Name)
	if err := p.fails[s.Name]; err != nil {
		return err
	}
	if needed := p.needs[s.Name]; len(needed) > 0 {
		if err := s.Held.Check(&pluginv1.Manifest{Name: s.Name, Version: "1"}, needed); err != nil {
			return err
		}
	}
	p.running[s.Name] = s
	return nil
}

func (p *fakePlugins) Remove(_ context.Context, name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, "remove "+name)
	delete(p.running, name)
	return nil
}

func (p *fakePlugins) Verify(name string) error { return p.fails[name] }

func (p *fakePlugins) Grant(name string, held grant.Held) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, ok := p.running[name]; ok {
		s.Held = held
		p.running[name] = s
	}
}

func (p *fakePlugins) names() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for n := range p.running {
		out = append(out, n)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

const testCatalogue = `name: test
features:
- {name: base, version: 1.0.0, boot: true}
- {name: sw, version: 1.0.0, description: "switches", depends: [base], plugins: [{name: switch}], config: [etc/switch.yaml],
   facets: [{facet: rest, plugin: switch, modules: [vlan, "fdb*"]}]}
- {name: sw-cli, version: 1.0.0, depends: [sw], facets: [{facet: cli, plugin: switch, commands: ["switch:*"]}]}
- {name: driver, version: 1.0.0, depends: [sw], plugins: [{name: driver, args: [--x]}], config: [etc/switch.yaml, etc/driver.yaml]}
- {name: later, version: 1.0.0, available: false, until: "the next release"}
- {name: hidden, version: 1.0.0}
- {name: lost, version: 1.0.0, plugins: [{name: gone}]}
`

// host is a controller that can be restarted.
type host struct {
	t       *testing.T
	dir     home.Dir
	store   *storetest.Store
	plugins *fakePlugins
	gone    []string // plugins without a file
	boot    []string
	booted  []string // what was required at the first start, one line a report
	m       *Manager
	facets  []string // published, one line each
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{t: t, dir: home.Dir(t.TempDir()), store: storetest.New(storetest.Options{}), gone: []string{"gone"}}
	t.Cleanup(func() { h.store.Close() })
	h.file("features.yaml", testCatalogue)
	h.restart()
	return h
}

func (h *host) file(name, text string) string {
	h.t.Helper()
	path := h.dir.Path(name)
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		if err := os.MkdirAll(path[:i], 0o700); err != nil {
			h.t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

func (h *host) restart() {
	h.t.Helper()
	h.load()
	if err := h.m.Restore(context.Background()); err != nil {
		h.t.Fatal(err)
	}
}

// load makes a manager that has read what is stored and runs nothing yet.
func (h *host) load() {
	h.t.Helper()
	var needs map[string][]grant.Request
	if h.plugins != nil {
		needs = h.plugins.needs
	}
	h.plugins = &fakePlugins{running: map[string]PluginSpec{}, fails: map[string]error{}, needs: needs}
	m, err := New(context.Background(), Options{Dir: h.dir, Store: h.store, Plugins: h.plugins, Boot: h.boot, Log: slog.New(slog.DiscardHandler),
		Booted: func(names []string) { h.booted = append(h.booted, strings.Join(names, " ")) },
		Locate: func(name string) (string, string, error) {
			if slices.Contains(h.gone, name) {
				return "", "", fmt.Errorf("plugin %s is not there", name)
			}
			return "/plugins/" + name, "", nil
		},
		Publish: func(t Target) {
			kinds := t.facetKinds("switch")
			h.facets = append(h.facets, fmt.Sprint(slices.Contains(kinds, Rest), slices.Contains(kinds, CLI), slices.Contains(kinds, UI)))
		}})
	if err != nil {
		h.t.Fatal(err)
	}
	h.m = m
}

func (h *host) install(names ...string) {
	h.t.Helper()
	if _, err := h.m.Install(context.Background(), names, InstallOptions{}); err != nil {
		h.t.Fatal(err)
	}
}

// wants checks what is installed (with the state's first letter) and what runs.
func (h *host) wants(installed, running string) {
	h.t.Helper()
	if got := h.installed(); got != installed || h.plugins.names() != running {
		h.t.Fatalf("installed %q, running %q; want %q, %q", got, h.plugins.names(), installed, running)
	}
}

func (h *host) installed() string {
	var out []string
	for _, i := range h.m.List() {
		if i.State != Uninstalled {
			out = append(out, i.Name+":"+i.State[:1])
		}
	}
	return strings.Join(out, " ")
}

func TestInstallBringsDependenciesAndUninstallTakesThemAway(t *testing.T) {
	h := newHost(t)
	h.wants("base:S", "")
	h.install("driver", "sw-cli")
	h.wants("base:S driver:S sw:S sw-cli:S", "driver switch")
	if diff := cmp.Diff([]string{"ensure switch", "ensure driver"}, h.plugins.log); diff != "" {
		t.Fatal(diff)
	}
	if got := h.plugins.running["driver"]; got.Path != "/plugins/driver" || !slices.Equal(got.Args, []string{"--x"}) {
		t.Fatalf("%+v", got)
	}
	if got := h.plugins.running["switch"].Facets; !slices.Equal(got, []string{"cli", "rest"}) {
		t.Fatalf("facets %v", got)
	}
	if _, err := h.m.Uninstall(context.Background(), []string{"driver", "sw-cli"}, UninstallOptions{}); err != nil {
		t.Fatal(err)
	}
	h.wants("base:S", "")
}

func TestFacetsAreWhatFeaturesSwitchOn(t *testing.T) {
	h := newHost(t)
	if a := h.m.Active(); a.Rest("switch", "vlan") || a.CLI("switch", "switch:PrintDB") {
		t.Fatal("facets of what is not installed")
	}
	h.install("sw")
	a := h.m.Active()
	if !a.Rest("switch", "vlan") || !a.Rest("switch", "fdb-x") || a.Rest("switch", "acl") || a.Rest("other", "vlan") || a.CLI("switch", "switch:PrintDB") {
		t.Fatalf("%+v", a.facets)
	}
	h.install("sw-cli")
	if a := h.m.Active(); !a.CLI("switch", "switch:PrintDB") || a.CLI("switch", "aaa:x") || a.UI("switch", "vlan") {
		t.Fatalf("%+v", a.facets)
	}
	if diff := cmp.Diff([]string{"false false false", "true false false", "true true false"}, h.facets); diff != "" {
		t.Fatal(diff)
	}
}

func TestInstalledFeaturesSurviveARestartAndBootIsReadOnce(t *testing.T) {
	h := newHost(t)
	h.install("sw")
	if _, err := h.m.Uninstall(context.Background(), []string{"sw"}, UninstallOptions{}); err != nil {
		t.Fatal(err)
	}
	h.install("driver")
	h.boot = []string{"sw-cli"} // edited later: neither installs nor uninstalls
	h.restart()
	h.wants("base:S driver:S sw:S", "driver switch")
	if got := fmt.Sprint(h.m.Requirements()); got != "[base driver]" {
		t.Fatalf("requirements %s", got)
	}
	if got := strings.Join(h.booted, ", "); got != "base" {
		t.Errorf("reported as installed at the first start: %q", got)
	}
}

// TestUninstalledButStillNeeded: what was asked for and cannot go says for whom it stays.
func TestUninstalledButStillNeeded(t *testing.T) {
	h := newHost(t)
	h.install("sw")
	h.install("driver")
	c, err := h.m.Uninstall(t.Context(), []string{"sw"}, UninstallOptions{})
	if want := []string{"sw stays: driver needs it. It goes with the last that needs it"}; err != nil || !slices.Equal(c.Stay, want) {
		t.Errorf("%v, %v", c.Stay, err)
	}
	if c, err = h.m.Uninstall(t.Context(), []string{"driver"}, UninstallOptions{}); err != nil || len(c.Stay) != 0 || len(c.Uninstall) != 2 {
		t.Errorf("%v, %v", c, err)
	}
}

func TestFeaturesOfACommand(t *testing.T) {
	h := newHost(t)
	if got := h.m.ForCommand("switch:list"); !slices.Equal(got, []string{"sw-cli"}) {
		t.Errorf("%v", got)
	}
	if got := h.m.ForCommand("nobody:list"); len(got) != 0 {
		t.Errorf("%v", got)
	}
	h.install("sw-cli")
	if got := h.m.ForCommand("switch:list"); len(got) != 0 {
		t.Errorf("of an installed feature: %v", got)
	}
}

func TestErrorsSayWhatToDoAndChangeNothing(t *testing.T) {
	h := newHost(t)
	h.install("driver")
	cases := map[string]struct {
		do   func(context.Context) error
		want string
		kind fault.Kind
	}{
		"unknown":                 {h.doInstall("drivr"), `there is no feature "drivr" (did you mean "driver"?)`, fault.NotFound},
		"one bad name of two":     {h.doInstall("sw-cli", "nothing-like-it"), `there is no feature "nothing-like-it"`, fault.NotFound},
		"later":                   {h.doInstall("later"), "feature later is not yet available: the next release", fault.Unsupported},
		"a lost file":             {h.doInstall("lost"), "feature lost: plugin gone is not there", fault.NotFound},
		"a bad name":              {h.doInstall("a b"), `"a b" is not a feature's name: use letters, digits, hyphens, dots and underscores`, fault.Invalid},
		"needed by another":       {h.doUninstall("sw"), "feature sw is a dependency: driver needs it. Uninstall that instead", fault.InUse},
		"not installed":           {h.doUninstall("sw-cli"), "feature sw-cli is not installed", fault.NotFound},
		"not installed, misspelt": {h.doUninstall("drivre"), `feature drivre is not installed (did you mean "driver"?)`, fault.NotFound},
		"another version":         {h.doUninstall("driver/2"), "feature driver/[2.0.0,2.0.0] is not installed; version 1.0.0 of it is", fault.NotFound},
		"stop":                    {func(ctx context.Context) error { _, err := h.m.Stop(ctx, "sw-cli"); return err }, "feature sw-cli is not installed", fault.NotFound},
		"info":                    {func(context.Context) error { _, err := h.m.Info("sw", "3"); return err }, "feature sw has no version 3.0.0; there is 1.0.0", fault.NotFound},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := c.do(context.Background())
			if err == nil || err.Error() != c.want || fault.KindOf(err) != c.kind {
				t.Fatalf("got  %v\nwant %s (%v)", err, c.want, c.kind)
			}
			h.wants("base:S driver:S sw:S", "driver switch")
		})
	}
}

func (h *host) doInstall(names ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := h.m.Install(ctx, names, InstallOptions{})
		return err
	}
}

func (h *host) doUninstall(names ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := h.m.Uninstall(ctx, names, UninstallOptions{})
		return err
	}
}

func TestPluginThatDoesNotStartLeavesEverythingAsItWas(t *testing.T) {
	h := newHost(t)
	h.install("sw")
	published := len(h.facets)
	h.plugins.log = nil
	h.plugins.fails["driver"] = errors.New("exec format error")
	_, err := h.m.Install(context.Background(), []string{"sw-cli", "driver"}, InstallOptions{})
	if err == nil || !strings.Contains(err.Error(), "exec format error") || fault.KindOf(err) != fault.Unavailable {
		t.Fatal(err)
	}
	h.wants("base:S sw:S", "switch")
	if diff := cmp.Diff([]string{"ensure switch", "ensure driver", "remove driver", "ensure switch"}, h.plugins.log); diff != "" {
		t.Fatal(diff)
	}
	if got := h.plugins.running["switch"].Facets; !slices.Equal(got, []string{"rest"}) || len(h.facets) != published {
		t.Fatalf("facets %v, published %v", got, h.facets[published:])
	}
	h.restart()
	h.wants("base:S sw:S", "switch")
}

func TestStoreThatRefusesLeavesEverythingAsItWas(t *testing.T) {
	h := newHost(t)
	h.store.Close()
	if err := h.doInstall("sw")(context.Background()); err == nil {
		t.Fatal("installed without a store")
	}
	h.wants("base:S", "")
}

func TestSimulateChangesNothing(t *testing.T) {
	h := newHost(t)
	h.plugins.log = nil
	c, err := h.m.Install(context.Background(), []string{"driver"}, InstallOptions{Simulate: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"install feature sw/1.0.0", "install feature driver/1.0.0", "run plugin switch", "run plugin driver"}
	if diff := cmp.Diff(want, c.Lines()); diff != "" {
		t.Fatal(diff)
	}
	h.wants("base:S", "")
	h.install("driver")
	c, err = h.m.Uninstall(context.Background(), []string{"driver"}, UninstallOptions{Simulate: true, DeleteConfig: true})
	want = []string{"stop plugin driver", "stop plugin switch", "uninstall feature driver/1.0.0", "uninstall feature sw/1.0.0"}
	if diff := cmp.Diff(want, c.Lines()); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	h.wants("base:S driver:S sw:S", "driver switch")
	if c, err := h.m.Install(context.Background(), []string{"driver"}, InstallOptions{}); err != nil || !c.Empty() {
		t.Fatalf("installing again: %v, %v", c.Lines(), err)
	}
}

func TestStopAndStart(t *testing.T) {
	h := newHost(t)
	h.install("driver", "sw-cli")
	ctx := context.Background()
	if _, err := h.m.Stop(ctx, "sw"); err != nil {
		t.Fatal(err)
	}
	h.wants("base:S driver:R sw:R sw-cli:R", "") // what depends on it rests, too
	h.restart()
	h.wants("base:S driver:R sw:R sw-cli:R", "")
	if _, err := h.m.Start(ctx, "driver"); err != nil {
		t.Fatal(err)
	}
	h.wants("base:S driver:S sw:S sw-cli:S", "driver switch")
	if _, err := h.m.Stop(ctx, "driver"); err != nil {
		t.Fatal(err)
	}
	h.wants("base:S driver:R sw:S sw-cli:S", "switch")
}

func TestInstallWithoutStart(t *testing.T) {
	h := newHost(t)
	if _, err := h.m.Install(context.Background(), []string{"driver"}, InstallOptions{NoStart: true}); err != nil {
		t.Fatal(err)
	}
	h.wants("base:S driver:R sw:R", "")
	h.install("driver")
	h.wants("base:S driver:S sw:S", "driver switch")
}

func TestUninstallDeletesSettingsWhenAsked(t *testing.T) {
	h := newHost(t)
	shared, own := h.file("etc/switch.yaml", "x"), h.file("etc/driver.yaml", "x")
	h.install("sw", "driver")
	if _, err := h.m.Uninstall(context.Background(), []string{"driver"}, UninstallOptions{DeleteConfig: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(own); !os.IsNotExist(err) {
		t.Error("the settings of what went are still there")
	}
	if _, err := os.Stat(shared); err != nil {
		t.Error("settings that an installed feature still has were deleted")
	}
}

func TestLostPluginDoesNotBlockTheOthers(t *testing.T) {
	h := newHost(t)
	h.install("driver", "sw")
	h.gone = append(h.gone, "driver")
	h.restart()
	h.wants("base:S driver:U sw:S", "switch")
	if i, err := h.m.Info("driver", ""); err != nil || !strings.Contains(i.Note, "is not there") || !i.Required {
		t.Fatalf("%+v, %v", i, err)
	}
	if err := h.doInstall("driver")(context.Background()); err == nil || !strings.Contains(err.Error(), "is not there") {
		t.Fatal(err)
	}
	h.install("sw-cli")
	h.wants("base:S driver:U sw:S sw-cli:S", "switch")
	h.gone = h.gone[:1]
	h.restart()
	h.wants("base:S driver:S sw:S sw-cli:S", "driver switch")
}

func TestPluginThatFailsAtBootIsLeftToItsSupervisor(t *testing.T) {
	h := newHost(t)
	h.install("driver")
	h.restart()
	h.plugins.fails["switch"] = errors.New("no")
	if err := h.m.Restore(context.Background()); err != nil {
		t.Fatal(err)
	}
	h.wants("base:S driver:S sw:S", "driver switch")
}

func TestQueriesDoNotWaitForAPlugin(t *testing.T) {
	h := newHost(t)
	asked := false
	h.plugins.hook = func() { // in the middle of an installation
		asked = len(h.m.List()) > 0 && len(h.m.Requirements()) == 1 && len(h.m.Repositories()) == 1
	}
	h.install("sw")
	if !asked {
		t.Fatal("the queries do not answer while a plugin starts")
	}
}
