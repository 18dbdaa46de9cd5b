package service

import (
	"context"
	"log/slog"
	"time"

	"ctl.internal/sdk/bier"
)

// root is the operational tree of the topologies.
const root = "/bier-topology:bier-network-topology"

// pause gathers changes that come close together, and spaces tries, at least.
const pause = 200 * time.Millisecond

// publish shows the topologies in the operational data, as they change.
func (s *Service) publish(ctx context.Context) {
	var shown bier.Shown
	for {
		began := time.Now()
		if err := s.show(ctx, &shown); err != nil && ctx.Err() == nil {
			slog.Warn("the operational tree of BIER topologies is not up to date", "err", err)
		}
		rest := max(pause, 4*time.Since(began)) // showing a large network must not be all that is done
		select {
		case <-ctx.Done():
			return
		case <-s.events.shown:
		}
		t := time.NewTimer(rest)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		t.Stop()
	}
}

func (s *Service) show(ctx context.Context, shown *bier.Shown) error {
	_, views, err := s.store.Views("")
	if err != nil {
		return err
	}
	docs, err := bier.Documents(root, map[string]any{"bier-topology": views})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return shown.Show(ctx, s.host.Datastore, docs)
}
