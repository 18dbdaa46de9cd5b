package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"ctl.internal/host/internal/console/syntax"
	"ctl.internal/internal/console"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// IO is what a line is connected to.
type IO struct {
	Stdin    io.Reader // nil = nothing to read
	Stdout   io.Writer
	Stderr   io.Writer
	Width    int               // columns, 0 = no terminal
	Terminal commands.Terminal // nil = no terminal
	Failed   func(error)       // gets the errors instead of Stderr, unless nil
}

// noTerminal is the Terminal of a line without a terminal.
type noTerminal struct{}

func (noTerminal) Prompt(context.Context, string, bool) (string, error) {
	return "", fault.New(
		fault.Unavailable,
		"this command asks a question and needs a terminal; run it in an interactive ctl",
	)
}
func (noTerminal) Progress(commands.Progress) {}

// Run executes a line. The pipelines of a chain run one after the other until one
// fails; its code is the line's.
func (s *Session) Run(ctx context.Context, line string, std IO) console.Code {
	if std.Stdin == nil {
		std.Stdin = commands.NoInput
	}
	if std.Terminal == nil {
		std.Terminal = noTerminal{}
	}
	parsed, err := syntax.Parse(line)
	if err != nil {
		return s.reportError(std, s.format, fault.New(fault.Malformed, "%s", err))
	}
	for _, p := range parsed {
		code := s.runPipeline(ctx, p, std)
		if code != console.OK || s.Done() {
			return code
		}
	}
	return console.OK
}

func (s *Session) runPipeline(ctx context.Context, p syntax.Pipeline, std IO) console.Code {
	began := time.Now()
	x := s.currentIndex()
	who := s.currentCaller()
	who.RequestID = s.shell.cfg.NewRequestID()
	ctx = caller.With(ctx, who)
	code := s.startPipeline(ctx, x, p, std, who)
	if s.shell.cfg.Audit != nil {
		texts := make([]string, len(p))
		for i, stage := range p {
			texts[i], _ = s.redactStage(x, stage)
		}
		s.shell.cfg.Audit(
			ctx,
			Audited{
				Caller:   who,
				Line:     strings.Join(texts, " | "),
				Code:     code,
				Duration: time.Since(began),
				Reads:    s.isReadOnlyPipeline(x, p),
				Helps:    s.showsHelp(x, p),
			},
		)
	}
	return code
}

// isReadOnlyPipeline reports whether every stage of a pipeline is a command that changes nothing.
func (s *Session) isReadOnlyPipeline(x *index, p syntax.Pipeline) bool {
	expanded, err := s.expandAliases(p, 0)
	if err != nil {
		return false
	}
	for _, stage := range expanded {
		cmd, err := x.findCommand(s.Scope(), stage.Texts()[0])
		if err != nil || !cmd.Safe && !asksHelp(cmd, stage) {
			return false
		}
	}
	return true
}

// showsHelp reports whether a pipeline shows the help of commands, perhaps through filters of the shell, and runs none.
func (s *Session) showsHelp(x *index, p syntax.Pipeline) bool {
	expanded, err := s.expandAliases(p, 0)
	if err != nil {
		return false
	}
	for _, stage := range expanded {
		cmd, err := x.findCommand(s.Scope(), stage.Texts()[0])
		if err != nil {
			return false
		}
		scope, _ := splitCommandName(cmd.Name)
		filters := cmd.Safe && scope == shellScope && !stopsAtArg(cmd.Name)
		if !filters && !asksHelp(cmd, stage) {
			return false
		}
	}
	return true
}

// asksHelp reports whether a stage shows the help of its command instead of running it.
func asksHelp(cmd commands.Command, stage syntax.Stage) bool {
	b := binder{
		cmd:       cmd,
		words:     stage.Texts()[1:],
		stopAtArg: stopsAtArg(cmd.Name),
	}
	given, err := b.bindWords()
	return err == nil && given.help
}

// job is one checked stage, ready to run.
type job struct {
	cmd commands.Command
	in  *commands.Invocation
}

// startPipeline checks every stage before the first begins, so that a fault in the last
// one leaves nothing half done.
func (s *Session) startPipeline(
	ctx context.Context,
	x *index,
	p syntax.Pipeline,
	std IO,
	who caller.Caller,
) console.Code {
	p, err := s.expandAliases(p, 0)
	if err != nil {
		return s.reportError(std, s.format, err)
	}
	if len(p) == 1 && len(p[0]) == 1 && s.enterScope(x, p[0][0].Text) {
		return console.OK
	}
	defer showSlow(&std, p)()
	var jobs []job
	for _, stage := range p {
		words := stage.Texts()
		cmd, err := x.findCommand(s.Scope(), words[0])
		if err != nil {
			if by := s.shell.cfg.Missing(words[0]); len(by) > 0 {
				err = fault.New(
					fault.NotFound,
					"the command %s comes with the feature %s, which is not installed or not started: feature:install %s",
					words[0],
					orList(by),
					by[0],
				)
			}
			return s.reportError(std, s.format, err)
		}
		refuse := s.shell.cfg.Refuse
		if refuse != nil && !cmd.Safe && !asksHelp(cmd, stage) {
			if err := refuse(cmd.Name); err != nil {
				return s.reportError(std, s.format, err)
			}
		}
		b := binder{
			cmd:       cmd,
			words:     words[1:],
			stopAtArg: stopsAtArg(cmd.Name),
		}
		given, err := b.bindWords()
		if err != nil {
			return s.reportError(std, s.format, err)
		}
		in := &commands.Invocation{
			Name:       cmd.Name,
			Options:    given.options,
			Args:       given.args,
			Positional: given.rest,
			Format:     given.format,
			Caller:     who,
			Stderr:     std.Stderr,
			Terminal:   std.Terminal,
		}
		in.Format = cmp.Or(in.Format, s.format)
		if given.help {
			c := cmd
			cmd.Run = func(_ context.Context, in *commands.Invocation) error {
				return in.Emit(helpData(c), func() string { return helpText(c) })
			}
		} else {
			cmd.Run = s.withFiles(cmd)
			given.asked.Format = in.Format
			if given.asked.Needed() {
				cmd.Run = presented(cmd.Run, given.asked)
				in.Format = "text" // of errors, too
			}
		}
		jobs = append(jobs, job{cmd, in})
	}
	jobs[0].in.Stdin = std.Stdin
	last := jobs[len(jobs)-1].in
	last.Stdout, last.Width = std.Stdout, std.Width
	return s.runJobs(ctx, jobs, std)
}

// errDownstream is the cause of a context that ended because its output is not read any more.
var errDownstream = errors.New("the next command of the pipeline has ended")

// runJobs runs the stages at the same time. A stage that ends stops those before
// it without that being a fault; the first stage that fails gives the code.
func (s *Session) runJobs(ctx context.Context, jobs []job, std IO) console.Code {
	type stage struct {
		ctx    context.Context
		cancel context.CancelCauseFunc
		done   chan error
	}
	stages := make([]stage, len(jobs))
	readers := make([]*io.PipeReader, len(jobs))
	writers := make([]*io.PipeWriter, len(jobs))
	for i := range jobs {
		stages[i].ctx, stages[i].cancel = context.WithCancelCause(ctx)
		stages[i].done = make(chan error, 1)
		if i > 0 {
			readers[i], writers[i-1] = io.Pipe()
			jobs[i].in.Stdin, jobs[i-1].in.Stdout = readers[i], writers[i-1]
		}
	}
	for i, j := range jobs {
		go func() {
			err := s.callCommand(stages[i].ctx, j)
			if errors.Is(err, errDownstream) ||
				err != nil && context.Cause(stages[i].ctx) == errDownstream {
				err = nil
			}
			if writers[i] != nil {
				writers[i].Close()
			}
			if readers[i] != nil {
				readers[i].CloseWithError(errDownstream)
				stages[i-1].cancel(errDownstream)
			}
			stages[i].done <- err
		}()
	}
	code := console.OK
	for i := range stages {
		err := <-stages[i].done
		stages[i].cancel(nil)
		if err != nil && ctx.Err() != nil {
			err = ctx.Err()
		}
		if err == nil {
			continue
		}
		c := s.reportError(std, jobs[i].in.Format, err)
		if code == console.OK {
			code = c
		}
	}
	return code
}

// callCommand runs one command; a panic of the controller's own code is an error of the
// command, never of the controller.
func (s *Session) callCommand(ctx context.Context, j job) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s.shell.cfg.Log.ErrorContext(
				ctx,
				"a command panicked",
				"command",
				j.cmd.Name,
				"panic",
				r,
				"stack",
				string(debug.Stack()),
			)
			err = fault.At(
				fault.Internal,
				j.cmd.Name,
				"the command broke down; the log of the controller says where",
			)
		}
	}()
	if j.cmd.Run == nil {
		return fault.At(fault.Unsupported, j.cmd.Name, "the command has no code")
	}
	return j.cmd.Run(ctx, j.in)
}

// reportError shows an error and returns its code.
func (s *Session) reportError(std IO, format string, err error) console.Code {
	code := console.CodeOf(err)
	var silent console.Silent
	if errors.As(err, &silent) || code == console.Interrupted {
		return code
	}
	if std.Failed != nil {
		std.Failed(err)
		return code
	}
	if format == "json" {
		type one struct {
			Kind string `json:"kind"`
			Text string `json:"text"`
			Path string `json:"path,omitempty"`
		}
		var all []one
		for _, e := range fault.All(err) {
			all = append(all, one{e.Kind.String(), e.Text, e.Path})
		}
		enc := json.NewEncoder(std.Stderr)
		enc.SetEscapeHTML(false) // <use-config> is for people to read
		_ = enc.Encode(map[string]any{
			"errors": all,
			"code":   code,
		})
		return code
	}
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = console.Printable(lines[i]) // what a device or plugin says must not move the cursor
	}
	fmt.Fprintf(std.Stderr, "error: %s\n", strings.Join(lines, "\n       "))
	return code
}

// enterScope goes into the subshell of a scope, when that is what the word means.
func (s *Session) enterScope(x *index, word string) bool {
	_, err := x.findCommand(s.Scope(), word)
	if err == nil || !x.hasScope(word) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scope = word
	return true
}
