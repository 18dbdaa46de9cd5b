package netconf

import (
	"context"
	"errors"
	"fmt"

	"ctl.internal/sdk/netconf/xmltree"
)

// Data does an operation that answers with data (get, get-config) and returns its
// content. An element <data> must be there.
func (s *Session) Data(ctx context.Context, op Operation) (*xmltree.Node, error) {
	r, err := s.Do(ctx, op)
	if err != nil {
		return nil, err
	}
	for _, n := range r.Data {
		if n.Is(NS, "data") {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%w: %s was answered without data", ErrUnclear, op.Name())
}

// OK does an operation that answers with ok, and nothing less.
func (s *Session) OK(ctx context.Context, op Operation) error {
	r, err := s.Do(ctx, op)
	if err != nil {
		return err
	}
	if !r.OK {
		return fmt.Errorf("%w: %s was answered without ok", ErrUnclear, op.Name())
	}
	return nil
}

// Refused returns the rpc-errors of err, nil if it is none of the router's refusals.
func Refused(err error) Refusal {
	var r Refusal
	if errors.As(err, &r) {
		return r
	}
	return nil
}
