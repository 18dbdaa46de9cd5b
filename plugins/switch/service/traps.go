package service

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"ctl.internal/plugins/switch/survey"
	"ctl.internal/plugins/switch/traps"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// The event stream of traps, and how many a second go out: in a storm the others
// are only counted.
const (
	trapStream       = "switch-traps"
	trapNotification = "switch-traps:trap-received"
	trapsPerSecond   = 100
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

// trapDesk acts on traps: switches are read again, and events go out. It is used by
// the receiver's goroutine only.
type trapDesk struct {
	survey     *survey.Surveyor
	events     *host.Publisher
	second     time.Time
	sent       int
	suppressed uint32
}

func (d *trapDesk) handle(t traps.Trap) {
	for _, m := range t.Nodes {
		switch h := (survey.Hint{Node: m, IfIndex: t.IfIndex}); t.Kind {
		case traps.LinkDown, traps.NewRoot, traps.TopologyChange:
			d.survey.Touch(h)
		case traps.LinkUp, traps.ColdStart, traps.WarmStart:
			h.Settling, h.Neighbors = true, true
			d.survey.Touch(h)
		case traps.RemTablesChange:
			h.Neighbors = true
			d.survey.Touch(h)
		}
	}
	d.publish(t)
}

func (d *trapDesk) publish(t traps.Trap) {
	if t.At.Sub(d.second) >= time.Second {
		d.second, d.sent = t.At, 0
	}
	if d.sent >= trapsPerSecond {
		d.suppressed++
		return
	}
	d.sent++
	e := trapEvent{Time: t.At.UTC().Format(time.RFC3339Nano), Address: t.From.Addr().String(), Version: t.Version, Inform: t.Inform,
		Kind: string(t.Kind), OID: t.OID, IfIndex: t.IfIndex, Suppressed: d.suppressed}
	if t.Node != 0 {
		e.Node = strconv.FormatUint(uint64(t.Node), 10)
	}
	d.suppressed = 0
	d.events.Publish(e)
}

const engineKey = "trap-engine"

type keptEngine struct {
	ID    []byte `json:"id"`
	Boots int    `json:"boots"`
}

// The form of an engine id (RFC 3411, SnmpEngineID): the enterprise number for
// documentation (RFC 5612), then octets of our own.
var engineHead = []byte{0x80, 0x00, 0x7e, 0xd9, 5}

const engineOwn = 12

// newEngine is who we are to senders of version 3 informs. The id is kept, and the
// boots grow with each start, or senders would take us for a replay.
func newEngine(ctx context.Context, h *host.Client, log *slog.Logger) traps.Engine {
	k := keptEngine{ID: append(engineHead[:len(engineHead):len(engineHead)], random(engineOwn)...)}
	if h != nil {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		var old keptEngine
		e, err := h.Datastore.Get(ctx, host.Private, engineKey)
		switch {
		case err == nil && json.Unmarshal(e.Value, &old) == nil && len(old.ID) >= 5 && len(old.ID) <= 32 && old.Boots > 0 && old.Boots < 1<<31-1:
			k = old
		case err != nil && !errors.Is(err, &fault.Error{Kind: fault.NotFound}):
			log.Warn("the id of the trap receiver is not known; senders of version 3 informs will learn a new one", "err", err)
		}
		k.Boots++
		if b, err := json.Marshal(k); err != nil {
			log.Warn("the id of the trap receiver is not kept", "err", err)
		} else if err := h.Datastore.Put(ctx, engineKey, b); err != nil {
			log.Warn("the id of the trap receiver is not kept; after a restart senders of version 3 informs will learn a new one", "err", err)
		}
	}
	return traps.Engine{ID: k.ID, Boots: max(k.Boots, 1), Started: time.Now()}
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}
