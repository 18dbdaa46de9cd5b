package snapshot

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/snapshot"
	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/fault"
)

// chunk is about how many bytes of the datastore go into one entry of the archive.
const chunk = 1 << 20

// Source is what is saved.
type Source struct {
	Dir           home.Dir
	Store         datastore.Store // with sealed documents
	Version, Node string
}

// kept reports whether a file of the home, by its path in it, belongs into a snapshot.
func kept(name string) bool {
	if path.Clean(name) != name || path.IsAbs(name) || strings.HasPrefix(name, "..") {
		return false
	}
	switch name {
	case "features.yaml", "data/format", "data/ssh_host_key":
		return true
	}
	return strings.HasPrefix(name, "etc/") || strings.HasPrefix(name, "configuration/ssl/") || strings.HasPrefix(name, "features.d/")
}

// held is a file of the home in memory.
type held struct {
	content []byte
	mode    fs.FileMode
}

// attempts bounds how often the files are read again because they changed meanwhile.
const attempts = 5

// Save writes a snapshot that holds everything acknowledged before the call. progress, if
// not nil, gets bytes of the datastore.
func Save(ctx context.Context, s Source, w io.Writer, progress func(done, total int64)) error {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	for range attempts {
		before, err := files(s.Dir)
		if err != nil {
			return err
		}
		p := &pinned{Store: s.Store, source: s, files: before, out: w, progress: progress}
		if _, err := snapshot.Save(ctx, p, &p.parts); !errors.Is(err, errChanged) {
			if err != nil {
				return err
			}
			return p.finish()
		}
	}
	return fault.New(fault.InUse, "the files in %s keep changing; take the snapshot again when nobody edits them", s.Dir)
}

// files reads what is kept of a home.
func files(dir home.Dir) (map[string]held, error) {
	out := map[string]held{}
	size := 0
	err := filepath.WalkDir(string(dir)+"/", func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		name, err := filepath.Rel(string(dir), at)
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() {
			if !kept(name+"/x") && name != "data" && name != "configuration" {
				return fs.SkipDir
			}
			return nil
		}
		if !kept(name) {
			return nil
		}
		info, err := os.Stat(at) // a file may be a link to one elsewhere
		if err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // a link to nothing, a socket
		}
		if size += int(min(info.Size(), maxFiles+1)); size > maxFiles {
			return fault.At(fault.TooBig, at, "the files of the home are larger than %d MiB: move what does not belong there away", maxFiles>>20)
		}
		content, err := os.ReadFile(at)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		out[name] = held{content, info.Mode().Perm()}
		return nil
	})
	return out, err
}

// writer writes the entries of an archive and remembers their hashes.
type writer struct {
	tar  *tar.Writer
	at   time.Time
	sums map[string]string
}

func (w *writer) add(name string, mode fs.FileMode, content []byte) error {
	err := w.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(mode), Size: int64(len(content)), ModTime: w.at})
	if err == nil {
		_, err = w.tar.Write(content)
	}
	sum := sha256.Sum256(content)
	w.sums[name] = hex.EncodeToString(sum[:])
	return err
}

// errChanged says that the files are not those that belong to the state of the datastore.
var errChanged = errors.New("the files of the home have changed")

// pinned is the datastore at the revision that the files of the home go with. It implements
// datastore.Store for package datastore/snapshot.
type pinned struct {
	datastore.Store
	source   Source
	files    map[string]held
	out      io.Writer
	w        *writer
	parts    parts
	progress func(done, total int64)
}

// View writes the beginning of the archive and runs f.
func (p *pinned) View(ctx context.Context, f func(datastore.Snapshot) error) error {
	return p.Store.View(ctx, func(sn datastore.Snapshot) error {
		now, err := files(p.source.Dir) // the key of secrets goes with what it seals
		if err != nil {
			return err
		}
		if !maps.EqualFunc(p.files, now, func(a, b held) bool { return a.mode == b.mode && bytes.Equal(a.content, b.content) }) {
			return errChanged
		}
		total, err := size(sn)
		if err != nil {
			return err
		}
		head := Head{Format: format, Version: p.source.Version, Node: p.source.Node, Time: time.Now().UTC(), Revision: uint64(sn.Revision())}
		p.w = &writer{tar.NewWriter(p.out), head.Time.Truncate(time.Second), map[string]string{}}
		p.parts = parts{w: p.w, progress: func(done int64) { p.progress(min(done, total), total) }}
		text, err := json.MarshalIndent(head, "", "  ")
		if err == nil {
			err = p.w.add(headName, 0o600, append(text, '\n'))
		}
		for _, name := range slices.Sorted(maps.Keys(now)) {
			if err == nil {
				err = p.w.add(homeName+name, now[name].mode, now[name].content)
			}
		}
		if err != nil {
			return err
		}
		return f(lasting{sn})
	})
}

// finish writes the end of the archive.
func (p *pinned) finish() error {
	if err := p.parts.flush(); err != nil {
		return err
	}
	if err := p.w.add(sumsName, 0o600, writeSums(p.w.sums)); err != nil {
		return err
	}
	return p.w.tar.Close()
}

// parts cuts the datastore into entries of the archive.
type parts struct {
	w        *writer
	buf      []byte
	number   int
	done     int64
	progress func(done int64)
}

// Write implements io.Writer.
func (p *parts) Write(b []byte) (int, error) {
	p.buf = append(p.buf, b...)
	if len(p.buf) >= chunk {
		return len(b), p.flush()
	}
	return len(b), nil
}

func (p *parts) flush() error {
	if len(p.buf) == 0 {
		return nil
	}
	p.number++
	err := p.w.add(fmt.Sprintf("%s%08d", storeName, p.number), 0o600, p.buf)
	p.done += int64(len(p.buf))
	p.buf = p.buf[:0]
	p.progress(p.done)
	return err
}

// lasting is a state without what was observed of devices.
type lasting struct{ datastore.Snapshot }

// observed is the namespace of the operational tree.
const observed = "operational-tree"

// Namespaces implements datastore.Snapshot.
func (l lasting) Namespaces() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for ns, err := range l.Snapshot.Namespaces() {
			if ns != observed && !yield(ns, err) {
				return
			}
		}
	}
}

// size is about how many bytes a state has, for the progress.
func size(sn datastore.Snapshot) (n int64, err error) {
	for ns, err := range (lasting{sn}).Namespaces() {
		if err != nil {
			return n, err
		}
		for e, err := range sn.Range(ns, datastore.RangeOptions{}) {
			if err != nil {
				return n, err
			}
			n += int64(len(ns) + len(e.Key) + len(e.Value))
		}
	}
	return n, nil
}
