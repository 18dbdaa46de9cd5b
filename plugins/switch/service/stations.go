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

func binOf(m mib.MAC) string {
	return fmt.Sprintf("%02x", byte(m)^byte(m>>8))
}

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

// trunks are the ports that lead on by the forwarding tables, as they were read last.
type trunks struct {
	mu sync.Mutex
	of map[mib.MAC][]uint32
}

func (t *trunks) setTrunks(m mib.MAC, ports []uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[mib.MAC][]uint32{}
	}
	t.of[m] = ports
}

// stations are what a reading of the forwarding tables gave.
type stations struct {
	found map[mib.MAC]sighting
	crowd map[mib.MAC]int // addresses at the port where one is
	// asked are the switches whose tables could be read.
	asked map[mib.MAC]bool
	// also are the places where an address is as well as where it was found.
	also map[mib.MAC][]learnedAt
}

// lookForStations reads the forwarding tables of all switches. Of an address that is learned at several ports which
// lead to no other switch, the port with the fewest addresses counts: what is attached to the others is a switch
// that is not listed. No more are kept than the settings say, of each switch the same number at most.
func (s *Service) lookForStations(ctx context.Context) *stations {
	keep := s.set.Stations.Keep / max(1, len(s.inventory.All())) // of one switch, so that the same ones are kept each time
	p := s.currentPlaces()
	out := &stations{map[mib.MAC]sighting{}, map[mib.MAC]int{}, map[mib.MAC]bool{}, map[mib.MAC][]learnedAt{}}
	now := time.Now()
	_, _ = s.askEach(ctx, "", func(ctx context.Context, sw *switchdriver.Switch, mu *sync.Mutex) error {
		m := mib.MAC(sw.NodeId)
		o := s.survey.Observation(m)
		if o == nil || o.Stale {
			return nil
		}
		byPort, counts := map[uint32][]sighting{}, map[uint32]portCount{}
		for q := (driver.Query{Limit: driver.PageSize}); ; {
			page, err := s.drivers.ReadFDB(ctx, sw, q)
			if err != nil {
				return err
			}
			for _, e := range page.Entries {
				c := counts[e.Port]
				c.addresses++
				c.leads = c.leads || p.isOtherSwitch(m, mib.MAC(e.Mac))
				if counts[e.Port] = c; e.Type == switchdriver.FDBLearned && c.addresses <= crowd {
					byPort[e.Port] = append(
						byPort[e.Port],
						sighting{mib.MAC(e.Mac), m, e.Port, e.VlanId, now},
					)
				}
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
		s.trunks.setTrunks(m, leadingOn(counts))
		mu.Lock()
		defer mu.Unlock()
		out.addLearned(m, byPort, func(port uint32) bool {
			return counts[port].leads || counts[port].addresses > crowd || p.leadsOn(m, port)
		}, keep)
		return nil
	})
	return out
}

// addLearned takes what a switch has learned, at ports that do not lead on.
func (s *stations) addLearned(
	m mib.MAC,
	byPort map[uint32][]sighting,
	leadsOn func(uint32) bool,
	keep int,
) {
	s.asked[m] = true
	for _, port := range slices.Sorted(maps.Keys(byPort)) {
		list := byPort[port]
		if leadsOn(port) {
			continue
		}
		for _, st := range list {
			if keep--; keep < 0 {
				return
			}
			n, ok := s.crowd[st.MAC]
			if ok && n <= len(list) {
				s.also[st.MAC] = append(s.also[st.MAC], learnedAt{m, port})
				continue
			}
			if old, ok := s.found[st.MAC]; ok {
				s.also[st.MAC] = append(s.also[st.MAC], learnedAt{old.Switch, old.Port})
			}
			s.found[st.MAC], s.crowd[st.MAC] = st, len(list)
		}
	}
}

// keepSteady keeps an address where it was if it is learned there still, or if that could not be found out.
func (s *stations) keepSteady(before sighting, leadsOn func(learnedAt) bool) {
	at := learnedAt{before.Switch, before.Port}
	now, ok := s.found[before.MAC]
	if !ok || leadsOn(at) || now.Switch == before.Switch && now.Port == before.Port {
		return
	}
	if slices.Contains(s.also[before.MAC], at) || !s.asked[before.Switch] {
		s.found[before.MAC] = before
	}
}

// keepStations writes the sightings that are new or elsewhere, and notes those that moved in the history. An address
// that is learned nowhere any more stays where it was, as long as there is room.
func (s *Service) keepStations(ctx context.Context, term *state.Term, seen *stations) {
	p := s.currentPlaces()
	leadsOn := func(at learnedAt) bool { return p.leadsOn(at.sw, at.port) }
	for _, list := range s.stations.All(s.store.Now(), "") {
		for _, before := range list {
			if _, err := s.inventory.Find(before.Switch); err == nil {
				seen.keepSteady(before, leadsOn)
			}
		}
	}
	bins := map[string][]sighting{}
	for m, st := range seen.found {
		bins[binOf(m)] = append(bins[binOf(m)], st)
	}
	var moves []discovery.Change
	changed := map[string][]sighting{}
	now := s.store.Now()
	for bin, list := range bins {
		old, _ := s.stations.Get(now, bin)
		next, moved, differs := mergeSightings(
			old,
			list,
			max(1, s.set.Stations.Keep/stationBins),
			leadsOn,
		)
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
		e.rememberChanges(moves[:min(len(moves), maxMoves)])
	}
}

// mergeSightings is a bin after a reading: what was found, with the time since when it is there, and what was not found and
// still has room. An address that was taken for being at a port that leads on has not moved.
func mergeSightings(
	old, found []sighting,
	room int,
	leadsOn func(learnedAt) bool,
) (next []sighting, moves []discovery.Change, differs bool) {
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
		case known && (before.Switch != st.Switch || before.Port != st.Port) && !leadsOn(learnedAt{before.Switch, before.Port}):
			moves = append(moves, discovery.Change{
				At:       st.Since,
				Cause:    string(discovery.Interval),
				Kind:     discovery.Moved,
				MAC:      st.MAC,
				Node:     discovery.NodeID(st.Switch),
				Port:     fmt.Sprint(st.Port),
				Peer:     discovery.NodeID(before.Switch),
				PeerPort: fmt.Sprint(before.Port),
			})
		case known && before.Switch == st.Switch && before.Port == st.Port: // another VLAN of the same port
			st.Since = before.Since
		}
		next, differs = append(next, st), true
	}
	for _, st := range old {
		_, gone := was[st.MAC]
		if gone && len(next) < room {
			next = append(next, st)
		} else if gone {
			differs = true
		}
	}
	return next, moves, differs
}
