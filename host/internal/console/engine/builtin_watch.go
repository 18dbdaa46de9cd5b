package engine

import (
	"context"
	"strconv"
	"time"

	"ctl.internal/internal/console"
	"ctl.internal/internal/together"
	"ctl.internal/sdk/commands"
)

func (s *Session) watchCommand(ctx context.Context, in *commands.Invocation) error {
	every, err := parseSeconds(in.Option("interval"), "the interval")
	if err != nil {
		return err
	}
	count, _ := strconv.Atoi(in.Option("count"))
	line := in.Arg("command")
	if words := in.Args["command"]; len(words) > 1 {
		line = console.Join(words)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 1; ; n++ {
		if in.Width > 0 {
			in.Printf("\x1b[H\x1b[2JEvery %ss: %s\n\n", in.Option("interval"), line)
		}
		code := s.Run(
			ctx,
			line,
			IO{
				Stdout:   in.Stdout,
				Stderr:   in.Stderr,
				Width:    in.Width,
				Terminal: in.Terminal,
			},
		)
		if code != console.OK {
			return console.Silent(code)
		}
		if n == count {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func sleepCommand(ctx context.Context, in *commands.Invocation) error {
	d, err := parseSeconds(in.Arg("seconds"), "the time to wait")
	if err != nil {
		return err
	}
	return together.Sleep(ctx, d)
}
