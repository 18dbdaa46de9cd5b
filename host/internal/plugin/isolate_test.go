package plugin

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin/process"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

func TestAPluginSeesTheFilesThatItWasGranted(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"etc", "import", "data/plugins"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	lists := grant.Grant{Kind: grant.Read, Value: "setting:lists"}
	wide := grant.Grant{Kind: grant.Read, Value: "home:import"}
	clones := grant.Grant{Kind: grant.Write, Value: "setting:clones"}
	m := &pluginv1.Manifest{Name: "p", ConfigSchema: []byte(`{"properties":{"lists":{"default":["etc/key"]},"clones":{"default":"data/repos"}}}`)}
	for _, g := range []grant.Grant{lists, wide, clones} {
		m.Requests = append(m.Requests, &pluginv1.Request{Kind: g.Kind, Value: g.Value})
	}
	in := func(p string) string { return filepath.Join(home, p) }
	for _, c := range []struct {
		name, settings string
		granted        []grant.Grant
		want           []process.File
	}{
		{"nothing is granted, the settings are their author's", `{"lists":["etc/key"],"clones":"data/repos"}`, nil, nil},
		{"the operator wrote the setting: that file alone", `{"lists":["etc/list"],"clones":"data/repos"}`, nil, []process.File{{Path: in("etc/list")}}},
		{"granted: files that come later, too", `{"lists":["etc/list","/srv/x/list"],"clones":"data/repos"}`, []grant.Grant{lists}, []process.File{{Path: in("etc/list")}, {Path: "/srv/x/list"}}},
		{"never the directories of the controller", `{"lists":["data/list","list"],"clones":"data/repos"}`, []grant.Grant{lists}, []process.File{{Path: in("data/list")}, {Path: in("list")}}},
		{"a directory to write is made", `{"lists":["etc/key"],"clones":"data/repos"}`, []grant.Grant{clones, wide},
			[]process.File{{Path: in("data/repos"), Write: true}, {Path: in("import")}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &supervisor{name: "p", m: &Manager{options: Options{DataDir: in("data/plugins"), Home: home,
				Settings: func(string, []byte) ([]byte, error) { return []byte(c.settings), nil }}}}
			got := s.files(grant.Held{}.Grant("op", time.Time{}, c.granted...), m)
			order := func(a, b process.File) int { return slices.Compare([]byte(a.Path), []byte(b.Path)) }
			slices.SortFunc(got, order)
			slices.SortFunc(c.want, order)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
