package discovery

import (
	"context"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/switchdriver"
)

// maxForwarding is how many switches are asked for their forwarding tables to find
// the links of those that speak neither LLDP nor CDP; in greater networks only the
// spanning tree is asked for.
const maxForwarding = 256

// infer has the switches read again for what else reports links, when some of them
// report no neighbours. Switches that fail keep their former data.
func (s *Surveyor) infer() {
	if s.opt.Infer == nil {
		return
	}
	observed, mute := map[mib.MAC]*Observation{}, false
	want := map[mib.MAC]bool{}
	var switches []*switchdriver.Switch
	for _, sw := range s.opt.Inventory.All() {
		o := s.Observation(mib.MAC(sw.NodeId))
		if o == nil || o.Stale || !o.BySNMP() {
			continue
		}
		observed[o.Node] = o
		mute = mute || o.Mute()
		switches = append(switches, sw)
		want[o.Node] = true
		if o.Bridge != 0 {
			want[o.Bridge] = true
		}
	}
	if !mute {
		return
	}
	if len(switches) > maxForwarding {
		want = nil
	}
	answers := s.ask(switches, func(ctx context.Context, sw *switchdriver.Switch) (*Observation, error) {
		with := *observed[mib.MAC(sw.NodeId)]
		e, err := s.opt.Infer(ctx, sw, &with, want)
		with.Evidence = e
		return &with, err
	})
	for range switches {
		a := <-answers
		if a.err != nil {
			continue
		}
		s.mu.Lock()
		if now := s.observed[a.obs.Node]; now != nil { // read again meanwhile, perhaps
			with := *now
			with.Evidence = a.obs.Evidence
			s.observed[a.obs.Node] = &with
		}
		s.mu.Unlock()
	}
}
