package tables

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"ctl.internal/host/internal/console/engine"
	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

type fakePlugins struct{ done *[]string }

func (fakePlugins) List() []plugin.Info {
	since := time.Date(2026, 3, 4, 5, 6, 7, 0, time.Local)
	return []plugin.Info{
		{Name: "bier", State: plugin.Failed, Reason: "it ended with\x1b[2J exit code 3", Since: since, Restarts: 6, LastError: "exit code 3", Tail: []string{"line 1", "line\x072"}},
		{Name: "switch", Version: "1.0.0", State: plugin.Ready, PID: 4711, Since: since, Path: "plugins/switch", SHA256: "ab12", Facets: []string{"cli", "rest"},
			Health: map[string]string{"switches": "3"}, Calls: 7, Denied: 2, Grants: decided(since),
			Manifest: &pluginv1.Manifest{Capabilities: []string{"operations", "commands"}, ConfigSchema: []byte(`{"type":"object"}`), Commands: []*pluginv1.Command{{Name: "switch:PrintDB"}, {Name: "switch:Hidden"}}}},
	}
}

func (f fakePlugins) Info(name string) (plugin.Info, error) {
	for _, p := range f.List() {
		if p.Name == name {
			return p, nil
		}
	}
	return plugin.Info{}, fault.New(fault.NotFound, "there is no plugin %q", name)
}

func (f fakePlugins) do(what, name string) error {
	*f.done = append(*f.done, what+" "+name)
	_, err := f.Info(name)
	return err
}

func (f fakePlugins) Decide(_ context.Context, n, by string, granted bool, grants []grant.Grant) error {
	return f.do(fmt.Sprintf("decide %v by %s %v", granted, by, grants), n)
}
func (f fakePlugins) Start(_ context.Context, n string) error   { return f.do("start", n) }
func (f fakePlugins) Stop(_ context.Context, n string) error    { return f.do("stop", n) }
func (f fakePlugins) Restart(_ context.Context, n string) error { return f.do("restart", n) }
func (f fakePlugins) Reload(_ context.Context, n string) error  { return f.do("reload", n) }
func (f fakePlugins) Kill(_ context.Context, n string) error    { return f.do("kill", n) }
func (f fakePlugins) Check(_ context.Context, n string) ([]string, error) {
	if _, err := f.Info(n); err != nil {
		return nil, err
	}
	if n == "bier" {
		return []string{"it is failed"}, nil
	}
	return nil, nil
}

func (fakePlugins) OnNode(string, error) (grpc.ClientConnInterface, bool) { return nil, false }

func (fakePlugins) Fresh(name string) (grpc.ClientConnInterface, error) {
	if name != "switch" {
		return nil, errors.New("not asked for")
	}
	return (*grpc.ClientConn)(nil), nil
}

func valuesOnly(all []engine.Candidate) (out []string) {
	for _, c := range all {
		if !strings.HasPrefix(c.Text, "-") {
			out = append(out, c.Text)
		}
	}
	return out
}

func TestPluginCommands(t *testing.T) {
	var done []string
	s := session(PluginCommands(fakePlugins{&done}))
	got := transcript(s, "", "plugin:list", "plugin:list --format json | grep -c pid", "plugin:info bier", "plugin:info switch",
		"plugin:info switch --format json", "plugin:check switch", "plugin:check switch bier", "plugin:check nothing", "plugin:reload switch bier", "plugin:stop nothing switch", "plugin:restart", "plugin:kill switch")
	golden(t, "plugin", regexp.MustCompile(`2026-03-04[T ]05:06:07(Z|[+-]\d\d:\d\d)?`).ReplaceAllString(got, "TIME"))
	if got = strings.Join(done, ", "); got != "reload switch, reload bier, stop nothing, kill switch" {
		t.Errorf("done: %s", got)
	}
	if got := valuesOnly(s.Complete(context.Background(), "plugin:start ").Candidates); len(got) != 2 {
		t.Errorf("completion %v", got)
	}
}

// A plugin's command is there only while a feature switches it on.
func TestSourcesFollowFeatures(t *testing.T) {
	on := func(p, c string) bool { return c == "switch:PrintDB" || p == "host" && c == "aaa:get-users" }
	denied := func(_ context.Context, plugin string, in *commands.Invocation) error {
		return fault.New(fault.Denied, "%s of %s", in.Option("topology"), plugin)
	}
	got := FromPlugins(fakePlugins{}, on, denied)()
	if len(got) != 1 || got[0].Name != "switch:PrintDB" || got[0].Run == nil {
		t.Fatalf("plugins: %v", got)
	}
	in := &commands.Invocation{Options: map[string]string{"topology": "closed"}}
	if err := got[0].Run(t.Context(), in); fault.KindOf(err) != fault.Denied || err.Error() != "closed of switch" {
		t.Errorf("a command that the caller may not carry out: %v", err)
	}
	table := []commands.Command{{Name: "aaa:get-users"}, {Name: "aaa:add-user"}}
	if got := FromHost("users", func() []commands.Command { return table }, on)(); len(got) != 1 || got[0].Name != "aaa:get-users" {
		t.Errorf("host: %v", got)
	}
	whole := func(p, c string) bool { return p == "host" && c == "users" }
	if got := FromHost("users", func() []commands.Command { return table }, whole)(); len(got) != 2 {
		t.Errorf("the whole table: %v", got)
	}
}

func decided(at time.Time) []grant.Decision {
	connect, rpc := grant.Grant{Kind: grant.Connect, Value: "udp/161"}, grant.Grant{Kind: grant.RPC, Value: "vlan:add-vlan"}
	return grant.Held{}.Grant("admin@sdn", at, connect).Decisions([]grant.Request{{Grant: connect, Why: "SNMP"}, {Grant: rpc}})
}

func TestGrantsOfAPlugin(t *testing.T) {
	var done []string
	out := transcript(session(PluginCommands(fakePlugins{&done})), "", "plugin:grant switch", `plugin:revoke switch "connect udp/161"`, `plugin:grant switch "rights all"`)
	for _, want := range []string{"granted: call the RPC vlan:add-vlan by itself, without a user [rpc vlan:add-vlan]", "plugin:reload switch", "unknown kind of grant"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if got := fmt.Sprint(done); !strings.Contains(got, "decide true by") || !strings.Contains(got, "[rpc vlan:add-vlan] switch decide false by") || len(done) != 2 {
		t.Errorf("%v", done)
	}
}
