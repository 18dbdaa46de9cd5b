package netconf

import (
	"context"
	"errors"
	"fmt"

	"ctl.internal/internal/netconf/xmltree"
)

// Data is the content of an answer to op, which is get, get-config or get-data.
func (a Answer) Data(op Operation) (*xmltree.Node, error) {
	if a.Err != nil {
		return nil, a.Err
	}
	for _, n := range a.Reply.Data {
		if n.Is(op.Element.Space, "data") {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%w: %s was answered without data", ErrUnclear, op.Name())
}

// OK does an operation that answers with ok, and nothing less.
func (s *Session) OK(ctx context.Context, op Operation) error { return s.DoAll(ctx, op)[0].OK(op) }

// OK is nil when the answer to op is ok, and nothing less.
func (a Answer) OK(op Operation) error {
	if a.Err == nil && !a.Reply.OK {
		return fmt.Errorf("%w: %s was answered without ok", ErrUnclear, op.Name())
	}
	return a.Err
}

// Refused returns the rpc-errors of err, nil if it is none of the router's refusals.
func Refused(err error) Refusal {
	var r Refusal
	if errors.As(err, &r) {
		return r
	}
	return nil
}
