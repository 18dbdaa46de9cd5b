package engine

import (
	"bytes"
	"context"
	"encoding/json"

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
		return 0, fault.New(fault.TooBig, "the answer has more than %d bytes: request less data", maxShown)
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
		return "", fault.New(fault.Invalid, "%q is not a single command; use the console for pipes and several commands", line)
	}
	name := parsed[0][0].Texts()[0]
	cmd, err := session.index().find("", name)
	if err == nil && !cmd.Safe {
		return "", fault.New(fault.Denied, "%s changes data; only commands that change nothing can be run here", cmd.Name)
	}
	var out, said shown
	if code := session.Run(ctx, line, IO{Stdout: &out, Stderr: &said}); code != console.OK {
		err = failure(said.Bytes(), code)
		if out.Len() == 0 && ctx.Err() != nil {
			err = fault.New(fault.Timeout, "%s did not end in time", name)
		}
		return out.String(), err
	}
	return out.String(), nil
}

// failure is the fault that a session wrote as JSON.
func failure(said []byte, code console.Code) error {
	var o struct {
		Errors []struct{ Text string }
	}
	text := string(said)
	if json.Unmarshal(said, &o) == nil && len(o.Errors) > 0 {
		text = o.Errors[0].Text
	}
	kinds := map[console.Code]fault.Kind{console.Usage: fault.Invalid, console.NotFound: fault.NotFound, console.Denied: fault.Denied, console.Unavailable: fault.Unavailable}
	kind, ok := kinds[code]
	if !ok {
		kind = fault.Downstream
	}
	return fault.New(kind, "%s", text)
}
