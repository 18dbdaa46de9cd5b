// Package switchlist is the list of switches: how its CSV file reads, which list is in force
// in the datastore with its secrets sealed, and how the file is followed.
package switchlist

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ctl.internal/internal/together"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/switchdriver"
)

// Inventory is the list of switches as the datastore has it. It is safe for concurrent
// use.
type Inventory struct {
	secrets Secrets
	store   *state.Store // nil: only Set fills the list
	heads   *state.Table[Head]
	rows    *state.Table[stored]
	files   *state.Table[seen]
	update  func(context.Context, func(*state.Tx) error) (uint64, error)

	cur     atomic.Pointer[list]
	mu      sync.Mutex // of now: one makes a list at a time
	changed together.Signal
}

// list is what was made of the records at one revision of the head.
type list struct {
	loaded   Loaded
	revision uint64
	entries  []Entry
	rows     map[mib.MAC]uint64 // revisions of the records
	byMAC    map[mib.MAC]*switchdriver.Switch
	driver   map[mib.MAC]string
	broken   map[mib.MAC]error
}

// Loaded describes the list in force.
type Loaded struct {
	Path     string    `json:"path"` // of the file
	Stored   bool      `json:"-"`    // requests have made the list; files do not count
	At       time.Time `json:"-"`
	Switches int       `json:"switches"`
	Problems []Problem `json:"problems"` // of the file: all when it was just read, later the first ones
}

// New makes an empty Inventory. secrets may be nil: then there are no sealed texts.
func New(secrets Secrets) *Inventory {
	v := &Inventory{secrets: secrets}
	v.heads = state.NewTable[Head](state.Private(headPrefix))
	v.rows = state.NewTable[stored](state.Private(rowPrefix))
	v.files = state.NewTable[seen](state.Private(seenPrefix))
	v.heads.Notify(func([]string) { v.changed.Fire() })
	v.cur.Store(&list{})
	return v
}

// Views are what the store follows for the Inventory.
func (v *Inventory) Views() []state.View {
	return []state.View{v.heads, v.rows, v.files}
}

// Bind gives the Inventory the store, opened with its views.
func (v *Inventory) Bind(s *state.Store) {
	v.store, v.update = s, s.Update
}

// Set makes a list that is not stored; an empty path says that it is no file's.
func (v *Inventory) Set(path string, entries []Entry, problems []Problem) Loaded {
	l := newList(entries)
	l.loaded = Loaded{
		Path:     path,
		Stored:   path == "",
		At:       time.Now(),
		Switches: len(entries),
		Problems: problems,
	}
	v.cur.Store(l)
	v.changed.Fire()
	return l.loaded
}

func newList(entries []Entry) *list {
	l := &list{
		entries: slices.Clone(entries),
		byMAC:   make(map[mib.MAC]*switchdriver.Switch, len(entries)),
		driver:  map[mib.MAC]string{},
	}
	for _, e := range entries {
		l.byMAC[e.MAC] = e.Switch()
		if e.Driver != "" {
			l.driver[e.MAC] = e.Driver
		}
	}
	return l
}

// currentList returns the list of the newest state. Every change of the list writes the head, so
// its revision says whether there is something to make again.
func (v *Inventory) currentList() *list {
	l := v.cur.Load()
	if v.store == nil || v.heads.Revision(v.store.Now(), headKey) == l.revision {
		return l
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	l = v.cur.Load()
	sn := v.store.Now()
	revision := v.heads.Revision(sn, headKey)
	if revision == l.revision {
		return l
	}
	next, again := v.buildList(sn, l)
	if next.revision = revision; again {
		next.revision = 0 // the secrets that did not open are tried again at the next look
	}
	v.cur.Store(next)
	return next
}

// buildList makes the list of a snapshot; what has not changed is taken from the list
// before. again says that some secrets could not be opened for the moment.
func (v *Inventory) buildList(sn *state.Snapshot, before *list) (l *list, again bool) {
	head, ok := v.heads.Get(sn, headKey)
	if !ok {
		return &list{}, false
	}
	var rows []stored
	revisions := map[mib.MAC]uint64{}
	for key, s := range v.rows.All(sn, head.Generation+"/") {
		rows = append(rows, s)
		revisions[s.MAC] = v.rows.Revision(sn, key)
	}
	known := map[mib.MAC]Entry{}
	for _, e := range before.entries {
		if before.rows[e.MAC] == revisions[e.MAC] && before.broken[e.MAC] == nil {
			known[e.MAC] = e
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), openingTime)
	defer cancel()
	entries := make([]Entry, len(rows))
	faults := make([]error, len(rows))
	_ = runEach(ctx, len(rows), func(ctx context.Context, i int) error {
		if e, ok := known[rows[i].MAC]; ok {
			entries[i] = e
			return nil
		}
		entries[i], faults[i] = v.openEntry(ctx, rows[i])
		return nil
	})
	broken := map[mib.MAC]error{}
	for i, err := range faults {
		if err != nil {
			broken[rows[i].MAC] = err
			again = again || fault.KindOf(err) == fault.Unavailable || fault.KindOf(err) == fault.Timeout
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Compare(a.Line, b.Line)
	})
	l = newList(entries)
	l.rows, l.broken = revisions, broken
	l.loaded = Loaded{
		Path:     head.Path,
		Stored:   head.Path == "",
		At:       head.At,
		Switches: len(entries),
		Problems: head.Problems,
	}
	return l, again
}

// Changed returns a channel that is closed at the next change.
func (v *Inventory) Changed() <-chan struct{} {
	return v.changed.Wait()
}

// Last describes the current list; its zero value means that there is no list.
func (v *Inventory) Last() Loaded {
	return v.currentList().loaded
}

// Entries returns the list in the order of the file.
func (v *Inventory) Entries() []Entry {
	return slices.Clone(v.currentList().entries)
}

// All returns the switches in the order of the file. They must not be changed.
func (v *Inventory) All() []*switchdriver.Switch {
	l := v.currentList()
	out := make([]*switchdriver.Switch, 0, len(l.entries))
	for _, e := range l.entries {
		out = append(out, l.byMAC[e.MAC])
	}
	return out
}

// Find returns a switch by its MAC address; fault.NotFound when it is not listed.
func (v *Inventory) Find(m mib.MAC) (*switchdriver.Switch, error) {
	l := v.currentList()
	if err := l.broken[m]; err != nil {
		return nil, err
	}
	switch sw, ok := l.byMAC[m]; {
	case ok:
		return sw, nil
	case l.loaded.Stored:
		return nil, fault.New(
			fault.NotFound,
			"there is no switch %d (%s) in the stored switch list",
			uint64(m),
			m,
		)
	case l.loaded.Path == "":
		return nil, fault.New(
			fault.NotFound,
			"there is no switch %d (%s): no switch list is loaded",
			uint64(m),
			m,
		)
	}
	return nil, fault.New(
		fault.NotFound,
		"there is no switch %d (%s) in %s",
		uint64(m),
		m,
		l.loaded.Path,
	)
}

// DriverOf returns the driver the list asks for, empty for none.
func (v *Inventory) DriverOf(node uint64) string {
	return v.currentList().driver[mib.MAC(node)]
}

// String summarises a load for people.
func (l Loaded) String() string {
	from := l.Path
	if l.Stored {
		from = "the stored list"
	}
	s := fmt.Sprintf("%d switches read from %s", l.Switches, from)
	if n := len(l.Problems); n > 0 {
		s += fmt.Sprintf(", %d lines with problems", n)
	}
	return s
}
