package plugin

import (
	"container/list"
	"context"
	"slices"
	"sync"
	"time"
)

// Bounds of the queue before a plugin that works on as many calls as it may.
const (
	queueFactor = 4               // times as many may wait
	queueWait   = 2 * time.Second // a person's call; those of other plugins wait as long as they have
	slowAfter   = 10 * time.Second
	probeEvery  = time.Second
)

// bulkheads are the places for calls to all plugins together. A plugin that hangs or floods fills its own places only.
type bulkheads struct {
	mu    sync.Mutex
	most  int // calls that run or wait, of all plugins
	taken int
	all   map[*bulkhead]struct{} // those with somebody waiting
}

// bulkhead are the places for the calls to one plugin.
type bulkhead struct {
	of       *bulkheads
	limit    int        // calls that run
	running  *list.List // of *place, oldest first
	queue    []*place
	callers  map[string]int // running calls of each caller
	finished time.Time      // of the newest call that ended
	probed   time.Time
}

// place is one call.
type place struct {
	who   string
	since time.Time // it runs
	unary bool
	at    *list.Element
	ready chan bool // of one that waits: true = it has a place, false = another needed it more
}

func newBulkheads(most int) *bulkheads {
	return &bulkheads{most: most, all: map[*bulkhead]struct{}{}}
}

func (all *bulkheads) addBulkhead(limit int) *bulkhead {
	return &bulkhead{
		of:      all,
		limit:   min(limit, all.most),
		running: list.New(),
		callers: map[string]int{},
	}
}

// takePlace takes a place. It returns nil if all places and the queue are in use, or if the plugin does not answer.
func (b *bulkhead) takePlace(
	ctx context.Context,
	who string,
	unary bool,
	wait time.Duration,
) *place {
	p := &place{who: who, unary: unary}
	switch {
	case !b.admitPlace(p):
		return nil
	case p.ready == nil:
		return p
	}
	return b.awaitPlace(ctx, p, wait)
}

// admitPlace lets a call run, or has it wait in the queue; false if there is no room for it.
func (b *bulkhead) admitPlace(p *place) bool {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	switch {
	case b.of.taken >= b.of.most && !b.of.displaceLongest(b):
		return false
	case b.running.Len() < b.limit && len(b.queue) == 0:
		b.startCall(p)
	case b.countSlow(time.Now()) >= (b.limit+1)/2: // whoever waits would wait in vain; one call a second tries
		if time.Since(b.probed) < probeEvery {
			return false
		}
		b.probed = time.Now()
		b.startCall(p)
	case len(b.queue) >= queueFactor*b.limit && !b.displaceCaller(p.who):
		return false
	default:
		p.ready = make(chan bool, 1)
		b.queue = append(b.queue, p)
		b.of.all[b] = struct{}{}
	}
	b.of.taken++
	return true
}

func (b *bulkhead) awaitPlace(ctx context.Context, p *place, wait time.Duration) *place {
	var ok bool
	select {
	case ok = <-p.ready:
	case <-time.After(wait):
	case <-ctx.Done():
	}
	if ok {
		return p
	}
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	if p.at != nil { // it got its place at this moment
		return p
	}
	b.dropWaiting(p)
	return nil
}

// releasePlace gives a place back.
func (b *bulkhead) releasePlace(p *place) {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	b.running.Remove(p.at)
	if b.callers[p.who]--; b.callers[p.who] == 0 {
		delete(b.callers, p.who)
	}
	b.of.taken--
	b.finished = time.Now()
	if b.running.Len() < b.limit && len(b.queue) > 0 {
		next := b.queue[0]
		for _, q := range b.queue { // of the caller with the fewest calls; of equals the oldest
			if b.callers[q.who] < b.callers[next.who] {
				next = q
			}
		}
		b.unqueuePlace(next)
		b.startCall(next)
		next.ready <- true
	}
}

func (b *bulkhead) startCall(p *place) {
	p.since = time.Now()
	p.at = b.running.PushBack(p)
	b.callers[p.who]++
}

func (b *bulkhead) unqueuePlace(p *place) bool {
	i := slices.Index(b.queue, p)
	if i < 0 {
		return false
	}
	b.queue = slices.Delete(b.queue, i, i+1)
	if len(b.queue) == 0 {
		delete(b.of.all, b)
	}
	return true
}

// dropWaiting takes one that waits out of the queue.
func (b *bulkhead) dropWaiting(p *place) {
	if b.unqueuePlace(p) {
		b.of.taken--
	}
}

// displaceCaller makes room in a full queue for a caller who has fewer calls in it than another.
func (b *bulkhead) displaceCaller(who string) bool {
	waiting := map[string]int{}
	for _, q := range b.queue {
		waiting[q.who]++
	}
	most := who
	for caller, n := range waiting {
		if n > waiting[most] {
			most = caller
		}
	}
	if waiting[most] <= waiting[who]+1 {
		return false
	}
	return b.dismissNewest(most)
}

// dismissNewest sends the newest of a caller away; empty = of anybody.
func (b *bulkhead) dismissNewest(who string) bool {
	for _, q := range slices.Backward(b.queue) {
		if who == "" || q.who == who {
			b.dropWaiting(q)
			q.ready <- false
			return true
		}
	}
	return false
}

// displaceLongest makes room among all for a plugin by sending away who waits for the plugin with the longest queue.
func (all *bulkheads) displaceLongest(b *bulkhead) bool {
	longest := b
	for o := range all.all {
		if len(o.queue) > len(longest.queue) {
			longest = o
		}
	}
	return longest != b && longest.dismissNewest("")
}

// countSlow counts the unary calls that run for long.
func (b *bulkhead) countSlow(now time.Time) int {
	n := 0
	for e := b.running.Front(); e != nil; e = e.Next() {
		p := e.Value.(*place)
		if now.Sub(p.since) < slowAfter {
			break
		}
		if p.unary {
			n++
		}
	}
	return n
}

// stuckCalls reports how many calls the plugin leaves without an answer, and since when no call has ended; 0 when it
// answers.
func (b *bulkhead) stuckCalls(now time.Time) (calls int, since time.Duration) {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	if calls = b.countSlow(now); calls < (b.limit+1)/2 {
		return 0, 0
	}
	oldest := b.running.Front().Value.(*place).since
	if b.finished.After(oldest) {
		oldest = b.finished
	}
	return calls, now.Sub(oldest)
}

// countCalls is how many calls run and how many wait.
func (b *bulkhead) countCalls() (running, waiting int) {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	return b.running.Len(), len(b.queue)
}
