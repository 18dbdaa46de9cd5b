package service

import (
	"context"
	"log/slog"
	"time"

	"ctl.internal/plugins/bier-channel/channels"
	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/host"
)

// root is the operational tree of the channels.
const root = "/bier-channel:bier-network-channel"

// pause gathers changes that come close together.
const pause = 100 * time.Millisecond

// entry is an entry of list bier-channel.
type entry struct {
	Topology string         `json:"topology-id"`
	Channels []bier.Channel `json:"channel,omitempty"`
}

// publish shows the channels in the operational data, as they change.
func publish(ctx context.Context, data *host.Datastore, store *channels.Store) {
	var shown bier.Shown
	for {
		select {
		case <-ctx.Done():
			return
		case <-store.Changed:
		}
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		t.Stop()
		if err := show(ctx, data, store, &shown); err != nil && ctx.Err() == nil {
			slog.Warn("the operational tree of BIER channels is not up to date", "err", err)
		}
	}
}

func show(ctx context.Context, data *host.Datastore, store *channels.Store, shown *bier.Shown) error {
	var all []entry
	for _, t := range store.Topologies() {
		all = append(all, entry{t, store.List(t)})
	}
	docs, err := bier.Documents(root, map[string]any{"bier-channel": all})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return shown.Show(ctx, data, docs)
}
