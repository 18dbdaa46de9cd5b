package service

import (
	"context"
	"crypto/rand"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"ctl.internal/internal/together"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/traps"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
)

// The event stream of traps, and how many a second go out: in a storm the others
// are only counted. A sender has at most half of them, and its first ones always go out.
const (
	trapStream       = "switch-traps"
	trapNotification = "switch-traps:trap-received"
	trapsPerSecond   = 100
	trapsOfSender    = trapsPerSecond / 2
	trapsFirst       = 5
	trapsInAll       = 10 * trapsPerSecond
)

// The keys; and how often traps, and the counters alone, are written at most.
const (
	trapPrefix      = "traps/last/"
	trapStatePrefix = "traps/state"
	enginePrefix    = "setting/trap-engine"
	trapPace        = time.Second
	countPace       = 5 * time.Second
)

// trapEvent is the notification trap-received of module switch-traps.
type trapEvent struct {
	Time       string `json:"time"`
	Node       string `json:"node-id,omitempty"`
	Address    string `json:"address"`
	Version    string `json:"version"`
	Inform     bool   `json:"inform"`
	Kind       string `json:"kind"`
	OID        string `json:"trap-oid"`
	IfIndex    uint32 `json:"if-index,omitempty"`
	Suppressed uint32 `json:"suppressed,omitempty"`
}

// trapped acts on traps: switches are read again, and events go out. It is used by
// the receiver's goroutine only.
type trapped struct {
	survey     *discovery.Surveyor
	events     *host.Publisher
	wake       chan struct{}
	second     time.Time
	sent       int
	sentOf     map[netip.Addr]int
	suppressed uint32
}

func (d *trapped) handleTrap(t traps.Trap) {
	for _, m := range t.Nodes {
		if t.Effect.Ports {
			d.survey.Touch(discovery.Hint{
				Node:      m,
				IfIndex:   t.IfIndex,
				Neighbors: t.Effect.Neighbors,
				Repeat:    t.Effect.Repeat,
			})
		}
	}
	d.publishTrap(t)
	together.Notify(d.wake)
}

// allowsEvent reports whether a trap goes out as an event.
func (d *trapped) allowsEvent(t traps.Trap) bool {
	if t.At.Sub(d.second) >= time.Second {
		d.second, d.sent, d.sentOf = t.At, 0, map[netip.Addr]int{}
	}
	of := d.sentOf[t.From.Addr()]
	if (d.sent >= trapsPerSecond || of >= trapsOfSender) &&
		(of >= trapsFirst || d.sent >= trapsInAll) {
		return false
	}
	d.sent++
	d.sentOf[t.From.Addr()]++
	return true
}

func (d *trapped) publishTrap(t traps.Trap) {
	if !d.allowsEvent(t) {
		d.suppressed++
		return
	}
	e := trapEvent{
		Time:       t.At.UTC().Format(time.RFC3339Nano),
		Address:    t.From.Addr().String(),
		Version:    t.Version,
		Inform:     t.Inform,
		Kind:       string(t.Kind),
		OID:        t.OID,
		IfIndex:    t.IfIndex,
		Suppressed: d.suppressed,
	}
	if t.Node != 0 {
		e.Node = strconv.FormatUint(uint64(t.Node), 10)
	}
	d.suppressed = 0
	d.events.Publish(e)
}

// receiveTraps opens the port of traps and writes what comes, until ctx ends.
func (s *Service) receiveTraps(ctx context.Context, term *state.Term) {
	d := &trapped{
		survey: s.survey,
		events: s.trapEvents,
		wake:   make(chan struct{}, 1),
	}
	r := traps.New(traps.Options{
		Listen:    s.set.Traps.Listen,
		Inventory: s.inventory,
		Engine:    s.snmpEngine(ctx, term),
		Clocks:    s.clocks,
		Log:       s.log,
		Handle:    d.handleTrap,
	})
	var work sync.WaitGroup
	work.Go(func() { r.Run(ctx) })
	defer work.Wait()
	opened := r.Opened()
	var before trapState
	for ctx.Err() == nil {
		now := trapState{
			Source:  s.source,
			Epoch:   term.Epoch(),
			Counts:  r.History().Counts(),
			Unknown: r.History().Unknown(),
		}
		if at, err := r.Listening(); err != nil {
			now.Error = err.Error()
		} else if at.IsValid() {
			now.Listening = at.String()
		}
		came := r.History().Take()
		if len(came) > 0 ||
			now.Counts != before.Counts ||
			now.Error != before.Error ||
			now.Listening != before.Listening {
			now.At = time.Now()
			_, err := term.Update(ctx, func(tx *state.Tx) error {
				if len(came) > 0 {
					if err := s.lastTraps.Add(tx, came); err != nil {
						return err
					}
				}
				return s.trapsNow.Put(tx, "", now)
			})
			if err != nil && ctx.Err() == nil {
				s.log.Warn(
					"traps that came are not in the list of the last ones",
					"traps",
					len(came),
					"err",
					err,
				)
			}
			before = now
			host.Pause(ctx, trapPace)
		}
		select {
		case <-d.wake:
		case <-opened:
			opened = nil
		case <-time.After(countPace):
		case <-ctx.Done():
		}
	}
}

type keptEngine struct {
	ID    []byte `json:"id"`
	Boots int    `json:"boots"`
}

// The form of an engine id (RFC 3411, SnmpEngineID): the enterprise number for
// documentation (RFC 5612), then octets of our own.
var engineHead = []byte{0x80, 0x00, 0x7e, 0xd9, 5}

const engineOwn = 12

// snmpEngine is who we are to senders of version 3 informs. The id is kept, on whichever node
// traps are received, and the boots grow with each start, or senders would take us for a
// replay.
func (s *Service) snmpEngine(ctx context.Context, term *state.Term) traps.Engine {
	own := make([]byte, engineOwn)
	_, _ = rand.Read(own) // never fails
	k := keptEngine{ID: append(engineHead[:len(engineHead):len(engineHead)], own...)}
	_, err := term.Update(ctx, func(tx *state.Tx) error {
		old, ok := s.engines.Get(tx, "")
		if ok && len(old.ID) >= 5 && len(old.ID) <= 32 && old.Boots > 0 && old.Boots < 1<<31-1 {
			k = old
		}
		k.Boots++
		return s.engines.Put(tx, "", k)
	})
	if err != nil && ctx.Err() == nil {
		s.log.Warn(
			"the id of the trap receiver is not kept; after a restart senders of version 3 informs will learn a new one",
			"err",
			err,
		)
	}
	return traps.Engine{
		ID:      k.ID,
		Boots:   max(k.Boots, 1),
		Started: time.Now(),
	}
}
