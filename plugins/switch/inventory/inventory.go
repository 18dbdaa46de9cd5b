package inventory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"ctl.internal/plugins/switch/csvlist"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Inventory is the list of switches. It is safe for concurrent use.
type Inventory struct {
	mu      sync.RWMutex
	loaded  Loaded
	entries []csvlist.Entry
	byMAC   map[mib.MAC]*switchdriver.Switch
	driver  map[mib.MAC]string
	changed chan struct{} // closed and replaced at each change
	open    Opener
}

// Opener opens a text of aaa:seal-secret; host.Secrets.OpenText is one.
type Opener func(ctx context.Context, text string) (string, error)

// openingTime bounds the opening of all sealed texts of one list.
const openingTime = 30 * time.Second

// Loaded tells of the last load.
type Loaded struct {
	Path     string // of the file
	Stored   bool   // the list is the stored one (Database); there is no file
	At       time.Time
	Switches int
	Problems []csvlist.Problem
}

// New makes an empty Inventory. open may be nil: then lines with sealed texts are bad.
func New(open Opener) *Inventory { return &Inventory{changed: make(chan struct{}), open: open} }

// Load replaces the list by the file's. A file that cannot be read, that is empty or of
// which no line can be used changes nothing; other bad lines are told and left out.
func (v *Inventory) Load(ctx context.Context, path string) (Loaded, error) {
	text, err := read(path)
	if err != nil {
		return Loaded{}, err
	}
	entries, problems := v.parse(ctx, path, text, nil)
	if err := usable(path, text, entries, problems); err != nil {
		return Loaded{Path: path, At: time.Now(), Problems: problems}, err
	}
	return v.Set(path, entries, problems), nil
}

// parse reads a list, its sealed texts opened; known are switches whose secrets it may lack.
func (v *Inventory) parse(ctx context.Context, path string, text []byte, known []csvlist.Entry) ([]csvlist.Entry, []csvlist.Problem) {
	ctx, cancel := context.WithTimeout(ctx, openingTime)
	defer cancel()
	o := csvlist.Options{Known: known}
	if v.open != nil {
		o.Open = func(text string) (string, error) { return v.open(ctx, text) }
	}
	return csvlist.ParseWith(o, path, text)
}

// usable refuses a file that is empty or of which no line can be used: it is being
// written, or is another one. A list without switches has a title line.
func usable(path string, text []byte, entries []csvlist.Entry, problems []csvlist.Problem) error {
	bad := slices.IndexFunc(problems, func(p csvlist.Problem) bool { return !p.Loaded })
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return fault.New(fault.Invalid, "the switch list %s is empty, so the one in force stays; a list without switches has a title line: %s", path, csvlist.Title())
	case len(entries) == 0 && bad >= 0:
		return fault.New(fault.Invalid, "no line of the switch list %s can be used, so the one in force stays: %s", path, problems[bad])
	}
	return nil
}

// read reads a bounded file.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Wrap(fault.NotFound, err, "the switch list %s does not exist", path)
	case err != nil:
		return nil, fault.Wrap(fault.Invalid, err, "the switch list cannot be read: %v", err)
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() {
		return nil, fault.New(fault.Invalid, "the switch list %s is not a file", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, csvlist.MaxFile+1))
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the switch list cannot be read: %v", err)
	}
	return text, nil
}

// Set replaces the list; an empty path says that it is no file's.
func (v *Inventory) Set(path string, entries []csvlist.Entry, problems []csvlist.Problem) Loaded {
	byMAC := make(map[mib.MAC]*switchdriver.Switch, len(entries))
	driver := map[mib.MAC]string{}
	for _, e := range entries {
		byMAC[e.MAC] = Switch(e)
		if e.Driver != "" {
			driver[e.MAC] = e.Driver
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.entries, v.byMAC, v.driver = slices.Clone(entries), byMAC, driver
	v.loaded = Loaded{Path: path, Stored: path == "", At: time.Now(), Switches: len(entries), Problems: problems}
	close(v.changed)
	v.changed = make(chan struct{})
	return v.loaded
}

// Switch is an entry in the form drivers take.
func Switch(e csvlist.Entry) *switchdriver.Switch {
	sw := &switchdriver.Switch{NodeId: uint64(e.MAC), Address: e.Address.String(), Model: e.Model,
		Snmp: newAccess(e)}
	if e.CLIUser != "" || e.CLIPassword != "" {
		sw.Cli = newCLI(e)
	}
	return sw
}

// Changed returns a channel that is closed at the next change.
func (v *Inventory) Changed() <-chan struct{} {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.changed
}

// Last tells of the last load; its zero value means that there was none.
func (v *Inventory) Last() Loaded {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.loaded
}

// Entries returns the list in the order of the file.
func (v *Inventory) Entries() []csvlist.Entry {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.Clone(v.entries)
}

// All returns the switches in the order of the file. They must not be changed.
func (v *Inventory) All() []*switchdriver.Switch {
	v.mu.RLock()
	defer v.mu.RUnlock()
	out := make([]*switchdriver.Switch, 0, len(v.entries))
	for _, e := range v.entries {
		out = append(out, v.byMAC[e.MAC])
	}
	return out
}

// Find returns a switch by its MAC address; fault.NotFound when it is not listed.
func (v *Inventory) Find(m mib.MAC) (*switchdriver.Switch, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if sw, ok := v.byMAC[m]; ok {
		return sw, nil
	}
	if v.loaded.Stored {
		return nil, fault.New(fault.NotFound, "there is no switch %d (%s) in the stored switch list", uint64(m), m)
	}
	if v.loaded.Path == "" {
		return nil, fault.New(fault.NotFound, "there is no switch %d (%s): no switch list is loaded", uint64(m), m)
	}
	return nil, fault.New(fault.NotFound, "there is no switch %d (%s) in %s", uint64(m), m, v.loaded.Path)
}

// DriverOf returns the driver the list asks for, empty for none.
func (v *Inventory) DriverOf(node uint64) string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.driver[mib.MAC(node)]
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
