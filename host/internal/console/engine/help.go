package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"ctl.internal/sdk/commands"
)

// usageLine is the one line that shows how a command is written.
func usageLine(c commands.Command) string {
	parts := []string{c.Name}
	for _, o := range c.Options {
		s := "--" + o.Name
		if o.Type != commands.Bool {
			s += " " + optionPlaceholder(o)
		}
		if !o.Required {
			s = "[" + s + "]"
		}
		parts = append(parts, s)
	}
	for _, a := range c.Arguments {
		s := a.Name
		if a.Repeated {
			s += "..."
		}
		if !a.Required {
			s = "[" + s + "]"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

func optionPlaceholder(o commands.Option) string {
	switch {
	case len(o.Values) > 0 && len(o.Values) <= 4:
		return strings.Join(o.Values, "|")
	case o.Type == commands.Int:
		return "N"
	}
	return strings.ToUpper(o.Name)
}

// helpText is the one help of a command, for help NAME and --help alike.
func helpText(c commands.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s - %s\n\nUsage: %s\n", c.Name, c.Summary, usageLine(c))
	if c.Help != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.Help))
	}
	var rows [][2]string
	for _, a := range c.Arguments {
		text := a.Help
		if len(a.Values) > 0 {
			text += " (" + strings.Join(a.Values, ", ") + ")"
		}
		if a.Required {
			text += "; required"
		}
		rows = append(rows, [2]string{a.Name, text})
	}
	writeHelpSection(&b, "Arguments", rows)
	rows = nil
	for _, o := range optionsOf(c) {
		rows = append(rows, [2]string{optionNames(o), optionHelp(o)})
	}
	writeHelpSection(&b, "Options", rows)
	return b.String()
}

func optionNames(o commands.Option) string {
	var names []string
	if o.Short != "" {
		names = append(names, "-"+o.Short)
	}
	names = append(names, "--"+o.Name)
	for _, a := range o.Aliases {
		names = append(names, "--"+a)
	}
	s := strings.Join(names, ", ")
	if o.Type != commands.Bool {
		s += " " + optionPlaceholder(o)
	}
	return s
}

func optionHelp(o commands.Option) string {
	s := o.Help
	if len(o.Values) > 4 {
		s += " (" + strings.Join(o.Values, ", ") + ")"
	}
	if o.Required {
		s += "; required"
	}
	if o.Default != "" {
		s += "; " + o.Default + " when not given"
	}
	return s
}

func writeHelpSection(b *strings.Builder, title string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(w, "  %s\t%s\n", r[0], r[1])
	}
	_ = w.Flush() // a strings.Builder takes everything
}

// helpData is the help of a command as data, for --format json.
func helpData(c commands.Command) map[string]any {
	args := []map[string]any{}
	for _, a := range c.Arguments {
		args = append(
			args,
			map[string]any{
				"name":     a.Name,
				"help":     a.Help,
				"required": a.Required,
				"repeated": a.Repeated,
				"values":   a.Values,
			},
		)
	}
	opts := []map[string]any{}
	for _, o := range optionsOf(c) {
		typ := cmp.Or(o.Type, commands.String)
		opts = append(
			opts,
			map[string]any{
				"name":     o.Name,
				"short":    o.Short,
				"aliases":  o.Aliases,
				"help":     o.Help,
				"type":     typ,
				"default":  o.Default,
				"required": o.Required,
				"values":   o.Values,
			},
		)
	}
	return map[string]any{
		"name":      c.Name,
		"summary":   c.Summary,
		"help":      c.Help,
		"usage":     usageLine(c),
		"arguments": args,
		"options":   opts,
	}
}

// commandOverview lists the commands of a scope, or of all.
func commandOverview(x *index, scope string) *commands.Table {
	t := &commands.Table{
		Empty: "no commands",
		Columns: []commands.Column{{
			Title: "Command",
			Key:   "name",
		}, {Title: "Summary", Key: "summary"}},
	}
	for _, c := range x.all {
		s, _ := splitCommandName(c.Name)
		if (scope == "" || s == scope) && !slices.Contains(hidden, c.Name) {
			t.Add(c.Name, c.Summary)
		}
	}
	return t
}
