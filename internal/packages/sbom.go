package main

import (
	"debug/buildinfo"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// component is one of a CycloneDX 1.5 bill of materials.
type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
}

// writeSBOM lists the modules that the linker wrote into the programs, and Go itself.
func writeSBOM(bin, path string, when time.Time) error {
	all := map[string]component{}
	own := component{Type: "application", Name: "ctl"}
	for _, p := range programs {
		info, err := buildinfo.ReadFile(filepath.Join(bin, p))
		if err != nil {
			return err
		}
		own.Version = packageVersion(info.Main.Version)
		all["go"] = component{
			Type:    "framework",
			Name:    "go",
			Version: info.GoVersion,
			PURL:    "pkg:golang/std@" + info.GoVersion,
		}
		for _, d := range info.Deps {
			if d.Replace != nil {
				d = d.Replace
			}
			all[d.Path+"@"+d.Version] = component{
				Type:    "library",
				Name:    d.Path,
				Version: d.Version,
				PURL:    "pkg:golang/" + d.Path + "@" + d.Version,
			}
		}
	}
	components := []component{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		components = append(components, all[key])
	}
	b, err := json.MarshalIndent(map[string]any{
		"bomFormat":   "CycloneDX",
		"specVersion": "1.5",
		"version":     1,
		"metadata": map[string]any{
			"timestamp": when.Format(time.RFC3339),
			"component": own,
		},
		"components": components,
	}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
