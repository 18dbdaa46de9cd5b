package logs

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"ctl.internal/internal/together"
)

// Entry is one record of the log.
type Entry struct {
	Time    time.Time
	Level   slog.Level
	Logger  string
	Message string // as logged: may hold control characters, Text does not
	JSON    string // the line of the file, without newline
}

// Text is the record as log:display shows it, safe for a terminal: time, level,
// logger and message; the attributes are in JSON.
func (e Entry) Text() string {
	return fmt.Sprintf(
		"%s | %-5s | %s | %s",
		e.Time.Format("2006-01-02T15:04:05.000"),
		LevelName(e.Level),
		e.Logger,
		Printable(e.Message),
	)
}

// Printable replaces what a terminal would obey instead of show.
func Printable(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) < 0 {
		return s
	}
	q := strconv.Quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// ringBytes bounds the texts of the entries that are kept.
const ringBytes = 8 << 20

func (e Entry) size() int {
	return len(e.JSON) + len(e.Message)
}

// ring holds the newest entries.
type ring struct {
	mu      sync.Mutex
	size    int
	entries []Entry // oldest first
	bytes   int     // of their texts
	first   uint64  // number of the oldest entry
	changed together.Signal
}

func newRing(size int) *ring { return &ring{size: size} }

func (r *ring) addEntry(e Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, e)
	r.bytes += e.size()
	for len(r.entries) > r.size || r.bytes > ringBytes && len(r.entries) > 1 {
		r.bytes -= r.entries[0].size()
		r.entries[0] = Entry{}
		r.entries = r.entries[1:]
		r.first++
	}
	r.changed.Fire()
}

// entriesSince returns the entries from a number on, the number after them, how many
// had to be left out because they are gone, and a channel for the next change.
func (r *ring) entriesSince(n uint64) (es []Entry, next, lost uint64, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n < r.first {
		lost, n = r.first-n, r.first
	}
	next = r.first + uint64(len(r.entries))
	if n < next {
		es = append(es, r.entries[n-r.first:]...)
	}
	return es, next, lost, r.changed.Wait()
}

// Recent returns up to n newest entries, oldest first; n ≤ 0 = all that are kept.
func (r *Registry) Recent(n int) []Entry {
	es, _, _, _ := r.ring.entriesSince(0)
	if n > 0 && len(es) > n {
		es = es[len(es)-n:]
	}
	return es
}

// Clear forgets the entries in memory; the file keeps them.
func (r *Registry) Clear() {
	r.ring.mu.Lock()
	defer r.ring.mu.Unlock()
	r.ring.first += uint64(len(r.ring.entries))
	r.ring.entries, r.ring.bytes = nil, 0
}

// Follow calls f for every entry logged from now on, with the number of entries
// lost before it because f was too slow. It ends with ctx or with f's error.
func (r *Registry) Follow(ctx context.Context, f func(e Entry, lost uint64) error) error {
	_, next, _, _ := r.ring.entriesSince(^uint64(0))
	for {
		es, after, lost, changed := r.ring.entriesSince(next)
		next = after
		for _, e := range es {
			if err := f(e, lost); err != nil {
				return err
			}
			lost = 0
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
