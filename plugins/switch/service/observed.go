package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"ctl.internal/internal/together"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/state"
)

// observed is what a switch reported, as the holder of the role keeps it for all nodes.
// It is written when it changes; that it is still so the newest round says.
type observed struct {
	Source      string                 `json:"source"` // node that asked
	Epoch       uint64                 `json:"epoch"`
	At          time.Time              `json:"at"`
	Sum         string                 `json:"sum"` // of what counts as a change
	Failure     string                 `json:"failure,omitempty"`
	Observation *discovery.Observation `json:"observation,omitempty"` // nil: it has never answered
}

// round is the last discovery that was finished: switches whose records have no failure
// answered then.
type round struct {
	Source  string            `json:"source"`
	Epoch   uint64            `json:"epoch"`
	At      time.Time         `json:"at"` // it began
	Summary discovery.Summary `json:"summary"`
}

// The keys, and the bounds: records of one transaction, and the least time between two records of one switch.
const (
	observedPrefix = "observed/switch/"
	roundPrefix    = "observed/round"
	historyPrefix  = "history/"
	recordsPerTxn  = 20
	calm           = 5 * time.Second
	exportTime     = 10 * time.Second
)

// shortenRecord leaves something out of the record of a switch with very much to report: the evidence, then the
// neighbours.
func shortenRecord(o *observed) bool {
	if o.Observation == nil {
		return false
	}
	switch short := *o.Observation; {
	case short.Evidence != nil:
		short.Evidence, o.Observation = nil, &short
	case len(short.Neighbors) > 0:
		short.Neighbors, o.Observation = nil, &short
	default:
		return false
	}
	return true
}

// sumOf is equal for observations that are the same; that a switch was asked again is no difference.
func sumOf(o *discovery.Observation, failure string) (string, error) {
	same := struct {
		Failure string
		O       *discovery.Observation
	}{Failure: failure}
	if o != nil {
		c := *o
		c.Observed, c.Marks = time.Time{}, discovery.Marks{}
		same.O = &c
	}
	text, err := json.Marshal(same)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), nil
}

// knownFromRecords is what the records say.
func (s *Service) knownFromRecords(at state.Reader) discovery.Known {
	k := discovery.Known{
		Observed: map[mib.MAC]*discovery.Observation{},
		Failed:   map[mib.MAC]error{},
	}
	last, finished := s.round.Get(at, "")
	k.Last = last.Summary
	for _, o := range s.observed.All(at, "") {
		if o.Observation == nil {
			continue
		}
		m := o.Observation.Node
		if o.Failure != "" {
			k.Failed[m] = errors.New(o.Failure)
		}
		obs := *o.Observation
		if finished && !obs.Stale && o.Failure == "" && last.At.After(obs.Observed) {
			obs.Observed = last.At
		}
		if len(obs.Ports) > 0 || o.Failure == "" {
			k.Observed[m] = &obs
		}
	}
	return k
}

// adoptObserved shows what another process has observed, whenever that changes, until ctx ends.
func (s *Service) adoptObserved(ctx context.Context) {
	for {
		listed := s.inventory.Changed()
		s.survey.Adopt(s.knownFromRecords(s.store.Now()))
		select {
		case <-ctx.Done():
			return
		case <-s.seen:
		case <-listed:
		}
	}
}

// exporter writes what this process observes, as long as it holds the role.
type exporter struct {
	s    *Service
	term *state.Term
	wake chan struct{}

	mu      sync.Mutex
	looked  map[mib.MAC]look
	waiting []discovery.Change // of the topology, not written yet
	began   time.Time          // of the round to write; zero: none
}

// look is what was compared, and written, last.
type look struct {
	obs     *discovery.Observation
	failure string
	written time.Time
}

func newExporter(s *Service, term *state.Term) *exporter {
	return &exporter{
		s:      s,
		term:   term,
		wake:   make(chan struct{}, 1),
		looked: map[mib.MAC]look{},
	}
}

// rememberChanges takes changes of the topology for the history.
func (e *exporter) rememberChanges(list []discovery.Change) {
	e.mu.Lock()
	e.waiting = append(e.waiting, list...)
	e.waiting = e.waiting[max(0, len(e.waiting)-discovery.KeepChanges):]
	e.mu.Unlock()
	together.Notify(e.wake)
}

// runExport writes after each change, of one switch not more often than every few seconds.
func (e *exporter) runExport(ctx context.Context) {
	for ctx.Err() == nil {
		var later <-chan time.Time
		if wait := e.flush(ctx, false); wait > 0 {
			later = time.After(wait)
		}
		select {
		case <-e.wake:
		case <-later:
		case <-ctx.Done():
		}
	}
}

// noteFinished notes that a discovery has ended, and writes all that it has found.
func (e *exporter) noteFinished(ctx context.Context, sum discovery.Summary) {
	e.mu.Lock()
	e.began = time.Now().Add(-sum.Took)
	e.mu.Unlock()
	e.flush(ctx, true)
}

// flush writes what has changed. It returns after which time to look again; 0: not before
// the next change.
func (e *exporter) flush(ctx context.Context, all bool) (later time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exportTime)
	defer cancel()
	later, err := e.writeSwitches(ctx, all)
	if err == nil && len(e.waiting) > 0 {
		if _, err = e.term.Update(ctx, func(tx *state.Tx) error {
			return e.s.history.Add(tx, e.waiting)
		}); err == nil {
			e.waiting = nil
		}
	}
	if err == nil && !e.began.IsZero() && later == 0 {
		r := round{
			Source:  e.s.source,
			Epoch:   e.term.Epoch(),
			At:      e.began,
			Summary: e.s.survey.Last(),
		}
		if _, err = e.term.Update(ctx, func(tx *state.Tx) error {
			return e.s.round.Put(tx, "", r)
		}); err == nil {
			e.began = time.Time{}
		}
	}
	if err != nil {
		if e.term.Check() == nil {
			e.s.log.Warn("what the switches report is not written; trying again", "err", err)
		}
		return calm
	}
	return later
}

// writeSwitches writes the records that differ from what is known.
func (e *exporter) writeSwitches(ctx context.Context, all bool) (later time.Duration, err error) {
	k := e.s.survey.Known()
	now, sn := time.Now(), e.s.store.Now()
	var put []observed
	for _, sw := range e.s.inventory.All() {
		m := mib.MAC(sw.NodeId)
		obs, failure := k.Observed[m], ""
		if err := k.Failed[m]; err != nil {
			failure = err.Error()
		}
		if obs == nil && failure == "" {
			continue
		}
		l := e.looked[m]
		if l.obs == obs && l.failure == failure {
			continue
		}
		wait := calm - now.Sub(l.written)
		if wait > 0 && !all {
			if later == 0 || wait < later {
				later = wait
			}
			continue
		}
		if obs == nil {
			obs = &discovery.Observation{
				Node:  m,
				Model: sw.Model,
			}
		}
		sum, err := sumOf(obs, failure)
		if err != nil {
			return 0, err
		}
		old, ok := e.s.observed.Get(sn, m.String())
		if !ok || old.Sum != sum {
			put = append(
				put,
				observed{
					Source:      e.s.source,
					Epoch:       e.term.Epoch(),
					At:          now,
					Sum:         sum,
					Failure:     failure,
					Observation: obs,
				},
			)
			l.written = now
		}
		l.obs, l.failure = k.Observed[m], failure
		e.looked[m] = l
	}
	var gone []string
	for key := range e.s.observed.All(sn, "") {
		m, _ := mib.ParseMAC(key) // keys are such
		if _, err := e.s.inventory.Find(m); err != nil {
			gone = append(gone, key)
		}
	}
	for chunk := range slices.Chunk(put, recordsPerTxn) {
		if _, err := e.term.Update(ctx, func(tx *state.Tx) (err error) {
			for _, o := range chunk {
				err = errors.Join(err, e.s.observed.Put(tx, o.Observation.Node.String(), o))
			}
			return err
		}); err != nil {
			clear(e.looked) // all is compared again
			return 0, err
		}
	}
	for chunk := range slices.Chunk(gone, 5*recordsPerTxn) {
		if _, err := e.term.Update(ctx, func(tx *state.Tx) error {
			for _, key := range chunk {
				e.s.observed.Delete(tx, key)
			}
			return nil
		}); err != nil {
			return 0, err
		}
	}
	return later, nil
}
