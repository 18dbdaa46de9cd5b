package plugintest

import (
	"context"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// troublesServer takes what plugins find wrong, and keeps nothing.
type troublesServer struct {
	pluginv1.UnimplementedHostTroublesServer
}

func (troublesServer) Replace(
	context.Context,
	*pluginv1.ReplaceTroublesRequest,
) (*pluginv1.ReplaceTroublesResponse, error) {
	return &pluginv1.ReplaceTroublesResponse{}, nil
}
