// Package notify notifies people and programs outside of what is in the list of troubles. A core decides without I/O what
// is due to whom; what is due is put into a queue in the datastore together with the note that it was, and only then
// sent. So a process that ends at any moment loses nothing, and at most the message that it was sending is sent again,
// with the same id.
package notify

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/logs"
	"ctl.internal/host/internal/troubles"
)

// Rule says which troubles are reported to which targets. Of the rules that name a target the first that fits a trouble holds.
type Rule struct {
	Kinds      []string // empty, or with "all" in it: all that are not restricted
	ErrorsOnly bool
	Topology   string // empty: of any or none
	Targets    []string
	After      time.Duration // how long a trouble lasts before it is reported, and is over before that is reported
	Repeat     time.Duration // 0: reported once
}

// fits reports whether a rule holds for a trouble. One that is shown to administrators only must be named.
func (r *Rule) fits(e *troubles.Entry) bool {
	named := slices.Contains(r.Kinds, e.Kind)
	all := len(r.Kinds) == 0 || slices.Contains(r.Kinds, "all")
	return (named || all && !e.Restricted) &&
		!(r.ErrorsOnly && e.Warning) &&
		(r.Topology == "" || r.Topology == e.Topology)
}

// What an Event says.
const (
	raised       = "raised"
	acknowledged = "acknowledged"
	cleared      = "cleared"
	tested       = "test"
)

// Event is what one target is notified of one trouble; docs/notifications.md describes it as the body of webhooks.
type Event struct {
	ID      string    `json:"id"` // stays the same when it is sent again
	Event   string    `json:"event"`
	Time    time.Time `json:"time"`             // when it was decided
	Trouble string    `json:"trouble"`          // the same in all events of one trouble
	Repeat  int       `json:"repeat,omitempty"` // how often it has been reported before
	Kind    string    `json:"kind"`
	// Severity is error or warning; Before is what it was, in an event that says so.
	Severity string    `json:"severity"`
	Before   string    `json:"severityBefore,omitempty"`
	Resource string    `json:"resource"`
	Subject  string    `json:"subject"`
	Topology string    `json:"topology,omitempty"`
	Since    time.Time `json:"since"`
	Cause    string    `json:"cause"`
	Remedy   string    `json:"remedy,omitempty"`
	By       string    `json:"acknowledgedBy,omitempty"`
	Reporter string    `json:"reporter"`
	Node     string    `json:"node,omitempty"` // absent: the same on all
	// Expires is when the next one of a trouble that lasts is overdue.
	Expires time.Time `json:"expires,omitzero"`
}

// reported is what a target knows of a trouble that lasts, as far as this controller has reported it.
type reported struct {
	Last         Event         `json:"last"`
	After        time.Duration `json:"after"`
	Acknowledged bool          `json:"acknowledged,omitempty"`
}

// place is a trouble at a target.
type place struct{ target, trouble string }

// change is what a decision changes: what a target knows from now on, nil: nothing more; and the event that notifies it, if any.
type change struct {
	place
	reported *reported
	event    *Event
}

// known is what a decision starts from.
type known struct {
	reported map[place]reported
	room     map[string]int // by target: events that its queue takes
}

// group is how long a target that takes many events at once waits for more, and how many it takes; 0: one.
type group struct {
	wait time.Duration
	most int
}

// maxReported are the troubles that one target is notified of at a time.
const maxReported = 5000

// core decides. What it keeps is only how long something has been so, which begins again in a new process.
type core struct {
	rules   []Rule
	targets map[string]group
	seen    map[string]time.Time // by trouble: since when this process sees it
	gone    map[place]time.Time  // since when it is over
	due     map[place]time.Time  // since when its event waits for others
}

func newCore(rules []Rule, targets map[string]group) *core {
	return &core{
		rules:   rules,
		targets: targets,
		seen:    map[string]time.Time{},
		gone:    map[place]time.Time{},
		due:     map[place]time.Time{},
	}
}

// decide returns what is due now, by target, and when to look again; zero: at the next change.
func (c *core) decide(
	now time.Time,
	list []troubles.Entry,
	k known,
) (out map[string][]change, next time.Time) {
	all := c.look(now, list)
	out = map[string][]change{}
	for _, target := range slices.Sorted(maps.Keys(c.targets)) {
		d := decision{core: c, target: target, now: now, free: maxReported}
		for p := range k.reported {
			if p.target == target {
				d.free--
			}
		}
		for i := range list {
			p := place{target, list[i].ID}
			if t, knows := k.reported[p]; knows {
				delete(c.gone, p)
				d.lasts(p, t, &list[i])
			} else {
				d.raise(p, &list[i])
			}
		}
		for p, t := range k.reported {
			if p.target == target && !all[p.trouble] {
				d.clear(p, t)
			}
		}
		if due := d.ready(k.room[target]); len(due) > 0 {
			out[target] = due
		}
		next = earlier(next, d.next)
	}
	c.forget(all, k)
	return out, next
}

// look notes what this process sees.
func (c *core) look(now time.Time, list []troubles.Entry) map[string]bool {
	all := make(map[string]bool, len(list))
	for i := range list {
		id := list[i].ID
		all[id] = true
		if c.seen[id].IsZero() {
			c.seen[id] = now
		}
	}
	return all
}

// forget drops what is over.
func (c *core) forget(all map[string]bool, k known) {
	maps.DeleteFunc(c.seen, func(id string, _ time.Time) bool { return !all[id] })
	maps.DeleteFunc(c.gone, func(p place, _ time.Time) bool {
		_, knows := k.reported[p]
		return !knows || all[p.trouble]
	})
	maps.DeleteFunc(c.due, func(p place, _ time.Time) bool {
		_, knows := k.reported[p]
		return !knows && !all[p.trouble]
	})
}

// ruleFor is the rule by which a target is notified of a trouble; nil: it is not.
func (c *core) ruleFor(target string, e *troubles.Entry) *Rule {
	for i := range c.rules {
		if slices.Contains(c.rules[i].Targets, target) && c.rules[i].fits(e) {
			return &c.rules[i]
		}
	}
	return nil
}

// decision is that of one target.
type decision struct {
	*core
	target string
	now    time.Time
	next   time.Time
	free   int // troubles that it may still be notified of
	out    []change
}

// raise reports a trouble that is new to the target.
func (d *decision) raise(p place, e *troubles.Entry) {
	r := d.ruleFor(d.target, e)
	if r == nil || !e.Counts() {
		return
	}
	began := d.seen[e.ID]
	if e.Since.Before(began) {
		began = e.Since
	}
	if at := began.Add(r.After); at.After(d.now) {
		d.next = earlier(d.next, at)
		return
	}
	if d.free <= 0 {
		return // when others are over
	}
	d.free--
	event := d.eventOf(raised, e)
	event.Expires = expiry(d.now, r)
	d.out = append(d.out, change{p, &reported{Last: event, After: r.After}, &event})
}

// lasts reports what has changed of a trouble that the target knows, or reminds of it.
func (d *decision) lasts(p place, t reported, e *troubles.Entry) {
	switch {
	case e.Acknowledged != nil && !t.Acknowledged:
		event := d.again(acknowledged, t, e)
		event.By = logs.Printable(e.Acknowledged.By)
		t.Last, t.Acknowledged = event, true
		d.out = append(d.out, change{p, &t, &event})
		return
	case e.Acknowledged == nil && t.Acknowledged: // somebody has taken it back: reminders go on
		t.Acknowledged, t.Last.Time, t.Last.By = false, d.now, ""
		d.out = append(d.out, change{p, &t, nil})
		return
	}
	r := d.ruleFor(d.target, e)
	if r == nil || !e.Counts() {
		return
	}
	worse := t.Last.Severity == severityOf(true) && !e.Warning
	at := t.Last.Time.Add(r.Repeat)
	if !worse && (r.Repeat == 0 || at.After(d.now)) {
		if r.Repeat > 0 {
			d.next = earlier(d.next, at)
		}
		return
	}
	event := d.again(raised, t, e)
	event.Expires = expiry(d.now, r)
	event.Repeat = t.Last.Repeat + 1
	t.Last, t.After = event, r.After
	d.out = append(d.out, change{p, &t, &event})
}

// clear says that a trouble is over, once.
func (d *decision) clear(p place, t reported) {
	since, there := d.gone[p]
	if !there {
		since = d.now
		d.gone[p] = since
	}
	if at := since.Add(t.After); at.After(d.now) {
		d.next = earlier(d.next, at)
		return
	}
	event := t.Last
	event.Event, event.Time, event.Before = cleared, d.now, ""
	event.Expires = time.Time{}
	event.ID = idOf(d.target, &event)
	d.out = append(d.out, change{p, nil, &event})
}

// ready are the changes that are made now: as many as the queue takes, and not before the target has waited for more.
func (d *decision) ready(room int) []change {
	if len(d.out) == 0 {
		return nil
	}
	slices.SortStableFunc(d.out, func(a, b change) int { return cmp.Compare(a.trouble, b.trouble) })
	if wait := d.targets[d.target].wait; wait > 0 {
		oldest := d.now
		for _, c := range d.out {
			if d.due[c.place].IsZero() {
				d.due[c.place] = d.now
			}
			if at := d.due[c.place]; at.Before(oldest) {
				oldest = at
			}
		}
		if at := oldest.Add(wait); at.After(d.now) {
			d.next = earlier(d.next, at)
			return nil
		}
	}
	if len(d.out) > room {
		d.out = d.out[:room] // the others are due still when there is room
	}
	for _, c := range d.out {
		delete(d.due, c.place)
	}
	return d.out
}

// eventOf is the first event of a trouble.
func (d *decision) eventOf(what string, e *troubles.Entry) Event {
	out := Event{
		Event:    what,
		Time:     d.now,
		Trouble:  e.ID,
		Kind:     e.Kind,
		Severity: severityOf(e.Warning),
		Resource: e.Resource,
		Subject:  cmp.Or(logs.Printable(e.Subject), logs.Printable(e.Resource)),
		Topology: e.Topology,
		Since:    e.Since.UTC(),
		Cause:    logs.Printable(e.Cause),
		Remedy:   logs.Printable(e.Remedy),
		Reporter: e.Reporter,
	}
	if e.Node != troubles.AllNodes {
		out.Node = e.Node
	}
	out.ID = idOf(d.target, &out)
	return out
}

// again is a further event of a trouble; it keeps the time since which the target knows it.
func (d *decision) again(what string, t reported, e *troubles.Entry) Event {
	out := d.eventOf(what, e)
	out.Since, out.Repeat = t.Last.Since, t.Last.Repeat
	if out.Severity != t.Last.Severity {
		out.Before = t.Last.Severity
	}
	out.ID = idOf(d.target, &out)
	return out
}

func severityOf(warning bool) string {
	if warning {
		return "warning"
	}
	return "error"
}

// idOf is the id of an event: two of one trouble differ by what they say and when that was decided.
func idOf(target string, e *Event) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{
		target,
		e.Kind,
		e.Resource,
		e.Trouble,
		e.Since.UTC().Format(time.RFC3339Nano),
		e.Event,
		e.Time.UTC().Format(time.RFC3339Nano),
	}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// keepUnrepeated is when a trouble that is reported once expires where it must.
const keepUnrepeated = 30 * 24 * time.Hour

// expiry is when a reminder is overdue.
func expiry(now time.Time, r *Rule) time.Time {
	if r.Repeat == 0 {
		return now.Add(keepUnrepeated)
	}
	return now.Add(2*r.Repeat + time.Minute)
}

// earlier is the earlier of two times; zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
