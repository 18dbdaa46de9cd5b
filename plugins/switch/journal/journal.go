package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// The keys, in the plugin's private space.
const (
	openPrefix   = "journal/open/"
	reportPrefix = "journal/report/"
)

// maxReports is how many reports are kept.
const maxReports = 100

// storeTime bounds one write or read of the store.
const storeTime = 10 * time.Second

// Store is where records are kept: host.Datastore is one.
type Store interface {
	Commit(ctx context.Context, t host.Txn) (uint64, error)
	Range(ctx context.Context, s host.Space, prefix string) iter.Seq2[host.Entry, error]
}

// Journal keeps records. A nil Journal keeps none. It is safe for concurrent use.
type Journal struct {
	store Store
	log   *slog.Logger
	run   string // makes the ids of this process its own
	news  chan struct{}

	mu      sync.Mutex
	count   int
	taken   bool
	left    map[uint64][]Record // by node: found at the start, not settled yet
	reports []Report
}

// Open makes a Journal. What an earlier process left, Take reads.
func Open(ctx context.Context, ds *host.Datastore, log *slog.Logger) (*Journal, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	j := &Journal{store: ds, log: log, run: time.Now().UTC().Format("20060102T150405.000000000"), news: make(chan struct{}, 1), left: map[uint64][]Record{}}
	for e, err := range ds.Range(ctx, host.Private, reportPrefix) {
		if err != nil {
			return nil, err
		}
		var r Report
		if json.Unmarshal(e.Value, &r) == nil {
			j.reports = append(j.reports, r)
		}
	}
	return j, nil
}

// Take reads, the first time, what an earlier process left. It must have ended: see Turn.
func (j *Journal) Take(ctx context.Context) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.taken {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	found := map[uint64][]Record{}
	for e, err := range j.store.Range(ctx, host.Private, openPrefix) {
		if err != nil {
			return fault.Wrap(fault.Unavailable, err, "the journal of changes cannot be read: %v", err)
		}
		r, err := decode(e.Key, e.Value)
		if err != nil {
			j.log.Warn("a record of the journal cannot be read and is left", "key", e.Key, "err", err)
			continue
		}
		if !strings.HasPrefix(r.ID, j.run+"-") {
			found[r.Node] = append(found[r.Node], r)
		}
	}
	for n, l := range found {
		j.left[n] = append(j.left[n], l...)
	}
	j.taken = true
	return nil
}

// Change is a record that was begun.
type Change struct {
	j       *Journal
	r       Record
	kept    bool
	written bool
}

// Begin keeps a record before its change is made; one without steps and operation waits
// for Again. It fails when that is not possible: then nothing may be sent.
func (j *Journal) Begin(ctx context.Context, r Record) (*Change, error) {
	if j == nil {
		return nil, nil
	}
	j.mu.Lock()
	j.count++
	r.ID = fmt.Sprintf("%s-%d", j.run, j.count)
	j.mu.Unlock()
	r.Begun = time.Now().UTC()
	c := &Change{j: j, r: r}
	if r.Operation == nil && len(r.Steps) == 0 {
		return c, nil
	}
	return c, c.put(ctx)
}

// Again replaces the steps of a change by those of another way to make it.
func (c *Change) Again(ctx context.Context, steps []Step) error {
	if c == nil {
		return nil
	}
	c.r.Steps = steps
	return c.put(ctx)
}

func (c *Change) put(ctx context.Context) error {
	b, err := json.Marshal(c.r)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, storeTime)
		defer cancel()
		_, err = c.j.store.Commit(ctx, host.Private, host.Txn{Ops: []host.Op{{Key: openPrefix + c.r.ID, Value: b}}})
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "the change is not begun, because it cannot be written to the journal: %v", err)
	}
	c.written = true
	return nil
}

// Keep leaves the record for later: the switch is neither as before nor as asked for.
func (c *Change) Keep() {
	if c != nil {
		c.kept = true
		c.j.mu.Lock()
		c.j.left[c.r.Node] = append(c.j.left[c.r.Node], c.r)
		c.j.mu.Unlock()
		select {
		case c.j.news <- struct{}{}:
		default:
		}
	}
}

// Kept reports whether the record was left for later.
func (c *Change) Kept() bool { return c != nil && c.kept }

// Done drops the record, unless it was kept.
func (c *Change) Done(ctx context.Context) {
	if c == nil || c.kept || !c.written {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	if _, err := c.j.store.Commit(ctx, host.Private, host.Txn{Ops: []host.Op{{Key: openPrefix + c.r.ID, Delete: true}}}); err != nil {
		// Found again at the next start, it turns out to be whole or undone.
		c.j.log.Warn("a finished change stays in the journal", "change", c.r.What, "switch", c.r.Switch, "err", err)
	}
}

// News tells that something was left since. A nil Journal has none, ever.
func (j *Journal) News() <-chan struct{} {
	if j == nil {
		return nil
	}
	return j.news
}

// Nodes returns the switches that have unsettled records.
func (j *Journal) Nodes() []uint64 {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []uint64
	for n := range j.left {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// Unsettled returns the records of a switch that an earlier process left, or that
// could not be taken back, the latest first: they are undone in that order.
func (j *Journal) Unsettled(node uint64) []Record {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	out := slices.Clone(j.left[node])
	slices.SortFunc(out, func(a, b Record) int { return -a.Begun.Compare(b.Begun) })
	return out
}

// Settle drops a record and keeps a report of it.
func (j *Journal) Settle(ctx context.Context, r Record, o Outcome, text string) error {
	rep := Report{ID: r.ID, Node: r.Node, Switch: r.Switch, What: r.What, Begun: r.Begun, Ended: time.Now().UTC(), Outcome: o, Text: text}
	b, err := json.Marshal(rep)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	ops := []host.Op{{Key: openPrefix + r.ID, Delete: true}, {Key: reportPrefix + r.ID, Value: b}}
	reports := append(slices.DeleteFunc(slices.Clone(j.reports), func(o Report) bool { return o.ID == r.ID }), rep)
	slices.SortStableFunc(reports, func(a, b Report) int { return strings.Compare(a.ID, b.ID) })
	for len(reports) > maxReports {
		ops = append(ops, host.Op{Key: reportPrefix + reports[0].ID, Delete: true})
		reports = reports[1:]
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	if _, err := j.store.Commit(ctx, host.Private, host.Txn{Ops: ops}); err != nil {
		return err
	}
	j.reports = reports
	j.left[r.Node] = slices.DeleteFunc(j.left[r.Node], func(o Record) bool { return o.ID == r.ID })
	if len(j.left[r.Node]) == 0 {
		delete(j.left, r.Node)
	}
	log := j.log.Info
	if o != Whole {
		log = j.log.Warn
	}
	log("a change that was not finished is settled", "switch", r.Switch, "change", r.What, "outcome", o, "detail", text)
	return nil
}

// Reports returns the latest reports, the oldest first.
func (j *Journal) Reports() []Report {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.reports)
}
