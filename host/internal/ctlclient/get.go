package ctlclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ctl.internal/internal/console"
)

// shown are the things that ctl get lists, each with the command of the controller that does.
var shown = map[string][]string{
	"features":   {"feature:list", "--installed"},
	"plugins":    {"plugin:list"},
	"switches":   {"switch:PrintDB"},
	"edges":      {"switch:edges"},
	"inventory":  {"switch:inventory"},
	"topologies": {"bier:topo-list"},
	"channels":   {"bier:channel-list"},
	"routers":    {"bier:session-list"},
	"users":      {"aaa:get-users"},
	"realms":     {"realm:list"},
	"nodes":      {"cluster:status"},
	"settings":   {"config:show", "--effective"},
}

// forms are those in which ctl get shows things.
var forms = []string{"table", "json", "yaml", "csv"}

// asked is what ctl get is asked for, beside the kind.
type asked struct {
	form, columns, sort, where string
}

// words are the options of the command of the console for what is asked for; named = the rows with a cell of that name.
func (a asked) words(name string) ([]string, error) {
	var out []string
	form, where := a.form, a.where
	if name != "" {
		quote := "\""
		if strings.Contains(name, quote) {
			quote = "'"
		}
		if strings.Contains(name, quote) {
			return nil, coded{console.Usage, fmt.Errorf("the name %q has both kinds of quotes", name)}
		}
		one := "* = " + quote + name + quote
		if where != "" {
			one = "(" + where + ") and " + one
		}
		where = one
		if form == "table" { // one thing is shown as text
			form = "yaml"
		}
	}
	if form == "table" {
		form = "" // as the command shows it
	}
	for _, option := range [][2]string{{"format", form}, {"columns", a.columns}, {"sort", a.sort}, {"where", where}} {
		if option[1] != "" {
			out = append(out, "--"+option[0]+"="+option[1])
		}
	}
	return out, nil
}

func (o *options) getCommand() *cobra.Command {
	var a asked
	kinds := slices.Sorted(maps.Keys(shown))
	c := &cobra.Command{
		Use:   "get KIND [NAME] | get /rests/data/…",
		Short: "show what the controller has, as a table, JSON, YAML or CSV",
		Args:  cobra.RangeArgs(1, 2),
		Long:  "KIND is one of " + strings.Join(kinds, ", ") + ",\nor a resource of RESTCONF. With NAME only the rows are shown in which a cell is NAME.",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return kinds, cobra.ShellCompDirectiveNoFileComp
			}
			return o.completeCells(shown[args[0]]), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(forms, a.form) {
				return coded{console.Usage, fmt.Errorf("-o must be table, json, yaml or csv, not %q", a.form)}
			}
			line, known := shown[args[0]]
			switch {
			case known && len(args) == 2:
				return o.getNamed(cmd, line, args, a)
			case known:
				words, err := a.words("")
				if err != nil {
					return err
				}
				return o.oneLine(cmd.Context(), console.Join(slices.Concat(line, words)))
			case strings.HasPrefix(args[0], "/"):
				return o.getResource(cmd, args, a)
			}
			return coded{console.Usage, fmt.Errorf(
				"unknown kind %q, expected one of %s, or a path",
				args[0],
				strings.Join(kinds, ", "),
			)}
		},
	}
	f := c.Flags()
	f.StringVarP(&a.form, "output", "o", "table", "table, json, yaml or csv; what is no table is shown as yaml")
	f.StringVar(&a.columns, "columns", "", "columns of the table to show, in this order, separated by commas")
	f.StringVar(&a.sort, "sort", "", "columns to sort by, separated by commas; a minus before one: from high to low")
	f.StringVar(&a.where, "where", "", "only the rows for which a condition holds, as 'state = up and vlan > 9'")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(forms, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// getNamed shows the rows of a kind in which a cell is a name.
func (o *options) getNamed(cmd *cobra.Command, line, args []string, a asked) error {
	words, err := a.words(args[1])
	if err != nil {
		return err
	}
	l, err := o.dialConsole(cmd.Context())
	if err != nil {
		return err
	}
	defer l.close()
	out, err := l.callCommand(strings.NewReader(""), slices.Concat(line, words)...)
	if err != nil {
		return err
	}
	text := strings.TrimSpace(string(out))
	if text == "[]" || a.form == "csv" && !strings.Contains(text, "\n") { // without a row, or the titles alone
		return coded{console.NotFound, fmt.Errorf("%s has no %s", args[0], args[1])}
	}
	_, err = cmd.OutOrStdout().Write(out)
	return err
}

// getResource shows a resource of RESTCONF.
func (o *options) getResource(cmd *cobra.Command, args []string, a asked) error {
	if len(args) == 2 || a.form == "csv" || a.columns+a.sort+a.where != "" {
		return coded{console.Usage, fmt.Errorf(
			"a resource is no table: it is shown whole, by -o json or yaml; for tables see ctl get KIND",
		)}
	}
	l, err := o.dialConsole(cmd.Context())
	if err != nil {
		return err
	}
	defer l.close()
	form := "yaml"
	if a.form == "json" {
		form = "json"
	}
	out, err := l.callCommand(strings.NewReader(""), "restconf:call", "GET", args[0])
	if err != nil {
		return err
	}
	return writeDocument(cmd.OutOrStdout(), out, form)
}

// writeDocument writes a JSON document as JSON with indents, or as YAML.
func writeDocument(w io.Writer, text []byte, form string) error {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // as float64 a number loses digits
	if err := d.Decode(&v); err != nil {
		return coded{console.Failed, fmt.Errorf("the answer is no JSON: %w", err)}
	}
	if d.More() {
		return coded{console.Failed, fmt.Errorf("the answer is no JSON: it goes on after its value")}
	}
	if form == "yaml" {
		return console.WriteYAML(w, console.YAML(v))
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// completeCells are the names of a list, for completion.
func (o *options) completeCells(line []string) []string {
	if line == nil {
		return nil
	}
	l, err := o.dialConsole(context.Background())
	if err != nil {
		return nil
	}
	defer l.close()
	var rows []map[string]any
	if l.readJSON(&rows, line...) != nil {
		return nil
	}
	var out []string
	for _, r := range rows {
		for _, key := range []string{"name", "topology", "topology-id", "key", "realm", "node", "ip-address"} {
			if text, ok := r[key].(string); ok {
				out = append(out, text)
				break
			}
		}
	}
	return out
}
