package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctl.internal/bench/rig"
	"ctl.internal/internal/console"
	"ctl.internal/sdk/fault"
)

// buildReference asks a controller with all features what it has.
func buildReference(bin string) ([]page, error) {
	c, err := startController(bin)
	if err != nil {
		return nil, err
	}
	defer c.stop()
	features, names, err := featurePage(c)
	if err != nil {
		return nil, err
	}
	// Any port: another controller may have that of the shipped settings.
	if err := rig.Write(
		c.Home,
		map[string]string{"etc/openflow.yaml": "listen: 127.0.0.1:0\n"},
	); err != nil {
		return nil, err
	}
	if _, err := c.runCtl(append([]string{"feature:install"}, names...)...); err != nil {
		return nil, err
	}
	out := []page{features, errorPage()}
	for _, make := range []func(*controller) (page, error){commandPage, settingsPage, yangPage, metricsPage} {
		p, err := make(c)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// text is the page of a reference, line by line.
type text struct{ strings.Builder }

func (t *text) linef(format string, args ...any) {
	fmt.Fprintf(t, format+"\n", args...)
}

// escapeTableCell is a text within a table.
func escapeTableCell(v any) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(fmt.Sprint(v))
}

func (t *text) page(name string) page {
	return newPage(name, []byte(t.String()))
}

func featurePage(c *controller) (page, []string, error) {
	var all []struct{ Name, Version, Description, State string }
	if err := c.decodeLine(&all, "feature:list"); err != nil {
		return page{}, nil, err
	}
	var t text
	t.linef("# Features\n\nWhat `feature:install` knows (`feature:list`).\n\n| Feature | Version | |\n|---|---|---|")
	var names []string
	for _, f := range all {
		t.linef("| `%s` | %s | %s |", f.Name, f.Version, escapeTableCell(f.Description))
		if f.State == "Uninstalled" {
			_, err := c.runCtl("feature:install", "-t", f.Name)
			if err == nil { // some are not available
				names = append(names, f.Name)
			}
		}
	}
	return t.page("reference-features"), names, nil
}

func commandPage(c *controller) (page, error) {
	var all []struct{ Name string }
	if err := c.decodeLine(&all, "help"); err != nil {
		return page{}, err
	}
	var lines []string
	for _, one := range all {
		lines = append(lines, "help "+one.Name)
	}
	out, err := c.runCtl("--format", "json", strings.Join(lines, "; "))
	if err != nil {
		return page{}, err
	}
	var t text
	t.linef(
		"# Commands of the console\n\nEvery command has `--help` and `--format json`. Exit codes:\n\n```text\n%s```",
		console.Codes(),
	)
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var h struct {
			Name, Summary, Help, Usage string
			Arguments                  []struct{ Name, Help string }
			Options                    []struct{ Name, Help string }
		}
		if err := dec.Decode(&h); err != nil {
			return page{}, err
		}
		t.linef("\n## %s\n\n%s.\n\n```text\n%s\n```", h.Name, h.Summary, h.Usage)
		if h.Help != "" {
			t.linef("\n```text\n%s\n```", h.Help)
		}
		if len(h.Arguments)+len(h.Options) > 2 {
			t.linef("\n| | |\n|---|---|")
		}
		for _, a := range h.Arguments {
			if len(h.Arguments)+len(h.Options) > 2 {
				t.linef("| `%s` | %s |", a.Name, escapeTableCell(a.Help))
			}
		}
		for _, o := range h.Options {
			if o.Name != "format" && o.Name != "help" {
				t.linef("| `--%s` | %s |", o.Name, escapeTableCell(o.Help))
			}
		}
	}
	return t.page("reference-commands"), nil
}

func settingsPage(c *controller) (page, error) {
	var t text
	var own []struct{ Key, Value string }
	if err := c.decodeLine(&own, "config:show --effective"); err != nil {
		return page{}, err
	}
	t.linef("# Settings\n\n## etc/ctl.yaml\n\nRead at the start. `etc/ctl.yaml` of a new home has each with its explanation. Each is also a variable of the environment: " +
		"`limits.body` is `CTL_LIMITS_BODY`.\n\n| Setting | Default |\n|---|---|")
	for _, s := range own {
		value := s.Value
		if strings.HasPrefix(s.Key, "listeners.") { // those of this controller are given by flags
			value = map[string]string{
				"listeners.http":     "127.0.0.1:8181",
				"listeners.https":    "off",
				"listeners.ssh":      "127.0.0.1:8101",
				"listeners.restconf": "off",
				"listeners.admin":    "127.0.0.1:8183",
			}[s.Key]
		}
		t.linef("| `%s` | `%s` |", s.Key, escapeTableCell(value))
	}
	var plugins []struct{ Name string }
	if err := c.decodeLine(&plugins, "plugin:list"); err != nil {
		return page{}, err
	}
	for _, p := range plugins {
		var info struct {
			Summary string
			Schema  map[string]any
		}
		if err := c.decodeLine(&info, "plugin:info "+p.Name); err != nil {
			return page{}, err
		}
		t.linef(
			"\n## etc/%s.yaml\n\n%s. Read again by `plugin:reload %s`.\n\n| Setting | Type | Default | |\n|---|---|---|---|",
			p.Name,
			info.Summary,
			p.Name,
		)
		writeSchemaMembers(&t, info.Schema, "")
	}
	return t.page("reference-settings"), nil
}

func writeSchemaMembers(t *text, schema map[string]any, prefix string) {
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p, _ := properties[name].(map[string]any)
		below, ok := p["properties"].(map[string]any)
		if ok && len(below) > 0 {
			writeSchemaMembers(t, p, prefix+name+".")
			continue
		}
		value := ""
		if d, ok := p["default"]; ok {
			b, _ := json.Marshal(d) // it was JSON
			value = "`" + escapeTableCell(string(b)) + "`"
		}
		kind := p["type"]
		if f, ok := p["format"]; ok {
			kind = f
		}
		about, _ := p["description"].(string)
		t.linef("| `%s%s` | %v | %s | %s |", prefix, name, kind, value, escapeTableCell(about))
	}
}

func yangPage(c *controller) (page, error) {
	b, err := c.getPage("http", "/rests/data/ietf-yang-library:modules-state")
	if err != nil {
		return page{}, err
	}
	var library struct {
		State struct {
			Module []struct{ Name, Revision, Namespace, Schema string }
		} `json:"ietf-yang-library:modules-state"`
	}
	if err := json.Unmarshal(b, &library); err != nil {
		return page{}, err
	}
	var t text
	t.linef("# YANG modules\n\nThose of all features. A running controller serves the text of each at `/rests/modules/NAME?revision=REVISION`, and `/apidoc/` its requests.")
	slices.SortFunc(library.State.Module, func(a, b struct{ Name, Revision, Namespace, Schema string }) int {
		return strings.Compare(a.Name, b.Name)
	})
	for _, m := range library.State.Module {
		module, err := c.getPage("http", m.Schema)
		if err != nil {
			return page{}, fmt.Errorf("%s: %w", m.Schema, err)
		}
		t.linef(
			"\n## %s\n\nRevision %s, `%s`.\n\n```yang\n%s\n```",
			m.Name,
			m.Revision,
			m.Namespace,
			strings.ReplaceAll(strings.TrimSpace(string(module)), "```", "'''"),
		)
	}
	return t.page("reference-yang"), nil
}

func metricsPage(c *controller) (page, error) {
	b, err := c.getPage("admin", "/metrics")
	if err != nil {
		return page{}, err
	}
	kinds := map[string]string{}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) == 4 && f[1] == "TYPE" {
			kinds[f[2]] = f[3]
		}
	}
	var t text
	t.linef("# Metrics\n\n`/metrics` of the admin listener, with all features. [monitoring](monitoring.md) has rules and a dashboard.\n\n| Metric | Kind | |\n|---|---|---|")
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, help, _ := strings.Cut(strings.TrimSpace(rest), " ")
			t.linef("| `%s` | %s | %s |", name, kinds[name], escapeTableCell(help))
		}
	}
	return t.page("reference-metrics"), nil
}

// errorPage is the table of the kinds of faults, with what a client sees.
func errorPage() page {
	var t text
	t.linef("# Errors\n\nEvery error says what failed, where, why and what to do. Its kind decides what programs see.\n\n| Kind | Exit code of the console | |\n|---|---|---|")
	for k := fault.Kind(0); k.Known(); k++ {
		code := console.CodeOf(fault.New(k, "x"))
		t.linef("| `%s` | %d | %s |", k, code, code.Meaning())
	}
	t.linef("\nOver RESTCONF the errors are those of RFC 8040, section 7: [RESTCONF](restconf.md#statuses).")
	return t.page("reference-errors")
}
