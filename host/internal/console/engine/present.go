package engine

import (
	"context"
	"io"
	"slices"
	"strings"

	"ctl.internal/host/internal/console/syntax"
	"ctl.internal/host/internal/present"
	"ctl.internal/sdk/commands"
)

// presented lets a command write its result as data, and lays that out as it is asked for.
func presented(
	run func(context.Context, *commands.Invocation) error,
	asked present.Asked,
) func(context.Context, *commands.Invocation) error {
	return func(ctx context.Context, in *commands.Invocation) error {
		var out shown
		data := *in
		data.Format, data.Described, data.Width, data.Stdout = "json", true, 0, &out
		failed := run(ctx, &data)
		if failed != nil && out.Len() == 0 {
			return failed
		}
		// A command that shows something and fails, as a check does, shows it here, too.
		err := present.Write(in.Stdout, out.Bytes(), asked, in.Width)
		if failed != nil {
			return failed
		}
		return err
	}
}

// withColumnCompletion lets the options of tables complete the columns that the command shows. It changes nothing, so it is
// run for that, as it is on the line.
func (s *Session) withColumnCompletion(x *index, options []commands.Option, stage syntax.Stage) {
	for i, o := range options {
		if !slices.ContainsFunc(tableOptions, func(t commands.Option) bool { return t.Help == o.Help }) {
			continue
		}
		options[i].Complete = func(ctx context.Context, prefix string) []string {
			return completeColumns(s.columnsOf(ctx, x, stage), o.Name, prefix)
		}
	}
}

// columnsOf are the keys of the columns of what a stage shows; none if it cannot be run as it is.
func (s *Session) columnsOf(ctx context.Context, x *index, stage syntax.Stage) (out []string) {
	words := stage.Texts()
	cmd, err := x.findCommand(s.Scope(), words[0])
	if err != nil || !shows(cmd) || cmd.Run == nil {
		return nil
	}
	words = words[1:]
	if last := len(words) - 1; last >= 0 && strings.HasPrefix(words[last], "-") {
		words = words[:last] // the option that is completed
	}
	b := binder{cmd: cmd, words: words}
	given, err := b.bindWords()
	if err != nil || given.help {
		return nil
	}
	var shown shown
	in := &commands.Invocation{
		Name:       cmd.Name,
		Options:    given.options,
		Args:       given.args,
		Positional: given.rest,
		Format:     "json",
		Described:  true,
		Caller:     s.currentCaller(),
		Stdin:      commands.NoInput,
		Stdout:     &shown,
		Stderr:     io.Discard,
		Terminal:   noTerminal{},
	}
	if s.withFiles(cmd)(ctx, in) != nil {
		return nil
	}
	v, err := present.Read(shown.Bytes())
	if err != nil {
		return nil
	}
	t, _ := present.TableOf(v)
	for _, c := range t.Columns {
		out = append(out, c.Key)
	}
	return out
}

// completeColumns completes the name of a column at the end of a list of them.
func completeColumns(columns []string, option, prefix string) (out []string) {
	before := ""
	if i := strings.LastIndexByte(prefix, ','); i >= 0 && option != "where" {
		before = prefix[:i+1]
	}
	taken := strings.Split(before, ",")
	for _, c := range columns {
		if option == "where" || !slices.Contains(taken, c) {
			out = append(out, before+c)
		}
	}
	return out
}
