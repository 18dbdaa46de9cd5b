package tables

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"

	"ctl.internal/host/internal/logs"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// allLoggers is the name that log:get takes for every logger with a level.
const allLoggers = "ALL"

// LogCommands are log:*.
func LogCommands(r *logs.Registry) []commands.Command {
	t := logTable{r}
	return []commands.Command{
		{
			Name:      "log:get",
			Summary:   "show the level of a logger",
			Safe:      true,
			Run:       t.getLevels,
			Arguments: []commands.Argument{t.loggerArgument("name of a logger; ALL or none for all that have a level")},
		},
		{
			Name:    "log:set",
			Summary: "change the level of a logger until the next start",
			Run:     t.setLevel,
			Help: "log:set DEBUG plugin.switch\nlog:set TRACE org.ctl.aaa\nlog:set DEFAULT org.ctl.aaa\n" +
				"DEFAULT takes the logger's own level away, so that it has that of the name above it. Without a logger it is ROOT.",
			Arguments: []commands.Argument{{
				Name:     "level",
				Help:     "the level",
				Required: true,
				Values:   logs.LevelNames(),
			}, t.loggerArgument("name of the logger; ROOT when not given")},
		},
		{
			Name:      "log:display",
			Summary:   "show the newest records of the log",
			Safe:      true,
			Run:       t.displayLog,
			Help:      "log:display -n 200 -l WARN\nlog:display org.ctl.aaa\nOlder records are in log/ctl.log.",
			Options:   t.filterOptions(),
			Arguments: []commands.Argument{t.loggerArgument("only this logger and those below it")},
		},
		{
			Name:      "log:tail",
			Summary:   "show records as they come, until Ctrl-C",
			Safe:      true,
			Run:       t.tailLog,
			Help:      "log:tail --plugin switch -l WARN\nlog:tail | grep -i timeout\nRecords of your own commands are left out without --own. With --format json each record is a line.",
			Options:   t.filterOptions(),
			Arguments: []commands.Argument{t.loggerArgument("only this logger and those below it")},
		},
		{
			Name:    "log:clear",
			Summary: "forget the records that log:display shows",
			Help:    "The file keeps them.",
			Run: func(context.Context, *commands.Invocation) error {
				r.Clear()
				return nil
			},
		},
		{
			Name:    "log:log",
			Summary: "write a record into the log",
			Run:     t.logMessage,
			Options: []commands.Option{{
				Name:    "level",
				Short:   "l",
				Help:    "its level",
				Default: "INFO",
				Values:  settableLevels(),
			}},
			Arguments: []commands.Argument{{
				Name:     "message",
				Help:     "the text",
				Required: true,
				Repeated: true,
			}},
		},
	}
}

type logTable struct{ r *logs.Registry }

func (t logTable) loggerArgument(help string) commands.Argument {
	return commands.Argument{
		Name:     "logger",
		Help:     help,
		Complete: newNameCompleter(t.r.Names),
	}
}

func settableLevels() []string {
	return slices.DeleteFunc(slices.Clone(logs.LevelNames()), func(n string) bool {
		return n == logs.Default
	})
}

func (t logTable) getLevels(_ context.Context, in *commands.Invocation) error {
	list := t.r.List()
	name := in.Arg("logger")
	if name != "" && name != allLoggers {
		list = []logs.Setting{{
			Logger: name,
			Level:  t.r.Get(name),
		}}
	}
	out := &commands.Table{Columns: []commands.Column{{
		Title: "Logger",
		Key:   "logger",
	}, {Title: "Level", Key: "level"}}}
	for _, s := range list {
		out.Add(s.Logger, s.Level)
	}
	return in.Emit(out, nil)
}

func (t logTable) setLevel(_ context.Context, in *commands.Invocation) error {
	name := cmp.Or(in.Arg("logger"), logs.Root)
	if name == allLoggers {
		return fault.At(
			fault.Invalid,
			in.Name,
			"ALL is for log:get; ROOT is the level that all others inherit",
		)
	}
	return t.r.Set(name, in.Arg("level"))
}

func (t logTable) logMessage(ctx context.Context, in *commands.Invocation) error {
	level, err := logs.ParseLevel(in.Option("level"))
	if err != nil {
		return fault.At(fault.Invalid, in.Name, "%v", err)
	}
	t.r.Logger("console").LogAttrs(
		ctx,
		level,
		strings.Join(in.Args["message"], " "),
		slog.String("user", in.Caller.User),
	)
	return nil
}
