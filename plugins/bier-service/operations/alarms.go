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

type clearReportsIn struct {
	Node string `json:"node-id"`
}

func (h *Handlers) clearReports(ctx context.Context, in clearReportsIn) (bier.ConfigureOutput, error) {
	return bier.Configured(h.Routers.ClearNotices(ctx, bier.ShortID(in.Node)), nil)
}
