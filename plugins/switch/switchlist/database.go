package switchlist

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
)

// The bounds of the list, of the operations of one transaction (etcd takes 128), of the
// time to store a list, and after which a generation that is not in force is garbage.
const (
	maxStored   = 20000
	perTxn      = 100
	storingTime = 30 * time.Second
	garbage     = time.Hour
)

// Database changes the list. Files are read where the call is made, or where the role is
// held; what counts is what they had in them then.
type Database struct {
	*Inventory
	Files  []string // the default lists
	Source string   // of this process: its node
}

// Listed reports whether there is a list, be it empty.
func (d *Database) Listed() bool {
	return d.heads.Revision(d.store.Now(), headKey) != 0
}

// changeList decides on the list in force and writes the head with what else is written.
func (d *Database) changeList(
	ctx context.Context,
	decide func(tx *state.Tx, h *Head, entries []Entry) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, storingTime)
	defer cancel()
	_, err := d.update(ctx, func(tx *state.Tx) error {
		h, ok := d.heads.Get(tx, headKey)
		if !ok {
			h = Head{Generation: newGeneration()}
		}
		var entries []Entry
		for _, s := range d.rows.All(tx.Snapshot(), h.Generation+"/") { // the head is the condition
			s.Sealed = nil
			e, _ := d.openEntry(ctx, s)
			entries = append(entries, e)
		}
		if err := decide(tx, &h, entries); err != nil {
			return err
		}
		h.Path, h.Sum, h.Place, h.Problems, h.Source, h.At = "", "", "", nil, d.Source, time.Now()
		return d.heads.Put(tx, headKey, h)
	})
	return listStaysError(err)
}

// listStaysError says what a list is when it could not be changed.
func listStaysError(err error) error {
	switch fault.KindOf(err) {
	case fault.Unavailable, fault.Timeout, fault.Internal, fault.InUse:
		if err != nil {
			return fault.Wrap(
				fault.KindOf(err),
				err,
				"the switch list is unchanged, because it cannot be stored: %v",
				err,
			)
		}
	}
	return err
}

// Add adds a switch; fault.Exists when the MAC address, or address and port, are listed.
func (d *Database) Add(ctx context.Context, e Entry) error {
	row, err := d.sealEntry(ctx, e)
	if err != nil {
		return listStaysError(err)
	}
	return d.changeList(ctx, func(tx *state.Tx, h *Head, all []Entry) error {
		for _, o := range all {
			if e.Same(o) {
				return fault.At(fault.Exists, "node-mac", "%s is in the switch list already", o)
			}
			row.Line = max(row.Line, o.Line)
		}
		if len(all) >= maxStored {
			return fault.New(
				fault.TooBig,
				"the list has %d switches; more cannot be stored",
				maxStored,
			)
		}
		row.Line++
		return d.rows.Put(tx, rowKey(h.Generation, e.MAC), row)
	})
}

// Remove removes the switch at an address, with :port where several share it.
func (d *Database) Remove(ctx context.Context, at string) error {
	text, port := SplitAddress(at)
	address, err := netip.ParseAddr(text)
	if err != nil {
		return fault.At(fault.Invalid, "node-ip", "%.60q is not an IP address", at)
	}
	return d.changeList(ctx, func(tx *state.Tx, h *Head, all []Entry) error {
		match := slices.DeleteFunc(all, func(e Entry) bool {
			return e.Address != address || port != "" && port != strconv.Itoa(int(e.Port))
		})
		switch len(match) {
		case 0:
			return fault.At(fault.NotFound, "node-ip", "there is no switch at %s in the list", at)
		case 1:
			d.rows.Delete(tx, rowKey(h.Generation, match[0].MAC))
			return nil
		}
		return fault.At(
			fault.Invalid,
			"node-ip",
			"%d switches have the address %s; add the SNMP port, %s:161",
			len(match),
			at,
			at,
		)
	})
}

// Replace replaces the whole list. The faults name the entry as [n], from 1.
func (d *Database) Replace(ctx context.Context, entries []Entry) error {
	var l fault.List
	seen := make(map[any]int, 2*len(entries))
	for i, e := range entries {
		at := netip.AddrPortFrom(e.Address, e.Port)
		if j := cmp.Or(seen[e.MAC], seen[at]); j > 0 {
			l = append(
				l,
				fault.At(
					fault.Invalid,
					"all-switch-entry["+strconv.Itoa(i+1)+"]",
					"%s is already in the list, as entry %d",
					e,
					j,
				),
			)
		}
		seen[e.MAC], seen[at] = i+1, i+1
	}
	if len(l) > 0 {
		return l.Err()
	}
	return d.putList(ctx, d.update, Head{}, entries)
}

// Reload loads the first default file that exists. Without a file nothing changes.
func (d *Database) Reload(ctx context.Context) (Loaded, error) {
	paths := d.Files
	h, ok := d.heads.Get(d.store.Now(), headKey)
	if ok && h.File != "" {
		paths = append([]string{h.File}, paths...)
	}
	return d.loadFirst(ctx, d.update, paths)
}

// loadFirst loads the first of the files that exists.
func (d *Database) loadFirst(ctx context.Context, update updater, paths []string) (Loaded, error) {
	for _, p := range paths {
		l, err := d.loadFile(ctx, update, Head{}, p)
		if err == nil || !errors.Is(err, &fault.Error{Kind: fault.NotFound}) {
			return l, err
		}
	}
	return Loaded{}, fault.New(fault.NotFound, "there is no switch list; looked for %v", paths)
}

// File loads a file, and again whenever it changes where the role is held. One that
// cannot be read, that is empty or of which no line can be used changes nothing; other
// bad lines are reported and left out.
func (d *Database) File(ctx context.Context, path string) (Loaded, error) {
	return d.loadFile(ctx, d.update, Head{File: path}, path)
}

type updater func(context.Context, func(*state.Tx) error) (uint64, error)

func (d *Database) loadFile(
	ctx context.Context,
	update updater,
	h Head,
	path string,
) (Loaded, error) {
	text, entries, l, err := d.readContents(ctx, path, nil)
	if err != nil {
		return l, err
	}
	h.Path, h.Sum, h.Place, h.Problems = path, sumOfText(text), placeOf(path), l.Problems[:min(len(l.Problems), keptProblems)]
	return l, d.putList(ctx, update, h, entries)
}

// readContents reads a file that can be used; known are switches whose secrets it may lack.
func (d *Database) readContents(
	ctx context.Context,
	path string,
	known []Entry,
) (text []byte, entries []Entry, l Loaded, err error) {
	if text, err = readFile(path); err != nil {
		return nil, nil, l, err
	}
	entries, problems := d.parseList(ctx, path, text, known)
	l = Loaded{
		Path:     path,
		At:       time.Now(),
		Switches: len(entries),
		Problems: problems,
	}
	return text, entries, l, checkUsable(path, text, entries, problems)
}

func sumOfText(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:])
}

// Import reads a file into the list; the file does not count afterwards. Secrets that it
// lacks are taken from the list in force. A file with bad lines changes nothing, unless
// skip says to leave them out.
func (d *Database) Import(ctx context.Context, path string, skip bool) (Loaded, error) {
	_, entries, l, err := d.readContents(ctx, path, d.Entries())
	if err != nil {
		return l, err
	}
	bad := slices.ContainsFunc(l.Problems, func(p Problem) bool { return !p.Loaded })
	if bad && !skip {
		return l, fault.New(
			fault.Invalid,
			"%s has lines that cannot be used, so nothing was imported",
			path,
		)
	}
	return l, d.putList(ctx, d.update, Head{}, entries)
}

// generationTime is the form of the time in the name of a generation.
const generationTime = "20060102T150405"

// newGeneration names one; the time in it says when it is garbage.
func newGeneration() string {
	return time.Now().UTC().Format(generationTime) + "-" + rand.Text()[:8]
}

// putList stores a list in pieces, then puts it in force.
func (d *Database) putList(ctx context.Context, update updater, h Head, entries []Entry) error {
	if len(entries) > maxStored {
		return fault.New(
			fault.TooBig,
			"%d switches are more than the %d that can be stored",
			len(entries),
			maxStored,
		)
	}
	ctx, cancel := context.WithTimeout(ctx, storingTime)
	defer cancel()
	rows := make([]stored, len(entries))
	err := runEach(ctx, len(entries), func(ctx context.Context, i int) (err error) {
		rows[i], err = d.sealEntry(ctx, entries[i])
		rows[i].Line = i + 1
		return err
	})
	if err != nil {
		return listStaysError(err)
	}
	h.Generation, h.Source, h.At = newGeneration(), d.Source, time.Now()
	for chunk := range slices.Chunk(rows, perTxn) {
		if _, err := update(ctx, func(tx *state.Tx) (err error) {
			for _, r := range chunk {
				err = errors.Join(err, d.rows.Put(tx, rowKey(h.Generation, r.MAC), r))
			}
			return err
		}); err != nil {
			return listStaysError(err)
		}
	}
	var old Head
	_, err = update(ctx, func(tx *state.Tx) error {
		if old, _ = d.heads.Get(tx, headKey); h.File == "" {
			h.File = old.File
		}
		return d.heads.Put(tx, headKey, h)
	})
	if err != nil {
		return listStaysError(err)
	}
	d.sweepGenerations(ctx, update, old.Generation)
	return nil
}

// sweepGenerations removes the generation that was in force before, and what a process left that
// ended while it wrote one.
func (d *Database) sweepGenerations(ctx context.Context, update updater, before string) {
	now := d.store.Now()
	head, _ := d.heads.Get(now, headKey)
	old := time.Now().Add(-garbage).UTC().Format(generationTime)
	var keys []string
	for key := range d.rows.All(now, "") {
		g, _, _ := strings.Cut(key, "/")
		if g != head.Generation && (g == before || g < old) {
			keys = append(keys, key)
		}
	}
	for chunk := range slices.Chunk(keys, perTxn) {
		if _, err := update(ctx, func(tx *state.Tx) error {
			for _, k := range chunk {
				d.rows.Delete(tx, k)
			}
			return nil
		}); err != nil {
			return // swept with the next list
		}
	}
}

// parseList reads a list, its sealed texts opened; known are switches whose secrets it may lack.
func (v *Inventory) parseList(
	ctx context.Context,
	path string,
	text []byte,
	known []Entry,
) ([]Entry, []Problem) {
	ctx, cancel := context.WithTimeout(ctx, openingTime)
	defer cancel()
	o := Options{Known: known}
	if v.secrets != nil {
		o.Open = func(text string) (string, error) {
			return v.secrets.OpenText(ctx, text)
		}
	}
	return ParseWith(o, path, text)
}

// checkUsable refuses a file that is empty or of which no line can be used: it is being
// written, or is another one. A list without switches has a title line.
func checkUsable(path string, text []byte, entries []Entry, problems []Problem) error {
	bad := slices.IndexFunc(problems, func(p Problem) bool { return !p.Loaded })
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return fault.New(
			fault.Invalid,
			"the switch list %s is empty, so the current list stays; a list without switches has a title line: %s",
			path,
			Title(),
		)
	case len(entries) == 0 && bad >= 0:
		return fault.New(
			fault.Invalid,
			"no line of the switch list %s is valid, so the current list stays: %s",
			path,
			problems[bad],
		)
	}
	return nil
}

// readFile reads a bounded file.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Wrap(fault.NotFound, err, "the switch list %s does not exist", path)
	case err != nil:
		return nil, fault.Wrap(
			fault.Invalid,
			err,
			"the switch list cannot be read: %v",
			commands.FileError(err),
		)
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() {
		return nil, fault.New(fault.Invalid, "the switch list %s is not a file", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the switch list cannot be read: %v", err)
	}
	return text, nil
}
