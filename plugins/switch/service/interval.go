package service

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

const intervalKey = "discovery-interval"

// interval is the time between discoveries: what set-discovery-interval set, as
// long as the settings file says what it said then, else what the file says.
type interval struct {
	host   *host.Client // nil: nothing is kept
	config time.Duration
}

type keptInterval struct {
	Set    time.Duration `json:"set"`
	Config time.Duration `json:"config"`
}

func (i *interval) load(ctx context.Context, log *slog.Logger) time.Duration {
	if i.host == nil {
		return i.config
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	e, err := i.host.Datastore.Get(ctx, host.Private, intervalKey)
	if err != nil {
		if !errors.Is(err, &fault.Error{Kind: fault.NotFound}) {
			log.Warn("the discovery interval that was set is not known; the one of the settings holds", "err", err)
		}
		return i.config
	}
	var k keptInterval
	if err := json.Unmarshal(e.Value, &k); err != nil || k.Config != i.config || k.Set < 0 {
		return i.config
	}
	return k.Set
}

func (i *interval) save(ctx context.Context, d time.Duration) error {
	if i.host == nil {
		return nil
	}
	b, err := json.Marshal(keptInterval{d, i.config})
	if err != nil {
		return err
	}
	return i.host.Datastore.Put(ctx, intervalKey, b)
}
