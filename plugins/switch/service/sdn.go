package service

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/sdn"
)

// The values of the setting sdn.apply.
const (
	sdnOff = "off"
	sdnDry = "dry-run"
)

// The bounds of applying: switches at a time, and time for one.
const (
	sdnParallel = 16
	sdnTime     = time.Minute
)

func (s SDN) settings() sdn.Settings {
	return sdn.Settings{STP: s.STP, BPDU: s.BPDU, Broadcast: s.Broadcast, Multicast: s.Multicast, Unknown: s.Unknown, Learning: s.Learning}
}

// followSDN gives switches the settings for SDN when they first answer, if that is asked.
func (s *Service) followSDN(ctx context.Context) {
	if s.set.SDN.Apply == sdnOff || !s.set.SDN.settings().Any() {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.discovered:
		}
		var g errgroup.Group
		g.SetLimit(sdnParallel)
		for _, sw := range s.inventory.All() {
			o := s.survey.Observation(mib.MAC(sw.NodeId))
			if ctx.Err() != nil || o == nil || o.Stale || s.sdn.Done(sw.NodeId, s.set.SDN.Apply == sdnDry) {
				continue
			}
			g.Go(func() error {
				ctx, cancel := context.WithTimeout(ctx, sdnTime)
				defer cancel()
				s.sdn.Apply(ctx, sw, s.set.SDN.Apply == sdnDry) // it logs and keeps what came of it
				return nil
			})
		}
		_ = g.Wait()
	}
}
