package engine

import (
	"bytes"
	"cmp"
	"context"
	"io"

	"ctl.internal/host/internal/console/syntax"
	"ctl.internal/internal/console"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// maxShown bounds what one command of Show may write, in bytes.
const maxShown = 16 << 20

// shown takes what a command writes, up to maxShown.
type shown struct{ bytes.Buffer }

func (b *shown) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxShown {
		return 0, fault.New(
			fault.TooBig,
			"the answer has more than %d bytes: request less data",
			maxShown,
		)
	}
	return b.Buffer.Write(p)
}

// Show runs one command that changes nothing, for the caller of ctx, and returns what it writes as JSON. A command that
// shows something and fails, as bier:check does when it finds an error, returns both.
func (s *Shell) Show(ctx context.Context, line string) (content string, err error) {
	who, _ := caller.From(ctx)
	session := s.Session(who, nil, "json")
	parsed, err := syntax.Parse(line)
	if err != nil {
		return "", fault.New(fault.Malformed, "%s", err)
	}
	if len(parsed) != 1 || len(parsed[0]) != 1 {
		return "", fault.New(
			fault.Invalid,
			"%q is not a single command; use the console for pipes and several commands",
			line,
		)
	}
	name := parsed[0][0].Texts()[0]
	cmd, err := session.currentIndex().findCommand("", name)
	if err == nil && !cmd.Safe {
		return "", fault.New(
			fault.Denied,
			"%s changes data; only commands that change nothing can be run here",
			cmd.Name,
		)
	}
	var out shown
	text := ""
	code := session.Run(
		ctx,
		line,
		IO{
			Stdout: &out,
			Stderr: io.Discard,
			Failed: func(err error) { text = cmp.Or(text, err.Error()) },
		},
	)
	switch {
	case code == console.OK:
		return out.String(), nil
	case out.Len() == 0 && ctx.Err() != nil:
		return "", fault.New(fault.Timeout, "%s has not ended in time", name)
	}
	kinds := map[console.Code]fault.Kind{
		console.Usage:       fault.Invalid,
		console.NotFound:    fault.NotFound,
		console.Denied:      fault.Denied,
		console.Unavailable: fault.Unavailable,
	}
	return out.String(), fault.New(cmp.Or(kinds[code], fault.Downstream), "%s", text)
}
