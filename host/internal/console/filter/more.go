package filter

import (
	"context"
	"io"

	"ctl.internal/sdk/commands"
)

// Pager is what the Terminal of an interactive session can do besides.
type Pager interface {
	// Page shows text a screen at a time, by the user's keys.
	Page(ctx context.Context, r io.Reader) error
}

func more() commands.Command {
	return commands.Command{
		Name: "more", Summary: "show a screen at a time",
		Help: "Blank shows the next screen, Enter the next line, q ends. Where nobody types, everything is written at once.",
		Run: func(ctx context.Context, in *commands.Invocation) error {
			if p, ok := in.Terminal.(Pager); ok && in.Width > 0 {
				return p.Page(ctx, in.Stdin)
			}
			return each(ctx, in.Stdin, func(l string) (bool, error) { return true, line(in, l) })
		},
	}
}
