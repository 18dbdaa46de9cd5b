package plugin

import (
	"fmt"
	"regexp"
	"slices"

	"ctl.internal/host/internal/plugin/process"
)

// Spec says which plugin to run and how.
type Spec struct {
	Name   string
	Path   string   // of the executable
	Args   []string // after the program's name
	SHA256 string   // in hex; empty = not checked
	Env    []string // "NAME=value", besides what every plugin gets
	Facets []string // install facets that are on: "rest", "cli", "ui"
}

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

func (s Spec) validate() error {
	if !namePattern.MatchString(s.Name) || len(s.Name) > process.MaxName {
		return fmt.Errorf("the plugin name %q must be at most %d lower-case letters, digits, dots, hyphens and underscores", s.Name, process.MaxName)
	}
	if s.Path == "" {
		return fmt.Errorf("plugin %s has no path", s.Name)
	}
	return nil
}

func (s Spec) equal(o Spec) bool {
	return s.Name == o.Name && s.Path == o.Path && s.SHA256 == o.SHA256 &&
		slices.Equal(s.Args, o.Args) && slices.Equal(s.Env, o.Env) && slices.Equal(s.Facets, o.Facets)
}
