package engine

import (
	"context"
	"errors"
	"slices"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Files gives the commands of a session the files that its user names.
type Files interface {
	// Open returns the absolute path at which a command finds a file, or makes it. done, unless nil,
	// is called when the command has ended, with its error.
	Open(ctx context.Context, path string, create bool) (at string, done func(context.Context, error) error, err error)
	// Complete lists the files that begin with prefix; ok is false where the command itself may.
	Complete(prefix string) (names []string, ok bool)
}

func isFile(t commands.Type) bool {
	return t == commands.File || t == commands.NewFile
}

// withFiles returns the command's Run with its arguments and options of type File and NewFile replaced
// by paths that it may open.
func (s *Session) withFiles(cmd commands.Command) func(context.Context, *commands.Invocation) error {
	if !slices.ContainsFunc(cmd.Arguments, func(a commands.Argument) bool {
		return isFile(a.Type)
	}) &&
		!slices.ContainsFunc(cmd.Options, func(o commands.Option) bool {
			return isFile(o.Type)
		}) {
		return cmd.Run
	}
	return func(ctx context.Context, in *commands.Invocation) (err error) {
		var ends []func(context.Context, error) error
		defer func() {
			for _, end := range ends {
				err = errors.Join(err, end(context.WithoutCancel(ctx), err))
			}
		}()
		open := func(t commands.Type, path *string) error {
			if !isFile(t) || *path == "" || *path == "-" {
				return nil
			}
			if s.Files == nil {
				return fault.New(fault.Denied, "this session has no access to files")
			}
			at, done, err := s.Files.Open(ctx, *path, t == commands.NewFile)
			if err == nil && done != nil {
				ends = append(ends, done)
			}
			*path = at
			return err
		}
		for _, o := range cmd.Options {
			if v, given := in.Options[o.Name]; given {
				if err := open(o.Type, &v); err != nil {
					return err
				}
				in.Options[o.Name] = v
			}
		}
		if len(cmd.Arguments) == 0 {
			return cmd.Run(ctx, in)
		}
		in.Positional = slices.Clone(in.Positional)
		in.Args = map[string][]string{}
		for i := range in.Positional {
			a := cmd.Arguments[min(i, len(cmd.Arguments)-1)]
			for _, ending := range a.Beside {
				beside := in.Positional[i] + ending
				_ = open(a.Type, &beside) // it may be absent; the command says what it misses
			}
			if err := open(a.Type, &in.Positional[i]); err != nil {
				return err
			}
			in.Args[a.Name] = append(in.Args[a.Name], in.Positional[i])
		}
		return cmd.Run(ctx, in)
	}
}

// withFileCompletion returns the command with the completion of files that the session has.
func (s *Session) withFileCompletion(cmd commands.Command) commands.Command {
	instead := func(t commands.Type, own func(context.Context, string) []string) func(context.Context, string) []string {
		if !isFile(t) || s.Files == nil {
			return own
		}
		return func(ctx context.Context, prefix string) []string {
			names, ok := s.Files.Complete(prefix)
			if ok || own == nil {
				return names
			}
			return own(ctx, prefix)
		}
	}
	cmd.Arguments, cmd.Options = slices.Clone(cmd.Arguments), slices.Clone(cmd.Options)
	for i, a := range cmd.Arguments {
		cmd.Arguments[i].Complete = instead(a.Type, a.Complete)
	}
	for i, o := range cmd.Options {
		cmd.Options[i].Complete = instead(o.Type, o.Complete)
	}
	return cmd
}
