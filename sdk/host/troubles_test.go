package host

import (
	"context"
	"testing"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// slowList is a controller that answers nothing.
type slowList struct{ bounded bool }

func (s *slowList) Replace(
	ctx context.Context,
	_ *pluginv1.ReplaceTroublesRequest,
	_ ...grpc.CallOption,
) (*pluginv1.ReplaceTroublesResponse, error) {
	_, s.bounded = ctx.Deadline()
	return nil, context.DeadlineExceeded
}

// A controller that does not answer does not keep a plugin for ever.
func TestReplaceOfTroublesHasADeadline(t *testing.T) {
	s := &slowList{}
	if err := (&Troubles{rpc: s}).Replace(context.Background(), nil); err == nil || !s.bounded {
		t.Errorf("bounded %v, %v", s.bounded, err)
	}
}
