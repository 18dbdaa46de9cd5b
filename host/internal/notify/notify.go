package notify

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	mathrand "math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/logs"
	"ctl.internal/host/internal/troubles"
	"ctl.internal/internal/nearest"
	"ctl.internal/internal/together"
	"ctl.internal/sdk/fault"
)

// Role is held by the one node that decides and sends.
const Role = "notify"

const (
	sendTime   = 10 * time.Second // of one attempt
	firstPause = time.Second      // after a failure, doubled for each further one …
	maxPause   = 5 * time.Minute  // … up to this
	// giveUpAfter is the age of a message that is not sent any more when its target does not take it.
	giveUpAfter = 72 * time.Hour
	// lookPause is the least time between two looks at the list.
	lookPause = time.Second
	// againAfter is the pause after the store has not answered.
	againAfter = 2 * time.Second
	maxFailure = 300 // bytes of the text of a failure
)

// Term is one time of holding the role.
type Term interface {
	Condition() datastore.Compare
	Lost() <-chan struct{}
	Renewed() <-chan struct{}
	Draining() bool
	Release()
}

// Options of a Notifier.
type Options struct {
	Settings home.Notify // secrets are open
	Home     home.Dir
	Store    datastore.Store
	Troubles interface {
		List() ([]troubles.Entry, error)
		Changed() <-chan struct{}
	}
	// Hold waits for the role.
	Hold       func(context.Context) (Term, error)
	Controller string // how receivers know this controller
	Log        *slog.Logger
	Now        func() time.Time
}

// sender sends one message to a target. An error has no secret.
type sender interface {
	send(ctx context.Context, m *Message) error
	kind() string
	address() string // without secrets
	group() group
}

// Notifier notifies the targets. It is safe for concurrent use.
type Notifier struct {
	o       Options
	rules   []Rule
	senders map[string]sender
	targets map[string]group
	metrics *metrics
}

// New makes what the settings say.
func New(o Options) (*Notifier, error) {
	n := &Notifier{
		o:       o,
		senders: map[string]sender{},
		targets: map[string]group{},
	}
	for name, t := range o.Settings.Targets {
		s, err := newSender(o.Home, o.Controller, t)
		if err != nil {
			return nil, fmt.Errorf("etc/ctl.yaml: notify.targets.%s: %w", name, err)
		}
		n.senders[name], n.targets[name] = s, s.group()
	}
	for _, r := range o.Settings.Rules {
		n.rules = append(n.rules, Rule{
			Kinds:      r.Kinds,
			ErrorsOnly: r.Severity == "error",
			Topology:   r.Topology,
			Targets:    r.Targets,
			After:      r.After,
			Repeat:     r.Repeat,
		})
	}
	n.metrics = newMetrics(n)
	return n, nil
}

// newSender makes that of the one way that a target has.
func newSender(dir home.Dir, controller string, t home.NotifyTarget) (sender, error) {
	switch {
	case t.Webhook != nil:
		return newWebhook(dir, controller, *t.Webhook)
	case t.SMTP != nil:
		return newMail(dir, controller, *t.SMTP)
	case t.Alertmanager != nil:
		return newAlertmanager(dir, controller, *t.Alertmanager)
	}
	return nil, fmt.Errorf("it has no way to be notified")
}

// Run notifies the targets while this node holds the role, until ctx ends.
func (n *Notifier) Run(ctx context.Context) error {
	for {
		term, err := n.o.Hold(ctx)
		if err != nil {
			return err
		}
		n.runFor(ctx, term)
		term.Release()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// runFor notifies for one term: one goroutine decides, and one for each target sends, so none waits for another.
func (n *Notifier) runFor(ctx context.Context, term Term) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &turn{Notifier: n, store: store{n.o.Store, term.Condition()}}
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	work.Go(func() { t.decideAlways(ctx) })
	for name, s := range n.senders {
		work.Go(func() { t.sendAlways(ctx, name, s) })
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-term.Lost():
			return
		case <-term.Renewed():
			if term.Draining() {
				return
			}
		}
	}
}

// turn is what is done while the role is held.
type turn struct {
	*Notifier
	store  store
	queued together.Signal // a queue may have changed
}

// decideAlways queues what is due, until ctx ends.
func (t *turn) decideAlways(ctx context.Context) {
	dropped, err := t.store.dropOthers(ctx, t.targets)
	for _, name := range dropped {
		t.o.Log.Warn("a target is not in the settings any more; what it was not notified of yet is dropped", "target", name)
	}
	t.noteFault(ctx, err)
	c := newCore(t.rules, t.targets)
	for ctx.Err() == nil {
		changed, room := t.o.Troubles.Changed(), t.queued.Wait()
		next, err := t.decideOnce(ctx, c)
		t.noteFault(ctx, err)
		if together.Sleep(ctx, lookPause) != nil {
			return
		}
		wake := t.timerTo(next)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-room:
		case <-wake.C:
		}
		wake.Stop()
	}
}

// lookEvery is how often is looked at least.
const lookEvery = time.Minute

func (t *turn) timerTo(next time.Time) *time.Timer {
	if next.IsZero() {
		return time.NewTimer(lookEvery)
	}
	return time.NewTimer(min(lookEvery, max(0, next.Sub(t.o.Now()))))
}

// decideOnce queues what is due now, and returns when to look again.
func (t *turn) decideOnce(ctx context.Context, c *core) (next time.Time, err error) {
	for more := true; more && ctx.Err() == nil; {
		now := t.o.Now()
		list, err := t.o.Troubles.List()
		if err != nil {
			return now.Add(againAfter), err // it may lack those that are stored
		}
		var k known
		var newest map[string]string
		err = t.store.local(func(sn datastore.Snapshot) (err error) {
			k, newest, err = t.store.read(sn, t.targets)
			return err
		})
		if err != nil {
			return now.Add(againAfter), err
		}
		var due map[string][]change
		due, next = c.decide(now, list, k)
		if more, err = t.store.put(ctx, now, due, newest, t.targets); err != nil {
			return now.Add(againAfter), err
		}
		if len(due) > 0 {
			t.queued.Fire()
		}
	}
	return next, nil
}

// noteFault logs why something is not stored now; it is tried again.
func (t *turn) noteFault(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		t.o.Log.Warn("what is to be reported cannot be queued now; it will be tried again", "error", err)
	}
}

// sendAlways sends what is queued for a target, in order, until ctx ends.
func (t *turn) sendAlways(ctx context.Context, target string, s sender) {
	st, err := t.store.state(target)
	t.noteFault(ctx, err)
	for ctx.Err() == nil {
		changed := t.queued.Wait()
		q, there, err := t.store.first(target)
		switch {
		case err != nil:
			t.noteFault(ctx, err)
			_ = together.Sleep(ctx, againAfter) // ctx is asked at the head of the loop
		case !there:
			select {
			case <-ctx.Done():
			case <-changed:
			}
		case len(q.Events) == 0: // of another release
			t.noteDone(ctx, target, q.key, st)
		default:
			st = t.sendQueued(ctx, target, s, q, st)
		}
	}
}

// sendQueued tries to send one message, and pauses after a failure.
func (t *turn) sendQueued(ctx context.Context, target string, s sender, q queued, st State) State {
	err := t.attempt(ctx, s, &q.Message)
	switch {
	case err == nil:
		t.metrics.sent.WithLabelValues(target).Add(float64(len(q.Events)))
		st.Sent, st.Failures = t.o.Now().UTC().Truncate(time.Second), 0
		t.noteDone(ctx, target, q.key, st)
		return st
	case ctx.Err() != nil: // the role is given up, the next holder sends it
		return st
	}
	t.metrics.failed.WithLabelValues(target).Inc()
	if st.Failures == 0 {
		t.o.Log.Warn("a target of notifications does not take them; it will be tried again", "target", target, "error", err)
	}
	st.Failures++
	st.Failed, st.Failure = t.o.Now().UTC().Truncate(time.Second), cut(err.Error())
	if t.o.Now().Sub(q.Made) > giveUpAfter {
		t.metrics.givenUp.WithLabelValues(target).Add(float64(len(q.Events)))
		t.o.Log.Error("a notification is given up", "target", target, "id", q.ID, "made", q.Made, "error", err)
		t.noteDone(ctx, target, q.key, st)
		return st
	}
	t.noteFault(ctx, t.store.note(ctx, target, "", st))
	_ = together.Sleep(ctx, pauseAfter(st.Failures)) // ctx is asked by the caller
	return st
}

// attempt sends a message within its time.
func (n *Notifier) attempt(ctx context.Context, s sender, m *Message) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	return s.send(ctx, m)
}

// noteDone takes a message out of its queue. It is not sent again while that cannot be stored.
func (t *turn) noteDone(ctx context.Context, target, key string, st State) {
	for ctx.Err() == nil {
		err := t.store.note(ctx, target, key, st)
		if err == nil {
			t.queued.Fire()
			return
		}
		t.noteFault(ctx, err)
		_ = together.Sleep(ctx, againAfter) // ctx is asked at the head of the loop
	}
}

// pauseAfter is the pause after so many failures: doubled, and not the same for all controllers.
func pauseAfter(failures int) time.Duration {
	d := maxPause
	if failures < 10 {
		d = min(d, firstPause<<(failures-1))
	}
	return d/2 + mathrand.N(d/2)
}

func cut(text string) string {
	if text = logs.Printable(text); len(text) > maxFailure {
		text = text[:maxFailure] + " …"
	}
	return text
}

// Status is a target as notify:list shows it.
type Status struct {
	Name, Kind, Address string
	Rules               int // that name it
	Queued              int
	State
}

// List returns the targets, by name.
func (n *Notifier) List() (out []Status, err error) {
	s := store{Store: n.o.Store}
	waiting, err := s.waiting()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(n.senders)) {
		one := Status{
			Name:    name,
			Kind:    n.senders[name].kind(),
			Address: n.senders[name].address(),
			Queued:  waiting[name],
		}
		for i := range n.rules {
			if slices.Contains(n.rules[i].Targets, name) {
				one.Rules++
			}
		}
		if one.State, err = s.state(name); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// Test sends a message to a target at once, past its queue.
func (n *Notifier) Test(ctx context.Context, target, by string) (id string, err error) {
	s, there := n.senders[target]
	if !there {
		names := slices.Sorted(maps.Keys(n.senders))
		return "", fault.New(
			fault.NotFound,
			"etc/ctl.yaml has no target %q below notify.targets%s",
			target,
			nearest.Hint(target, names),
		)
	}
	now := n.o.Now().UTC()
	e := Event{
		Event:    tested,
		Time:     now,
		Trouble:  "test-" + rand.Text(),
		Kind:     "test",
		Severity: severityOf(true),
		Resource: "controller",
		Subject:  "test of notifications",
		Since:    now.Truncate(time.Second),
		Cause:    by + " tests whether notifications arrive",
		Remedy:   "nothing is wrong",
		Reporter: "controller",
		Expires:  now.Add(time.Minute),
	}
	e.ID = idOf(target, &e)
	if err := n.attempt(ctx, s, &Message{ID: e.ID, Made: now, Events: []Event{e}}); err != nil {
		return "", fault.New(fault.Unavailable, "%s did not take the message: %s", target, cut(err.Error()))
	}
	return e.ID, nil
}

// metrics count what is reported.
type metrics struct {
	n                     *Notifier
	sent, failed, givenUp *prometheus.CounterVec
	queued                *prometheus.Desc
}

func newMetrics(n *Notifier) *metrics {
	counter := func(name, help string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"target"})
		for target := range n.senders {
			v.WithLabelValues(target) // so that a first one is seen as a rise
		}
		return v
	}
	return &metrics{
		n: n,
		sent: counter("ctl_notifications_sent_total",
			"Events that this node has sent, by target of notifications."),
		failed: counter("ctl_notifications_failed_total",
			"Attempts that failed; each is tried again."),
		givenUp: counter("ctl_notifications_given_up_total",
			"Events that a target did not take for three days."),
		queued: prometheus.NewDesc("ctl_notifications_queued",
			"Events that wait to be sent, of all nodes, by target.", []string{"target"}, nil),
	}
}

// Collectors are the metrics.
func (n *Notifier) Collectors() []prometheus.Collector {
	return []prometheus.Collector{n.metrics.sent, n.metrics.failed, n.metrics.givenUp, n.metrics}
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(out chan<- *prometheus.Desc) { out <- m.queued }

// Collect implements prometheus.Collector.
func (m *metrics) Collect(out chan<- prometheus.Metric) {
	s := store{Store: m.n.o.Store}
	waiting, err := s.waiting()
	if err != nil {
		return
	}
	for target := range m.n.senders {
		count := float64(waiting[target])
		out <- prometheus.MustNewConstMetric(m.queued, prometheus.GaugeValue, count, target)
	}
}
