package restconf

import (
	"runtime/debug"

	"ctl.internal/internal/yang"
)

// longAnswer is after how many bytes memory is given back.
const longAnswer = 16 << 20

// answerPages answers an rpc whose output comes in pages (yang.RPC.Paged): one is asked for after the other, up to the
// limit of the client or the end of the table, and no more than one is in memory.
func (x *exchange) answerPages(
	r *yang.RPC,
	input []byte,
	invoke func([]byte) ([]byte, error),
) error {
	p, err := r.NewPages(input, x.env.style, x.xml)
	begun, sent := false, 0
	defer func() {
		if sent > longAnswer {
			debug.FreeOSMemory() // what the collector lets pile up is not needed until the next long answer
		}
	}()
	for more := true; more && err == nil; {
		var output, text []byte
		if input, err = p.Input(); err != nil {
			break
		}
		if output, err = invoke(input); err != nil {
			err = applicationError{err}
			break
		}
		if text, more, err = p.Page(output); err != nil {
			err = x.outputMismatchError(r, err)
			break
		}
		before, after := x.outputName(r)
		switch {
		case !begun && !more:
			return x.replyBody(append(append([]byte(before), text...), after...))
		case !begun:
			begun = true
			x.beginAnswer()
			x.writeBody([]byte(before))
		}
		x.writeBody(text)
		sent += len(text)
		if !more {
			x.writeBody([]byte(after))
		}
		if x.r.Context().Err() != nil {
			return nil // the client went away
		}
	}
	if err != nil && begun {
		x.breakOff(err)
	}
	return err
}

// outputName is what stands around an output.
func (x *exchange) outputName(r *yang.RPC) (before, after string) {
	switch {
	case x.xml:
		return "", ""
	case x.env == rfc8040:
		return `{"` + r.Module + `:output":`, "}"
	}
	return `{"output":`, "}"
}
