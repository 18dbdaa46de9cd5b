package notify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/datastore"
)

// Namespace of the datastore: reported/TARGET/TROUBLE is what a target knows, queue/TARGET/NUMBER what waits to be sent to it,
// state/TARGET how the newest attempts went.
const (
	Namespace    = "notify"
	reportedKeys = "reported/"
	queueKeys    = "queue/"
	stateKeys    = "state/"
)

const (
	maxQueued  = 1000 // events that wait for one target
	maxChanges = 100  // of one transaction
)

// Message is what is sent to a target at a time.
type Message struct {
	ID     string    `json:"id"` // stays the same when it is sent again
	Made   time.Time `json:"made"`
	Events []Event   `json:"events"`
}

// queued is a message with its key.
type queued struct {
	key string
	Message
}

// State is how the newest attempts to tell a target went.
type State struct {
	Sent     time.Time `json:"sent,omitzero"` // the last that it took
	Failed   time.Time `json:"failed,omitzero"`
	Failure  string    `json:"failure,omitempty"`  // without secrets
	Failures int       `json:"failures,omitempty"` // since it took one
}

// store is what is kept, written only while cond holds.
type store struct {
	datastore.Store
	cond datastore.Compare
}

// local reads what this node has, which is what it has written itself at least.
func (s *store) local(f func(datastore.Snapshot) error) error {
	_, err := s.Local(f)
	return err
}

// read returns what is known of all targets, and the newest number of each queue.
func (s *store) read(sn datastore.Snapshot, targets map[string]group) (known, map[string]string, error) {
	waiting, newest, err := readQueues(sn)
	k := known{reported: map[place]reported{}, room: map[string]int{}}
	for target := range targets {
		k.room[target] = max(0, maxQueued-waiting[target])
	}
	if err != nil {
		return k, newest, err
	}
	err = each(sn, reportedKeys, func(key string, value []byte) error {
		target, trouble, _ := strings.Cut(key, "/")
		var t reported
		if json.Unmarshal(value, &t) == nil { // else it is reported again
			k.reported[place{target, trouble}] = t
		}
		return nil
	})
	return k, newest, err
}

// readQueues counts the events that wait for each target, and returns the newest number of each queue.
func readQueues(sn datastore.Snapshot) (waiting map[string]int, newest map[string]string, err error) {
	waiting, newest = map[string]int{}, map[string]string{}
	err = each(sn, queueKeys, func(key string, value []byte) error {
		target, number, _ := strings.Cut(key, "/")
		var m Message
		_ = json.Unmarshal(value, &m) // one without events is dropped when it is its turn
		waiting[target] += len(m.Events)
		newest[target] = number
		return nil
	})
	return waiting, newest, err
}

// each calls f with all keys below a prefix, without it.
func each(sn datastore.Snapshot, prefix string, f func(key string, value []byte) error) error {
	for e, err := range sn.Range(Namespace, datastore.RangeOptions{Prefix: prefix, Shared: true}) {
		if err != nil {
			return err
		}
		if err := f(strings.TrimPrefix(e.Key, prefix), e.Value); err != nil {
			return err
		}
	}
	return nil
}

// put stores what was decided: what each target knows and, in the same transaction, the messages that tell it.
func (s *store) put(
	ctx context.Context,
	now time.Time,
	due map[string][]change,
	newest map[string]string,
	targets map[string]group,
) (more bool, err error) {
	t := datastore.Txn{Compares: []datastore.Compare{s.cond}, By: "notify"}
	left := maxChanges
	for _, target := range slices.Sorted(maps.Keys(due)) {
		changes := due[target]
		if len(changes) > left {
			changes, more = changes[:left], true
		}
		left -= len(changes)
		ops, err := opsOf(target, changes, now, newest[target], targets[target])
		if err != nil {
			return false, err
		}
		t.Ops = append(t.Ops, ops...)
	}
	if len(t.Ops) == 0 {
		return false, nil
	}
	_, err = s.Commit(ctx, t)
	return more, err
}

// opsOf are the writes of what was decided for a target.
func opsOf(target string, changes []change, now time.Time, newest string, g group) (out []datastore.Op, err error) {
	var events []Event
	for _, c := range changes {
		key := reportedKeys + target + "/" + c.trouble
		op := datastore.Delete(Namespace, key)
		if c.reported != nil {
			text, err := json.Marshal(c.reported)
			if err != nil {
				return nil, err
			}
			op = datastore.Put(Namespace, key, text)
		}
		out = append(out, op)
		if c.event != nil {
			events = append(events, *c.event)
		}
	}
	number := numberAfter(newest, now)
	for part := range slices.Chunk(events, max(1, g.most)) {
		text, err := json.Marshal(Message{ID: messageID(part), Made: now, Events: part})
		if err != nil {
			return nil, err
		}
		out = append(out, datastore.Put(Namespace, fmt.Sprintf("%s%s/%016x", queueKeys, target, number), text))
		number++
	}
	return out, nil
}

// numberAfter is the number of the next message: the time, but more than that of the newest one that waits.
func numberAfter(newest string, now time.Time) uint64 {
	next := uint64(now.UnixNano())
	var last uint64
	if _, err := fmt.Sscanf(newest, "%x", &last); err == nil && last >= next {
		next = last + 1
	}
	return next
}

// messageID is that of its one event, or one of all of them.
func messageID(events []Event) string {
	if len(events) == 1 {
		return events[0].ID
	}
	sum := sha256.New()
	for _, e := range events {
		_, _ = io.WriteString(sum, e.ID) // a hash takes everything
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// first is the oldest message of a queue; false: it is empty.
func (s *store) first(target string) (q queued, there bool, err error) {
	prefix := queueKeys + target + "/"
	err = s.local(func(sn datastore.Snapshot) error {
		for e, err := range sn.Range(Namespace, datastore.RangeOptions{Prefix: prefix, Limit: 1}) {
			if err != nil {
				return err
			}
			q.key, there = e.Key, true
			_ = json.Unmarshal(e.Value, &q.Message) // one without events is dropped
		}
		return nil
	})
	return q, there, err
}

// note stores how the newest attempt went; done is the key of the message that needs no further one, empty: there is none.
func (s *store) note(ctx context.Context, target, done string, st State) error {
	text, err := json.Marshal(st)
	if err != nil {
		return err
	}
	t := datastore.Txn{
		Compares: []datastore.Compare{s.cond},
		Ops:      []datastore.Op{datastore.Put(Namespace, stateKeys+target, text)},
		By:       "notify",
	}
	if done != "" {
		t.Ops = append(t.Ops, datastore.Delete(Namespace, done))
	}
	_, err = s.Commit(ctx, t)
	return err
}

// state is how the newest attempts to tell a target went.
func (s *store) state(target string) (st State, err error) {
	err = s.local(func(sn datastore.Snapshot) error {
		e, err := sn.Get(Namespace, stateKeys+target)
		if errors.Is(err, datastore.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return json.Unmarshal(e.Value, &st)
	})
	return st, err
}

// waiting counts the events that wait for each target.
func (s *store) waiting() (out map[string]int, err error) {
	err = s.local(func(sn datastore.Snapshot) (err error) {
		out, _, err = readQueues(sn)
		return err
	})
	return out, err
}

// dropOthers deletes what is kept of targets that the settings do not have any more.
func (s *store) dropOthers(ctx context.Context, targets map[string]group) (dropped []string, err error) {
	gone := map[string]bool{}
	err = s.local(func(sn datastore.Snapshot) error {
		for _, prefix := range []string{reportedKeys, queueKeys, stateKeys} {
			err := each(sn, prefix, func(key string, _ []byte) error {
				name, _, _ := strings.Cut(key, "/")
				if _, there := targets[name]; !there {
					gone[name] = true
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	t := datastore.Txn{Compares: []datastore.Compare{s.cond}, By: "notify"}
	dropped = slices.SortedFunc(maps.Keys(gone), cmp.Compare[string])
	for _, name := range dropped {
		t.Ops = append(t.Ops,
			datastore.DeletePrefix(Namespace, reportedKeys+name+"/"),
			datastore.DeletePrefix(Namespace, queueKeys+name+"/"),
			datastore.Delete(Namespace, stateKeys+name),
		)
	}
	_, err = s.Commit(ctx, t)
	return dropped, err
}
