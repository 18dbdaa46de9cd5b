package engine

import (
	"slices"
	"strconv"
	"strings"

	"ctl.internal/host/internal/present"
	"ctl.internal/internal/nearest"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// bound is what a line gives to a command, checked against its table.
type bound struct {
	options map[string]string
	args    map[string][]string
	rest    []string // the arguments in the order they were typed
	help    bool
	format  string // empty when not given
	asked   present.Asked
}

// The options that every command has.
var (
	helpOption = commands.Option{
		Name:  "help",
		Short: "h",
		Help:  "show this help",
		Type:  commands.Bool,
	}
	formatOption = commands.Option{
		Name:   "format",
		Help:   "form of the output",
		Values: []string{"text", "json"},
	}
)

// tableOptions are those of every command that shows something.
var tableOptions = []commands.Option{
	{
		Name: "columns",
		Help: "columns of the table to show, in this order, separated by commas",
	},
	{
		Name: "sort",
		Help: "columns to sort the rows by, separated by commas; a minus before one: from high to low",
	},
	{
		Name: "where",
		Help: "only the rows for which a condition holds, as 'vlan >= 10 and (state = up or not name ~ trunk)'; * is any column",
	},
}

// shows reports whether a command may show a table: it changes nothing, and is none of the shell's own, which take text.
func shows(c commands.Command) bool {
	scope, _ := splitCommandName(c.Name)
	return c.Safe && scope != "" && scope != shellScope
}

func optionsOf(c commands.Command) []commands.Option {
	out := slices.Clone(c.Options)
	general := []commands.Option{formatOption, helpOption}
	if shows(c) {
		general = slices.Concat(tableOptions, general)
		general[len(tableOptions)].Values = present.Formats
	}
	for _, g := range general {
		if slices.ContainsFunc(out, func(o commands.Option) bool {
			return o.Name == g.Name
		}) {
			continue
		}
		if g.Short != "" &&
			slices.ContainsFunc(out, func(o commands.Option) bool {
				return o.Short == g.Short
			}) {
			g.Short = ""
		}
		out = append(out, g)
	}
	return out
}

// findOption finds the option that a word without dashes and value names.
func findOption(options []commands.Option, name string) (commands.Option, bool) {
	for _, same := range []func(a, b string) bool{func(a, b string) bool {
		return a == b
	}, strings.EqualFold} {
		var hits []commands.Option
		for _, o := range options {
			if same(o.Name, name) ||
				o.Short != "" && same(o.Short, name) ||
				slices.ContainsFunc(o.Aliases, func(a string) bool {
					return same(a, name)
				}) {
				hits = append(hits, o)
			}
		}
		if len(hits) == 1 {
			return hits[0], true
		}
	}
	return commands.Option{}, false
}

// binder walks the words of one command.
type binder struct {
	cmd     commands.Command
	options []commands.Option
	words   []string
	// stopAtArg ends the options at the first argument, for commands that run
	// another command.
	stopAtArg bool
	given     map[string]string
	rest      []string
}

func (b *binder) faultAtCommand(k fault.Kind, format string, args ...any) error {
	return fault.At(k, b.cmd.Name, format, args...)
}

func (b *binder) bindWords() (bound, error) {
	b.options, b.given = optionsOf(b.cmd), map[string]string{}
	for i := 0; i < len(b.words); i++ {
		w := b.words[i]
		if w == "--" {
			b.rest = append(b.rest, b.words[i+1:]...)
			break
		}
		if o, ok := b.countOption(w); ok { // head -5, and as many type it: head 5
			if err := b.setOption(o, strings.TrimPrefix(w, "-")); err != nil {
				return bound{}, err
			}
			continue
		}
		if len(w) < 2 || w[0] != '-' || b.isNumber(w) {
			b.rest = append(b.rest, w)
			if b.stopAtArg {
				b.rest = append(b.rest, b.words[i+1:]...)
				break
			}
			continue
		}
		used, err := b.bindOption(w, b.words[i+1:])
		if err != nil {
			return bound{}, err
		}
		i += used
	}
	out := bound{options: b.given, args: map[string][]string{}}
	f, ok := b.given["format"]
	if ok && !definesOption(b.cmd, "format") {
		out.format = f
		delete(b.given, "format")
	}
	out.asked = b.takeAsked(out.format)
	if b.given["help"] == "true" && !definesOption(b.cmd, "help") {
		out.help = true
		return out, nil
	}
	for _, o := range b.options {
		if _, ok := b.given[o.Name]; ok {
			continue
		}
		if o.Required {
			return bound{}, b.faultAtCommand(
				fault.Missing,
				"the option --%s is missing: %s; usage: %s",
				o.Name,
				o.Help,
				usageLine(b.cmd),
			)
		}
		if o.Default != "" {
			b.given[o.Name] = o.Default
		}
	}
	out.rest = b.rest
	return out, b.bindPositionals(out.args, out.rest)
}

// takeAsked takes what is asked of the table out of the options, but for those that are the command's own.
func (b *binder) takeAsked(format string) present.Asked {
	asked := present.Asked{Format: format}
	if !shows(b.cmd) {
		return asked
	}
	for name, field := range map[string]*string{
		"columns": &asked.Columns,
		"sort":    &asked.Sort,
		"where":   &asked.Where,
	} {
		if definesOption(b.cmd, name) {
			continue
		}
		*field = b.given[name]
		delete(b.given, name)
	}
	return asked
}

func definesOption(c commands.Command, name string) bool {
	return slices.ContainsFunc(c.Options, func(o commands.Option) bool {
		return o.Name == name
	})
}

// isNumber distinguishes -5 from an option, unless the command has such an option.
func (b *binder) isNumber(w string) bool {
	_, err := strconv.ParseFloat(w, 64)
	_, known := findOption(b.options, w[1:])
	return err == nil && !known
}

// countOption is the option -n that a bare -5 or 5 means, for a command that has one
// and takes no arguments.
func (b *binder) countOption(w string) (commands.Option, bool) {
	digits := strings.TrimPrefix(w, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" || len(b.cmd.Arguments) > 0 {
		return commands.Option{}, false
	}
	i := slices.IndexFunc(b.options, func(o commands.Option) bool {
		return o.Short == "n" && o.Type == commands.Int
	})
	if i < 0 {
		return commands.Option{}, false
	}
	return b.options[i], true
}

// bindOption takes one option; used is how many of the following words its value took.
func (b *binder) bindOption(w string, next []string) (used int, err error) {
	name := strings.TrimPrefix(strings.TrimPrefix(w, "-"), "-")
	value, inline := "", false
	if i := strings.IndexByte(name, '='); i >= 0 {
		name, value, inline = name[:i], name[i+1:], true
	}
	o, ok := findOption(b.options, name)
	if !ok {
		if cluster := b.splitFlagCluster(w); cluster != nil {
			for _, c := range cluster {
				if err := b.setOption(c, "true"); err != nil {
					return 0, err
				}
			}
			return 0, nil
		}
		return 0, b.unknownOption(name, w[:len(w)-len(strings.TrimLeft(w, "-"))])
	}
	if o.Type == commands.Bool {
		if !inline {
			value = "true"
		} else if v, err := strconv.ParseBool(value); err != nil {
			return 0, b.faultAtCommand(
				fault.Invalid,
				"the option --%s takes no value, or true or false, not %q",
				o.Name,
				value,
			)
		} else {
			value = strconv.FormatBool(v)
		}
		return 0, b.setOption(o, value)
	}
	if !inline {
		if len(next) == 0 {
			return 0, b.faultAtCommand(
				fault.Missing,
				"the option --%s needs a value: %s",
				o.Name,
				o.Help,
			)
		}
		value, used = next[0], 1
		n := strings.TrimLeft(value, "-")
		if strings.HasPrefix(value, "--") && n != "" {
			if _, isOption := findOption(b.options, n); isOption {
				return 0, b.faultAtCommand(
					fault.Missing,
					"the option --%s needs a value and %s follows; write --%s=%s if that is the value",
					o.Name,
					value,
					o.Name,
					value,
				)
			}
		}
	}
	return used, b.setOption(o, value)
}

// splitFlagCluster reads -iv as -i -v where each letter is a Bool option.
func (b *binder) splitFlagCluster(w string) []commands.Option {
	var out []commands.Option
	for _, r := range strings.TrimPrefix(w, "-") {
		i := slices.IndexFunc(b.options, func(o commands.Option) bool {
			return o.Short == string(r) && o.Type == commands.Bool
		})
		if i < 0 {
			return nil
		}
		out = append(out, b.options[i])
	}
	return out
}

func (b *binder) unknownOption(name, dashes string) error {
	var known []string
	for _, o := range b.options {
		known = append(known, o.Name)
		known = append(known, o.Aliases...)
	}
	hint := ""
	if near, ok := nearest.Name(name, known); ok {
		hint = "; did you mean --" + near + "?"
	}
	return b.faultAtCommand(
		fault.Unknown,
		"there is no option %s%s%s (%s --help lists them; -- ends the options)",
		dashes,
		name,
		hint,
		b.cmd.Name,
	)
}

func (b *binder) setOption(o commands.Option, value string) error {
	if _, twice := b.given[o.Name]; twice {
		return b.faultAtCommand(fault.Invalid, "the option --%s is given twice", o.Name)
	}
	if o.Type == commands.Int {
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			return b.faultAtCommand(
				fault.Invalid,
				"the option --%s needs a whole number, not %q",
				o.Name,
				value,
			)
		}
	}
	if err := b.oneOf("the option --"+o.Name, o.Values, &value); err != nil {
		return err
	}
	b.given[o.Name] = value
	return nil
}

// oneOf checks a value against the fixed ones and gives it their case.
func (b *binder) oneOf(what string, values []string, value *string) error {
	if len(values) == 0 || slices.Contains(values, *value) {
		return nil
	}
	for _, v := range values {
		if strings.EqualFold(v, *value) {
			*value = v
			return nil
		}
	}
	hint := ""
	if near, ok := nearest.Name(*value, values); ok {
		hint = "; did you mean " + near + "?"
	}
	return b.faultAtCommand(
		fault.Invalid,
		"%s takes %s, not %q%s",
		what,
		orList(values),
		*value,
		hint,
	)
}

// bindPositionals names the values of rest, and gives those of fixed lists their case.
func (b *binder) bindPositionals(out map[string][]string, rest []string) error {
	for _, a := range b.cmd.Arguments {
		n := min(1, len(rest))
		if a.Repeated {
			n = len(rest)
		}
		if n == 0 {
			if a.Required {
				return b.faultAtCommand(
					fault.Missing,
					"the argument %s is missing: %s; usage: %s",
					a.Name,
					a.Help,
					usageLine(b.cmd),
				)
			}
			continue
		}
		values := rest[:n:n]
		for i := range values {
			if err := b.oneOf("the argument "+a.Name, a.Values, &values[i]); err != nil {
				return err
			}
		}
		out[a.Name], rest = values, rest[n:]
	}
	if len(rest) > 0 {
		return b.faultAtCommand(
			fault.Unknown,
			"%q is one argument too many%s; usage: %s",
			rest[0],
			explainForeignSyntax(rest[0]),
			usageLine(b.cmd),
		)
	}
	return nil
}

// explainForeignSyntax explains what other shells do with a word, and this one does otherwise.
func explainForeignSyntax(word string) string {
	switch word {
	case ">", ">>", "<", "2>", "2>&1":
		return " (files are for your own shell: ctl 'COMMAND' > FILE)"
	case "&&":
		return " (write a; b: b runs only when a has succeeded)"
	case "||", "&":
		return " (there are only | and ; here)"
	}
	return ""
}
