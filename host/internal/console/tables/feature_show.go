package tables

import (
	"context"
	"fmt"
	"strings"

	"ctl.internal/host/internal/feature"
	"ctl.internal/sdk/commands"
)

func (t features) listFeatures(_ context.Context, in *commands.Invocation) error {
	out := &commands.Table{
		Empty: "No features available",
		Columns: []commands.Column{
			{
				Title: "Name",
				Key:   "name",
			}, {
				Title: "Version",
				Key:   "version",
			}, {Title: "Required", Key: "required"},
			{
				Title: "State",
				Key:   "state",
			}, {
				Title: "Repository",
				Key:   "repository",
			}, {Title: "Description", Key: "description"},
		},
	}
	if in.Flag("installed") || in.Flag("required") {
		out.Empty = "No features installed"
	}
	for _, f := range t.List() {
		if in.Flag("installed") && f.State == feature.Uninstalled ||
			in.Flag("required") && !f.Required {
			continue
		}
		out.Add(f.Name, f.Version, markValue(in, f.Required), f.State, f.Repository, f.Description)
	}
	return in.Emit(out, nil)
}

// markValue is x or blank as text, and a boolean as JSON.
func markValue(in *commands.Invocation, on bool) any {
	switch {
	case in.Format == "json":
		return on
	case on:
		return "x"
	}
	return ""
}

func (t features) showInfo(_ context.Context, in *commands.Invocation) error {
	f, err := t.findFeature(in.Arg("name"))
	if err != nil {
		return err
	}
	return in.Emit(f, func() string {
		yes := map[bool]string{true: "yes", false: "no"}
		return formatFields([]field{
			{"Feature", f.Name + " " + f.Version}, {"Description", f.Description}, {"State", f.State}, {"Note", f.Note},
			{"Required", yes[f.Required]}, {"Repository", f.Repository}, {"Depends on", formatRequirements(f.Depends)},
			{"Needed by", strings.Join(f.NeededBy, "\n")}, {"Conflicts with", formatRequirements(f.Conflicts)},
			{"Plugins", strings.Join(f.Plugins, "\n")}, {"Switches on", formatFacets(f.Facets)}, {"Files", strings.Join(f.Config, "\n")},
		})
	})
}

func formatRequirements(list []feature.Requirement) string {
	var out []string
	for _, r := range list {
		out = append(out, r.String())
	}
	return strings.Join(out, "\n")
}

func formatFacets(list []feature.Facet) string {
	var out []string
	for _, f := range list {
		line := fmt.Sprintf("%s of %s", f.Facet, f.Plugin)
		if parts := append(append([]string{}, f.Modules...), f.Commands...); len(parts) > 0 {
			line += ": " + strings.Join(parts, ", ")
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func (t features) showStatus(_ context.Context, in *commands.Invocation) error {
	f, err := t.findFeature(in.Arg("name"))
	if err != nil {
		return err
	}
	return in.Emit(map[string]string{
		"name":    f.Name,
		"version": f.Version,
		"state":   f.State,
	}, func() string { return f.State + "\n" })
}

func (t features) versionList(_ context.Context, in *commands.Invocation) error {
	all, err := t.Versions(in.Arg("name"))
	if err != nil {
		return err
	}
	urls := map[string]string{}
	for _, r := range t.Repositories() {
		urls[r.Name] = r.URL
	}
	out := &commands.Table{Columns: []commands.Column{{
		Title: "Version",
		Key:   "version",
	}, {
		Title: "Repository",
		Key:   "repository",
	}, {
		Title: "Repository URL",
		Key:   "url",
	}, {Title: "State", Key: "state"}}}
	for _, f := range all {
		out.Add(f.Version, f.Repository, urls[f.Repository], f.State)
	}
	return in.Emit(out, nil)
}

func (t features) requirementList(_ context.Context, in *commands.Invocation) error {
	out := &commands.Table{
		Empty: "No requirements",
		Columns: []commands.Column{{
			Title: "Requirement",
			Key:   "requirement",
		}},
	}
	for _, q := range t.Requirements() {
		out.Add(q.String())
	}
	return in.Emit(out, nil)
}
