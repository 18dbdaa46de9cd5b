package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/switchdriver"
)

// sighting is where an address was learned: at a port that leads to no other switch.
type sighting struct {
	MAC    mib.MAC   `json:"mac"`
	Switch mib.MAC   `json:"switch"`
	Port   uint32    `json:"port"`
	VLAN   uint32    `json:"vlan"`
	Since  time.Time `json:"since"`
}

// The sightings lie in the datastore in bins by address, so that a move writes one small record.
const (
	stationPrefix = "observed/stations/"
	stationBins   = 256
	binsPerTxn    = 40
	maxMoves      = 200 // in the history, of one reading: a change of the spanning tree moves all addresses
)

func binOf(m mib.MAC) string { return fmt.Sprintf("%02x", byte(m)^byte(m>>8)) }

// stationOf is where an address was seen last.
func (s *Service) stationOf(m mib.MAC) (sighting, bool) {
	if s.stations == nil {
		return sighting{}, false
	}
	bin, _ := s.stations.Get(s.store.Now(), binOf(m))
	for _, st := range bin {
		if st.MAC == m {
			return st, true
		}
	}
	return sighting{}, false
}

// followStations reads at the interval of the settings where addresses are, until ctx ends.
func (s *Service) followStations(ctx context.Context, term *state.Term) {
	interval := s.set.Stations.Interval.Duration
	if interval <= 0 {
		return
	}
	for ctx.Err() == nil {
		host.Pause(ctx, interval)
		if ctx.Err() == nil {
			s.keepStations(ctx, term, s.lookForStations(ctx))
		}
	}
}

// lookForStations reads the forwarding tables of all switches. Of an address that is learned at several ports which
// lead to no other switch, the port with the fewest addresses counts: what is attached to the others is a switch
// that is not listed. No more are kept than the settings say, of each switch the same number at most.
func (s *Service) lookForStations(ctx context.Context) map[mib.MAC]sighting {
	keep := s.set.Stations.Keep / max(1, len(s.inventory.All())) // of one switch, so that the same ones are kept each time
	now := time.Now()
	found := map[mib.MAC]sighting{}
	crowd := map[mib.MAC]int{} // addresses at the port where one is
	_, _ = s.each(ctx, "", func(ctx context.Context, sw *switchdriver.Switch, mu *sync.Mutex) error {
		m := mib.MAC(sw.NodeId)
		if o := s.survey.Observation(m); o == nil || o.Stale {
			return nil
		}
		byPort := map[uint32][]sighting{}
		leads := map[uint32]bool{}
		count := 0
		for q := (driver.Query{Limit: driver.PageSize}); count < keep; {
			p, err := s.drivers.ReadFDB(ctx, sw, q)
			if err != nil {
				return err
			}
			for _, e := range p.Entries {
				if _, known := leads[e.Port]; !known {
					leads[e.Port] = s.leadsOn(m, e.Port)
				}
				if e.Type == switchdriver.FDBLearned && !leads[e.Port] && count < keep {
					byPort[e.Port] = append(byPort[e.Port], sighting{mib.MAC(e.Mac), m, e.Port, e.VlanId, now})
					count++
				}
			}
			if q.Cursor = p.Next; q.Cursor == "" {
				break
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for _, list := range byPort {
			for _, st := range list {
				if n, ok := crowd[st.MAC]; ok && n <= len(list) {
					continue
				}
				found[st.MAC], crowd[st.MAC] = st, len(list)
			}
		}
		return nil
	})
	return found
}

// keepStations writes the sightings that are new or elsewhere, and notes those that moved in the history. An address
// that is learned nowhere any more stays where it was, as long as there is room.
func (s *Service) keepStations(ctx context.Context, term *state.Term, found map[mib.MAC]sighting) {
	bins := map[string][]sighting{}
	for m, st := range found {
		bins[binOf(m)] = append(bins[binOf(m)], st)
	}
	var moves []discovery.Change
	changed := map[string][]sighting{}
	now := s.store.Now()
	for bin, list := range bins {
		old, _ := s.stations.Get(now, bin)
		next, moved, differs := merge(old, list, max(1, s.set.Stations.Keep/stationBins))
		if differs {
			changed[bin] = next
		}
		moves = append(moves, moved...)
	}
	for part := range slices.Chunk(slices.Collect(maps.Keys(changed)), binsPerTxn) {
		_, err := term.Update(ctx, func(tx *state.Tx) (err error) {
			for _, bin := range part {
				err = errors.Join(err, s.stations.Put(tx, bin, changed[bin]))
			}
			return err
		})
		if err != nil {
			if ctx.Err() == nil {
				s.log.Warn("where addresses are is not written; trying again later", "err", err)
			}
			return
		}
	}
	if e := s.exporter.Load(); e != nil && len(moves) > 0 {
		e.remember(moves[:min(len(moves), maxMoves)])
	}
}

// merge is a bin after a reading: what was found, with the time since when it is there, and what was not found and
// still has room.
func merge(old, found []sighting, room int) (next []sighting, moves []discovery.Change, differs bool) {
	was := make(map[mib.MAC]sighting, len(old))
	for _, st := range old {
		was[st.MAC] = st
	}
	for _, st := range found {
		before, known := was[st.MAC]
		delete(was, st.MAC)
		switch {
		case known && before.Switch == st.Switch && before.Port == st.Port && before.VLAN == st.VLAN:
			next = append(next, before)
			continue
		case known && (before.Switch != st.Switch || before.Port != st.Port):
			moves = append(moves, discovery.Change{At: st.Since, Cause: string(discovery.Interval), Kind: discovery.Moved, MAC: st.MAC,
				Node: discovery.NodeID(st.Switch), Port: fmt.Sprint(st.Port), Peer: discovery.NodeID(before.Switch), PeerPort: fmt.Sprint(before.Port)})
		case known: // another VLAN of the same port
			st.Since = before.Since
		}
		next, differs = append(next, st), true
	}
	for _, st := range old {
		if _, gone := was[st.MAC]; gone && len(next) < room {
			next = append(next, st)
		} else if gone {
			differs = true
		}
	}
	return next, moves, differs
}
