package operations

import (
	"context"

	"ctl.internal/internal/bier"
)

type alarmsOut struct {
	Alarms []bier.Alarm `json:"alarm,omitempty"`
}

func (h *Handlers) getAlarms(ctx context.Context, _ struct{}) (*alarmsOut, error) {
	list, err := h.Routers.Alarms(ctx)
	return &alarmsOut{list}, err
}

func (h *Handlers) clearReports(ctx context.Context, in nodeIn) (bier.ConfigureOutput, error) {
	return bier.Configured(h.Routers.ClearNotices(ctx, in.Node), nil)
}
