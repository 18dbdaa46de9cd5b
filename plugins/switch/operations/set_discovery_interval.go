package operations

import (
	"context"
	"time"
)

type setDiscoveryIntervalIn struct {
	Seconds *int32 `json:"interval-second"`
}

type setDiscoveryIntervalOut struct {
	Result string `json:"set-discovery-interval-result"`
}

// setDiscoveryInterval changes the period from now on; 0 turns it off.
func (h *Handlers) setDiscoveryInterval(ctx context.Context, in setDiscoveryIntervalIn) (*setDiscoveryIntervalOut, error) {
	var c checker
	const leaf = "interval-second"
	switch {
	case in.Seconds == nil:
		c.missing(leaf)
	case *in.Seconds < 0:
		c.invalid(leaf, "%d is less than 0; 0 turns periodic discovery off", *in.Seconds)
	}
	if len(c.faults) > 0 {
		return nil, c.faults.Err()
	}
	d := time.Duration(*in.Seconds) * time.Second
	if err := h.SaveInterval(ctx, d); err != nil {
		return nil, err
	}
	return &setDiscoveryIntervalOut{success}, nil
}
