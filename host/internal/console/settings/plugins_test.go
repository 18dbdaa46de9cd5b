package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/home"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// fakePlugin is an executable that says what its settings are.
func fakePlugin(t *testing.T, dir, name, script string) {
	t.Helper()
	if script == "" {
		m, err := protojson.Marshal(&pluginv1.Manifest{Name: name, ConfigSchema: []byte(`{"type":"object","additionalProperties":false,"properties":{"clones":{"type":"string"}}}`)})
		if err != nil {
			t.Fatal(err)
		}
		script = fmt.Sprintf("[ \"$1\" = describe ] && echo '%s'", m)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestPluginSettingsAreCheckedWithoutAController(t *testing.T) {
	bin := t.TempDir()
	fakePlugin(t, bin, "repoinfo", "")
	fakePlugin(t, bin, "dumb", "echo hello")
	fakePlugin(t, bin, "broken", "exit 3")
	for _, k := range []struct {
		file, text, want string
		warning          bool
	}{
		{"repoinfo.yaml", "clones: /srv\n", "", false},
		{"repoinfo.yaml", "", "", false},
		{"repoinfo.yaml", "clnes: /srv\n", `repoinfo.yaml:1: clnes: no such setting (did you mean "clones"?)`, false},
		{"repoinf.yaml", "clones: /srv\n", `repoinf.yaml: this file is not used: there is no plugin "repoinf" (did you mean "repoinfo"?)`, true},
		{"dumb.yaml", "a: 1\n", "its output is not a manifest", true},
		{"broken.yaml", "a: 1\n", "exit status 3", true},
	} {
		dir := home.Dir(t.TempDir())
		write(t, dir.Etc(k.file), k.text)
		write(t, dir.Etc("ctl.yaml"), "log:\n  level: INFO\n")
		got := Plugins(t.Context(), dir, feature.Locator{Dirs: []string{bin}})
		if k.want == "" {
			if len(got) != 0 {
				t.Errorf("%s %q: %v", k.file, k.text, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Warning != k.warning || !strings.Contains(got[0].String(), k.want) {
			t.Errorf("%s %q: got %v, want %q", k.file, k.text, got, k.want)
		}
	}
}
