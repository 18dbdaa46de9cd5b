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

// publish shows the channels in the operational data, as they change.
func publish(ctx context.Context, data *host.Datastore, store *channels.Store) {
	p := &publisher{last: map[string]map[string]*bier.Channel{}}
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
		if err := p.show(ctx, data, store.Snapshot()); err != nil && ctx.Err() == nil {
			slog.Warn("the operational tree of BIER channels is not up to date", "err", err)
		}
	}
}

// publisher keeps what is shown. Channels are never changed, only replaced, so that
// comparing addresses finds those to show anew.
type publisher struct {
	shown bier.Shown
	last  map[string]map[string]*bier.Channel
}

func (p *publisher) show(ctx context.Context, data *host.Datastore, now map[string]map[string]*bier.Channel) error {
	parts := map[string]map[string][]byte{}
	for t, all := range now {
		path := root + "/bier-channel=" + bier.Key(t)
		if p.last[t] == nil {
			docs, err := bier.Documents(root, map[string]any{"bier-channel": []any{map[string]any{"topology-id": t}}})
			if err != nil {
				return err
			}
			parts[path] = docs
		}
		for name, c := range all {
			if p.last[t][name] == c {
				continue
			}
			at := path + "/channel=" + bier.Key(name)
			docs, err := bier.Documents(at, c)
			if err != nil {
				return err
			}
			parts[at] = docs
		}
		for name := range p.last[t] {
			if all[name] == nil {
				parts[path+"/channel="+bier.Key(name)] = nil
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := p.shown.ShowParts(ctx, data, parts); err != nil {
		return err
	}
	p.last = now
	return nil
}
