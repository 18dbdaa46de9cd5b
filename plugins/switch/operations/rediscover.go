package operations

import (
	"context"

	"ctl.internal/plugins/switch/survey"
	"ctl.internal/sdk/operations"
)

type rediscoverOut struct {
	Result string `json:"rediscover-result"`
}

// rediscover asks all switches and answers when that is finished.
func (h *Handlers) rediscover(ctx context.Context, _ operations.None) (*rediscoverOut, error) {
	if _, err := h.Discover(ctx, survey.All, nil); err != nil {
		return nil, err
	}
	return &rediscoverOut{success}, nil
}
