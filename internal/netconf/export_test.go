package netconf

import (
	"context"

	"ctl.internal/internal/netconf/xmltree"
)

// Data does one operation that answers with data and returns its content.
func (s *Session) Data(ctx context.Context, op Operation) (*xmltree.Node, error) {
	return s.DoAll(ctx, op)[0].Data(op)
}
