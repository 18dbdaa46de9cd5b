package home

import (
	"os"
	"path/filepath"
	"strings"
)

// Validate checks the settings of a home offline: etc/ctl.yaml with the
// environment, that the settings files of plugins are YAML, and that files with
// secrets are the owner's alone. Rules (sec.ini), the catalogue and a plugin's
// own schema are checked by aaa, feature and plugin.
func Validate(dir Dir, environ []string) []Problem {
	info, err := os.Stat(string(dir))
	if err != nil || !info.IsDir() {
		return []Problem{{
			File: string(dir),
			Text: "there is no such home directory; ctld makes one at its first start",
		}}
	}
	_, ps := Load(dir, environ, nil)
	files, _ := filepath.Glob(dir.Etc("*.yaml")) // the pattern is well-formed
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		if name == "ctl" { // Load has read it
			continue
		}
		if _, _, p := dir.readDocument(name); p != nil {
			ps = append(ps, *p)
		}
	}
	for _, path := range []string{dir.Etc("initial-passwords"), dir.Etc(
		"ctl",
		"datastore",
		"initial",
		"config",
		"aaa-encrypt-service-config.xml",
	)} {
		info, err := os.Stat(path)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			ps = append(
				ps,
				Problem{
					File:    path,
					Warning: true,
					Text:    "others may read this file; set its mode to 0600",
				},
			)
		}
	}
	if err := dir.checkSockets(); err != nil {
		ps = append(ps, Problem{
			File: string(dir),
			Text: err.Error(),
		})
	}
	return ps
}
