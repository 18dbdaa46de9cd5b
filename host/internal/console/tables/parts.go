package tables

import (
	"context"
	"strings"
	"time"

	"ctl.internal/internal/console"
	"ctl.internal/sdk/commands"
)

func boolOption(name, short, help string) commands.Option {
	return commands.Option{
		Name:  name,
		Short: short,
		Help:  help,
		Type:  commands.Bool,
	}
}

// newNameCompleter makes a completer of a function that lists names; the shell leaves out those that do not fit.
func newNameCompleter(list func() []string) func(context.Context, string) []string {
	return func(context.Context, string) []string { return list() }
}

// eachName makes a completer of what a list has; name says what one is called, and whether it is offered.
func eachName[T any](
	list func() []T,
	name func(T) (string, bool),
) func(context.Context, string) []string {
	return newNameCompleter(func() (out []string) {
		for _, one := range list() {
			if n, ok := name(one); ok {
				out = append(out, n)
			}
		}
		return out
	})
}

// emitFindings shows what was found; the command has failed when that is anything.
func emitFindings(in *commands.Invocation, out *commands.Table) error {
	err := in.Emit(out, nil)
	if err != nil || len(out.Rows) == 0 {
		return err
	}
	return console.Silent(console.Failed)
}

// formatTime shows a time to the second; nothing for the zero time.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// timeCell is a time in a table: as when has it, and whole as JSON.
func timeCell(in *commands.Invocation, t time.Time) any {
	if in.Format == "json" {
		return t
	}
	return formatTime(t)
}

// field is a line of what an info command shows.
type field struct{ title, value string }

// formatFields writes fields with their titles aligned; empty ones are left out.
func formatFields(fields []field) string {
	width := 0
	for _, f := range fields {
		width = max(width, len(f.title))
	}
	var b strings.Builder
	for _, f := range fields {
		if f.value == "" {
			continue
		}
		lines := strings.Split(strings.TrimRight(f.value, "\n"), "\n")
		b.WriteString(f.title + strings.Repeat(" ", width-len(f.title)) + "  " + console.Printable(lines[0]) + "\n")
		for _, l := range lines[1:] {
			b.WriteString(strings.Repeat(" ", width+2) + console.Printable(l) + "\n")
		}
	}
	return b.String()
}
