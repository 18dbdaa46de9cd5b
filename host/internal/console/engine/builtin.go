package engine

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// hidden commands serve programs, or are other names of one: lists leave them out.
var hidden = []string{shellScope + ":complete", shellScope + ":logout", shellScope + ":quit"}

// stopsAtArg reports commands that run another one: their options end at its name.
func stopsAtArg(name string) bool {
	return name == shellScope+":watch" || name == shellScope+":echo"
}

// builtinCommands are the shell's own commands for one session.
func (s *Session) builtinCommands() []commands.Command {
	return []commands.Command{
		{
			Name:    shellScope + ":help",
			Summary: "list the commands, or explain one",
			Safe:    true,
			Run:     s.helpCommand,
			Help: "help lists all commands, help feature those of a scope, help feature:install explains one,\nas feature:install --help does.\n\n" +
				"A line is a command; \"|\" sends its output through another (grep, head, tail, sort, uniq, wc, cut, tac, more);\n" +
				"\";\" separates commands, of which none runs after one that failed. Words with blanks stand in quotes.\n" +
				"The name of a scope alone enters it (prompt shows it), exit leaves it.",
			Arguments: []commands.Argument{{
				Name: "name",
				Help: "a command or a scope",
				Complete: func(_ context.Context, prefix string) []string {
					x := s.currentIndex()
					names := x.listScopes()
					for _, c := range x.all {
						names = append(names, c.Name)
					}
					return names
				},
			}},
		},
		{
			Name:    shellScope + ":exit",
			Summary: "leave the subshell, or the shell",
			Safe:    true,
			Run:     s.exitCommand,
			Help:    "logout and quit leave the shell, out of a subshell too.",
		},
		{
			Name:    shellScope + ":logout",
			Summary: "leave the shell, out of a subshell too",
			Safe:    true,
			Run:     s.leaveDialogue,
		},
		{
			Name:    shellScope + ":quit",
			Summary: "leave the shell, out of a subshell too",
			Safe:    true,
			Run:     s.leaveDialogue,
		},
		{
			Name:    shellScope + ":history",
			Summary: "show the lines typed before, or forget them",
			Run:     s.historyCommand,
			Help:    "Lines that carried a secret (an option whose name contains password, pwd, pass, secret,\ncommunity or token) are never kept.",
			Options: []commands.Option{{
				Name:  "clear",
				Short: "c",
				Help:  "forget them all, also those of earlier sessions",
				Type:  commands.Bool,
			}},
		},
		{
			Name:    shellScope + ":alias",
			Summary: "give a command a second name, or list those",
			Run:     s.aliasCommand,
			Help:    "alias fl='feature:list -i'\nalias find='feature:list | grep -i $args'\nAn alias lasts as long as the session; those in etc/shell.init.script are there in each.",
			Arguments: []commands.Argument{{
				Name:     "name=command",
				Help:     "the name and the command it stands for; $args in it is what is given to the alias",
				Repeated: true,
			}},
		},
		{
			Name:    shellScope + ":unalias",
			Summary: "forget an alias",
			Run:     s.unaliasCommand,
			Arguments: []commands.Argument{{
				Name:     "name",
				Help:     "the alias",
				Required: true,
				Complete: func(context.Context, string) []string {
					s.mu.Lock()
					defer s.mu.Unlock()
					return slices.Sorted(maps.Keys(s.aliases))
				},
			}},
		},
		{
			Name:    shellScope + ":watch",
			Summary: "run a command again and again until Ctrl-C",
			Safe:    true,
			Run:     s.watchCommand,
			Help:    "watch -n 5 feature:list -i\nwatch 'plugin:list | grep failed'\nIt ends when the command fails.",
			Options: []commands.Option{
				{
					Name:    "interval",
					Short:   "n",
					Help:    "seconds between two runs",
					Default: "2",
				},
				{
					Name:    "count",
					Short:   "c",
					Help:    "how often; 0 = without end",
					Type:    commands.Int,
					Default: "0",
				},
			},
			Arguments: []commands.Argument{{
				Name:     "command",
				Help:     "the command, or a whole line in quotes",
				Required: true,
				Repeated: true,
			}},
		},
		{
			Name:    shellScope + ":complete",
			Summary: "list what can follow a line, for the completion of other shells",
			Safe:    true,
			Run:     s.completeCommand,
			Arguments: []commands.Argument{{
				Name:     "line",
				Help:     "the line up to the cursor",
				Required: true,
			}},
		},
		{
			Name:    "system:dump",
			Summary: "write one file for a bug report, without secrets",
			Safe:    true,
			Run:     s.dumpReport,
			Help: "system:dump report.zip\nIt holds the output of " + strings.Join(dumped, ", ") + " and of plugin:info for each plugin. Passwords, communities\n" +
				"and keys are not in it; names of devices and users, and addresses, are: look at it before you pass it on.",
			Arguments: []commands.Argument{{
				Name:     "file",
				Help:     "to be made, a zip archive",
				Required: true,
				Type:     commands.NewFile,
			}},
		},
		{
			Name:    shellScope + ":clear",
			Summary: "clear the screen",
			Safe:    true,
			Run:     clearCommand,
		},
		{
			Name:    shellScope + ":echo",
			Summary: "write its arguments",
			Safe:    true,
			Run:     echoCommand,
			Options: []commands.Option{{
				Name:  "no-newline",
				Short: "n",
				Help:  "end without a line end",
				Type:  commands.Bool,
			}},
			Arguments: []commands.Argument{{
				Name:     "text",
				Help:     "what to write",
				Repeated: true,
			}},
		},
		{
			Name:    shellScope + ":sleep",
			Summary: "wait",
			Safe:    true,
			Run:     sleepCommand,
			Arguments: []commands.Argument{{
				Name:     "seconds",
				Help:     "how long, 0.1 to 86400",
				Required: true,
			}},
		},
	}
}

func (s *Session) helpCommand(_ context.Context, in *commands.Invocation) error {
	x, name := s.currentIndex(), in.Arg("name")
	if name == "" {
		return in.Emit(commandOverview(x, s.Scope()), nil)
	}
	c, err := x.findCommand(s.Scope(), name)
	if err == nil {
		return in.Emit(helpData(c), func() string { return helpText(c) })
	}
	if x.hasScope(name) {
		return in.Emit(commandOverview(x, name), nil)
	}
	return err
}

func (s *Session) exitCommand(context.Context, *commands.Invocation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.scope != "" {
		s.scope = ""
	} else {
		s.done = true
	}
	return nil
}

// leaveDialogue ends the dialogue from wherever it is, under the names that users of other shells type.
func (s *Session) leaveDialogue(context.Context, *commands.Invocation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	return nil
}

func (s *Session) historyCommand(_ context.Context, in *commands.Invocation) error {
	if s.history == nil {
		return fault.New(
			fault.Unavailable,
			"there is no history here; only interactive sessions have one",
		)
	}
	if in.Flag("clear") {
		return s.history.Clear()
	}
	lines := s.history.Lines()
	return in.Emit(lines, func() string {
		var b strings.Builder
		for i, l := range lines {
			fmt.Fprintf(&b, "%5d  %s\n", i+1, l)
		}
		return b.String()
	})
}

func (s *Session) aliasCommand(_ context.Context, in *commands.Invocation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	given := in.Args["name=command"]
	if len(given) == 0 {
		t := &commands.Table{
			Empty: "no aliases",
			Columns: []commands.Column{{
				Title: "Alias",
				Key:   "name",
			}, {Title: "Command", Key: "command"}},
		}
		for _, name := range slices.Sorted(maps.Keys(s.aliases)) {
			t.Add(name, s.aliases[name])
		}
		return in.Emit(t, nil)
	}
	name, value, ok := strings.Cut(strings.Join(given, " "), "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || name == "" || value == "" || strings.ContainsAny(name, " :|;'\"\\") {
		return fault.At(
			fault.Invalid,
			"alias",
			"write it as alias NAME='COMMAND'; the name has no blanks, quotes or colons",
		)
	}
	s.aliases[name] = value
	return nil
}

func (s *Session) unaliasCommand(_ context.Context, in *commands.Invocation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.aliases[in.Arg("name")]; !ok {
		return fault.New(fault.NotFound, "there is no alias %s; alias lists them", in.Arg("name"))
	}
	delete(s.aliases, in.Arg("name"))
	return nil
}

func (s *Session) completeCommand(ctx context.Context, in *commands.Invocation) error {
	for _, c := range s.Complete(ctx, in.Arg("line")).Candidates {
		in.Printf("%s\t%s\n", c.Text, c.Help)
	}
	return nil
}

func clearCommand(_ context.Context, in *commands.Invocation) error {
	if in.Width > 0 {
		in.Printf("\x1b[H\x1b[2J")
	}
	return nil
}

func echoCommand(_ context.Context, in *commands.Invocation) error {
	end := "\n"
	if in.Flag("no-newline") {
		end = ""
	}
	_, err := fmt.Fprint(in.Stdout, strings.Join(in.Args["text"], " ")+end)
	return err
}

func parseSeconds(text, what string) (time.Duration, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 0.1 && f <= 86400) { // NaN, too, is no time
		return 0, fault.New(
			fault.Invalid,
			"%s must be a number of seconds from 0.1 to 86400, not %q",
			what,
			text,
		)
	}
	return time.Duration(f * float64(time.Second)), nil
}

// Record is what a log says of a line. Who writes it does so whatever the levels are set to: log:set must not hide what is
// done with it.
func (a Audited) Record() slog.Record {
	r := slog.NewRecord(time.Now(), slog.LevelInfo, "command", 0)
	r.AddAttrs(slog.String("user", a.Caller.ID()), slog.String("address", a.Caller.Address), slog.String("request", a.Caller.RequestID),
		slog.String("line", a.Line), slog.Int("code", int(a.Code)), slog.String(
			"took",
			a.Duration.Round(time.Microsecond).String(),
		))
	return r
}
