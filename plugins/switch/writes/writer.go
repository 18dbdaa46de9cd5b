// Package writes keeps each write on a device as a record of the datastore. The record is
// the input of the operation, its journal and its result: whoever is asked puts it there
// as queued, the process that holds the role switch-devices marks it as sent with its
// epoch before it sends anything, carries it out, and writes the result, for which the
// caller waits. What a process left is finished by the next holder: whole, undone,
// or left to the user. A holder that is asked itself writes the record at sent at once.
package writes

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ctl.internal/internal/together"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/switchdriver"
)

// Discover is the operation of no single switch: Scope says what of.
const Discover = "Discover"

const prefix = "op/"

// The bounds: operations that wait, those that are kept after their end, of each kind
// (repaired, or not), and how long; what a caller keeps of its time for the answer; and
// the time of one write of the store.
const (
	maxQueued = 1000
	maxEnded  = 100
	keepEnded = 7 * 24 * time.Hour
	answerIn  = 2 * time.Second
	drainLook = 10 * time.Millisecond
	storeTime = 10 * time.Second
	actTime   = 5 * time.Minute
)

// Options of a Writer.
type Options struct {
	// Find returns a switch of the list.
	Find func(node uint64) (*switchdriver.Switch, error)
	// Refuse says why a switch is not to be changed; nil: nothing is refused.
	Refuse func(*switchdriver.Switch) error
	// Perform carries an operation out; sw is nil for one of no single switch.
	Perform func(ctx context.Context, sw *switchdriver.Switch, o *Operation) (lines []string, err error)
	// Repair finds out what became of an operation that was begun and not ended, and takes
	// back what is half of it. It fails when the switch cannot be asked now.
	Repair func(ctx context.Context, sw *switchdriver.Switch, r *Record) (Outcome, string, error)
	Source string // of this process: its node
	Log    *slog.Logger
}

// Writer has operations carried out by the process that holds the role. It is safe for
// concurrent use.
type Writer struct {
	opt   Options
	table *state.Table[Record]
	done  *state.Table[Record] // changes that were carried out, by id: what can be undone
	// planned are those of plans, by plan, switch and id. They are kept as long as their plan.
	planned *state.Table[Record]
	store   *state.Store
	term    atomic.Pointer[state.Term] // nil: another process holds the role
	turns   switchdriver.Turns         // one change at a time for each switch
	news    chan struct{}              // records have changed

	draining atomic.Bool
	active   atomic.Int64 // operations that are being carried out

	mu    sync.Mutex
	taken map[string]bool // records that this process carries out
	work  sync.WaitGroup
	last  time.Time
}

// New makes a Writer; Bind it before use.
func New(o Options) *Writer {
	w := &Writer{
		opt:   o,
		news:  make(chan struct{}, 1),
		taken: map[string]bool{},
	}
	w.table = state.NewTableWith(state.Private(prefix), state.Codec[Record]{Decode: decodeRecord})
	w.done = state.NewTableWith(
		state.Private(donePrefix),
		state.Codec[Record]{Decode: decodeDone},
	)
	w.planned = state.NewTableWith(
		state.Private(plannedPrefix),
		state.Codec[Record]{Decode: decodePlanned},
	)
	w.table.Notify(func([]string) { together.Notify(w.news) })
	return w
}

// Views are what the store follows for the Writer.
func (w *Writer) Views() []state.View { return []state.View{w.table, w.done, w.planned} }

// Bind gives the Writer the store, opened with its views.
func (w *Writer) Bind(s *state.Store) { w.store = s }

func keyOf(node uint64, id string) string {
	return fmt.Sprintf("%012x/%s", node, id)
}

func (r *Record) key() string { return keyOf(r.Node, r.ID) }

// newRecord makes the record of an operation. Ids are in the order of time.
func (w *Writer) newRecord(ctx context.Context, sw *switchdriver.Switch, o Operation) Record {
	w.mu.Lock()
	now := time.Now().UTC()
	if !now.After(w.last) {
		now = w.last.Add(1)
	}
	w.last = now
	w.mu.Unlock()
	who, _ := caller.From(ctx)
	r := Record{
		ID:        now.Format("20060102T150405.000000000") + "-" + rand.Text()[:4],
		By:        cmp.Or(o.By, who.ID()),
		Begun:     now,
		Operation: o,
		State:     Queued,
	}
	if sw != nil {
		r.Node, r.Switch = sw.NodeId, switchdriver.Label(sw)
	}
	return r
}

// Do has an operation carried out and returns what came of it, with the faults of
// whoever did it. When the caller's time ends first, an operation that was not begun
// is cancelled; of another the fault says that its end is not known, and names it.
func (w *Writer) Do(ctx context.Context, sw *switchdriver.Switch, o Operation) ([]string, error) {
	_, lines, err := w.DoRecorded(ctx, sw, o)
	return lines, err
}

// DoRecorded is Do, and returns the id of the operation.
func (w *Writer) DoRecorded(
	ctx context.Context,
	sw *switchdriver.Switch,
	o Operation,
) (id string, lines []string, err error) {
	r := w.newRecord(ctx, sw, o)
	term := w.term.Load()
	if term != nil && term.Check() == nil {
		lines, err = w.carryOperation(ctx, &carried{
			w:      w,
			term:   term,
			record: r,
		}, sw)
		return r.ID, lines, err
	}
	if o.Current != nil {
		return "", nil, fault.New(fault.Unavailable, "this process acts on switches no more; nothing was sent")
	}
	lines, err = w.askHolder(ctx, r)
	return r.ID, lines, err
}

// Holds reports whether this process acts on switches.
func (w *Writer) Holds() bool {
	t := w.term.Load()
	return t != nil && t.Check() == nil
}

// putRecord writes the record of an operation that this process carries out.
func (w *Writer) putRecord(ctx context.Context, c *carried, r Record) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	_, err := c.term.Update(ctx, func(tx *state.Tx) error {
		now, ok := w.table.Get(tx, r.key())
		if c.stored && (!ok || now.hasEnded()) {
			return fault.New(fault.NotFound, "the operation %s was cancelled", r.ID)
		}
		if r.hasEnded() {
			w.pruneRecords(tx, r.Outcome != "")
			if err := w.keepDone(tx, r); err != nil {
				return err
			}
		}
		return w.table.Put(tx, r.key(), r)
	})
	if err == nil {
		c.record, c.stored = r, true
	}
	return err
}

// pruneRecords removes what ended longest ago, to make room for one more.
func (w *Writer) pruneRecords(tx *state.Tx, repaired bool) {
	var same []Record
	for key, r := range w.table.All(tx.Snapshot(), "") {
		switch {
		case !r.hasEnded():
		case time.Since(r.Ended) > keepEnded:
			w.table.Delete(tx, key)
		case (r.Outcome != "") == repaired:
			same = append(same, r)
		}
	}
	slices.SortFunc(same, func(a, b Record) int { return a.Ended.Compare(b.Ended) })
	for i := range max(0, len(same)-maxEnded+1) {
		w.table.Delete(tx, same[i].key())
	}
}

// carryOperation carries an operation out while no other one of the switch is.
func (w *Writer) carryOperation(
	ctx context.Context,
	c *carried,
	sw *switchdriver.Switch,
) (lines []string, err error) {
	w.active.Add(1)
	defer w.active.Add(-1)
	leave := func() {}
	defer func() { leave() }()
	if sw != nil {
		done, err := w.takeTurn(ctx, sw.NodeId)
		if err != nil {
			return nil, w.finishOperation(
				ctx,
				c,
				nil,
				fault.Wrap(
					fault.InUse,
					err,
					"switch %s is busy with other changes, so nothing was sent; try again",
					switchdriver.Label(sw),
				),
			)
		}
		leave = done
	}
	lines, err = w.performOperation(ctx, c, sw)
	return lines, w.finishOperation(ctx, c, lines, err)
}

// takeTurn waits for the switch. It goes by the MAC address alone: the list may change the address meanwhile.
func (w *Writer) takeTurn(ctx context.Context, node uint64) (done func(), err error) {
	return w.turns.Take(ctx, &switchdriver.Switch{NodeId: node})
}

func (w *Writer) performOperation(
	ctx context.Context,
	c *carried,
	sw *switchdriver.Switch,
) ([]string, error) {
	if sw != nil && w.opt.Refuse != nil {
		if err := w.opt.Refuse(sw); err != nil {
			return nil, err
		}
	}
	if sw != nil {
		if err := w.repairSwitch(ctx, c.term, sw, false); err != nil {
			return nil, err
		}
	}
	act, end, err := c.term.Act(ctx, actTime)
	if err != nil {
		return nil, err
	}
	defer end()
	act = context.WithValue(act, carriedKey{}, c)
	if sw == nil { // no driver plans it
		if err := Begin(act, Plan{}); err != nil {
			return nil, err
		}
	}
	if find := c.record.Operation.Current; find != nil {
		if err := find(act, &c.record.Operation); err != nil || c.record.Operation.Request == nil {
			return nil, err
		}
	}
	return w.callPerform(act, c, sw)
}

// callPerform has an operation carried out. A panic of who does it is a fault of the operation: it is recorded, what was
// begun is repaired, and the process lives.
func (w *Writer) callPerform(
	ctx context.Context,
	c *carried,
	sw *switchdriver.Switch,
) (lines []string, err error) {
	defer func() {
		if v := recover(); v != nil {
			c.kept = c.begun
			err = w.panicked(&c.record, v)
		}
	}()
	return w.opt.Perform(ctx, sw, &c.record.Operation)
}

// panicked is the fault of a panic; the log has the details.
func (w *Writer) panicked(r *Record, v any) error {
	w.opt.Log.Error(
		"a change panicked",
		"operation",
		r.ID,
		"switch",
		r.Switch,
		"panic",
		fmt.Sprint(v),
		"stack",
		string(debug.Stack()),
	)
	return fault.New(fault.Internal, "internal error in the plugin; its log has the details")
}

// finishOperation writes what is left of an operation: for a caller that waits for its record the
// result, else nothing, or of one that is to be repaired that. The switch is still the
// caller's alone.
func (w *Writer) finishOperation(ctx context.Context, c *carried, lines []string, err error) error {
	r := c.record
	lost := c.term.Check()
	switch {
	case lost != nil && c.begun && err != nil: // it stays as sent, which the next holder repairs
		return fault.Wrap(
			fault.Timeout,
			err,
			"the outcome of operation %s (%s of switch %s) is not known, because %v: see switch:changes",
			r.ID,
			r.What(),
			r.Switch,
			lost,
		)
	case lost != nil || !c.stored:
		return err
	case c.kept:
		r.State, r.Text, r.Faults = Unknown, err.Error(), toFaults(err)
	case r.Timeout == 0: // no caller waits for the record
		if err == nil {
			r.State, r.Ended = Done, time.Now().UTC()
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
		defer cancel()
		if _, e := c.term.Update(ctx, func(tx *state.Tx) error {
			tx.Volatile() // one that comes back is found to be whole
			w.table.Delete(tx, r.key())
			return w.keepDone(tx, r)
		}); e != nil {
			// Found again by the repair, it turns out to be whole or undone.
			w.opt.Log.Warn(
				"a finished change stays in the datastore",
				"operation",
				r.ID,
				"switch",
				r.Switch,
				"change",
				r.What(),
				"err",
				e,
			)
		}
		return err
	default:
		r.State, r.Ended, r.Lines = Done, time.Now().UTC(), lines
		if err != nil {
			r.State, r.Faults = Failed, toFaults(err)
		}
	}
	e := w.putRecord(ctx, c, r)
	if e != nil && fault.KindOf(e) != fault.NotFound {
		w.opt.Log.Warn("the result of an operation is not written", "operation", r.ID, "err", e)
	}
	return err
}

// askHolder queues an operation for the holder of the role and waits for its end.
func (w *Writer) askHolder(ctx context.Context, r Record) ([]string, error) {
	most := time.Minute
	if end, ok := ctx.Deadline(); ok {
		left := time.Until(end)
		most = left - min(answerIn, left/4)
	}
	wait, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	r.Timeout = max(most, time.Millisecond)
	_, err := w.store.Update(wait, func(tx *state.Tx) error {
		queued := 0
		for _, o := range w.table.All(tx.Snapshot(), "") {
			if o.State == Queued {
				queued++
			}
		}
		if queued >= maxQueued {
			return fault.New(
				fault.Unavailable,
				"%d operations wait for the node that acts on switches; try again later",
				queued,
			)
		}
		return w.table.Put(tx, r.key(), r)
	})
	if err != nil {
		return nil, err
	}
	last := r
	err = w.store.WaitUntil(wait, func(n *state.Snapshot) bool {
		now, ok := w.table.Get(n, r.key())
		if ok {
			last = now
		}
		return !ok || now.hasEnded() || now.State == Unknown
	})
	if err != nil {
		cancelled, e := w.cancelOperation(ctx, &last)
		if e == nil && cancelled {
			return nil, w.notBegun(&last)
		}
	}
	if last.hasEnded() || last.State == Unknown && len(last.Faults) > 0 {
		return last.Lines, last.toError()
	}
	return nil, fault.New(
		fault.Timeout,
		"the outcome of operation %s (%s of switch %s) is not known yet; see switch:changes",
		r.ID,
		r.What(),
		r.Switch,
	)
}

// cancelOperation removes an operation that was not begun; false: it was.
func (w *Writer) cancelOperation(ctx context.Context, r *Record) (cancelled bool, err error) {
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), answerIn)
	defer end()
	_, err = w.store.Update(ctx, func(tx *state.Tx) error {
		now, ok := w.table.Get(tx, r.key())
		if cancelled = ok && now.State == Queued; cancelled {
			w.table.Delete(tx, r.key())
		} else if ok {
			*r = now
		}
		return nil
	})
	return cancelled, err
}

// notBegun says why an operation was not begun in time.
func (w *Writer) notBegun(r *Record) error {
	for _, o := range w.table.All(w.store.Now(), keyOf(r.Node, "")) {
		if o.State == Sent {
			return fault.New(
				fault.InUse,
				"switch %s is busy with other changes, so nothing was sent; try again",
				r.Switch,
			)
		}
	}
	return fault.New(
		fault.Unavailable,
		"no node started %s in time, so nothing was sent: the role switch-devices is moving to another node, or that node is busy; try again",
		r.What(),
	)
}

// Run carries out what is queued, and repairs what was left, for one term of the role.
func (w *Writer) Run(ctx context.Context, term *state.Term) {
	for key, err := range w.store.Broken() {
		w.opt.Log.Warn("a record cannot be read and is left as it is", "key", key, "err", err)
	}
	w.term.Store(term)
	defer w.term.Store(nil)
	defer w.work.Wait()
	w.work.Go(func() { w.runRepairs(ctx, term) })
	for {
		for _, r := range w.queuedOperations() {
			w.work.Go(func() { w.takeQueued(ctx, term, r) })
		}
		select {
		case <-w.news:
		case <-ctx.Done():
			return
		}
	}
}

// queuedOperations returns the operations that are to be taken, the oldest first, each once.
func (w *Writer) queuedOperations() (out []Record) {
	if w.draining.Load() {
		return nil
	}
	now := w.store.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.taken, func(key string, _ bool) bool {
		return w.table.Revision(now, key) == 0
	})
	for key, r := range w.table.All(now, "") {
		if r.State == Queued && !w.taken[key] {
			w.taken[key] = true
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Record) int { return a.Begun.Compare(b.Begun) })
	return out
}

// takeQueued carries out an operation of the queue.
func (w *Writer) takeQueued(ctx context.Context, term *state.Term, r Record) {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	c := &carried{w: w, term: term, record: r, stored: true}
	var sw *switchdriver.Switch
	if r.Node != 0 {
		var err error
		if sw, err = w.opt.Find(r.Node); err != nil {
			_ = w.finishOperation(ctx, c, nil, err)
			return
		}
	}
	_, _ = w.carryOperation(ctx, c, sw) // the record has the result
}

// Drain takes nothing more of the queue and waits for what this process is carrying out,
// until ctx ends.
func (w *Writer) Drain(ctx context.Context) {
	w.draining.Store(true)
	tick := time.NewTicker(drainLook)
	defer tick.Stop()
	for w.active.Load() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
