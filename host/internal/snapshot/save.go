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
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/fault"
)

// chunk is about how many bytes of keys and values go into one entry of the archive.
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
		same := false
		err = s.Store.View(ctx, func(sn datastore.Snapshot) error {
			now, err := files(s.Dir) // the key of secrets goes with what it seals
			if err != nil {
				return err
			}
			same = maps.EqualFunc(before, now, func(a, b held) bool { return a.mode == b.mode && bytes.Equal(a.content, b.content) })
			if !same {
				return nil
			}
			return write(ctx, s, sn, now, w, progress)
		})
		if err != nil || same {
			return err
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

func write(ctx context.Context, s Source, sn datastore.Snapshot, files map[string]held, to io.Writer, progress func(done, total int64)) error {
	head := Head{Format: format, Version: s.Version, Node: s.Node, Time: time.Now().UTC(), Revision: uint64(sn.Revision())}
	var total int64
	err := each(sn, func(r record) error {
		head.Entries++
		total += int64(len(r.Key) + len(r.Value))
		return nil
	})
	if err != nil {
		return err
	}
	w := &writer{tar.NewWriter(to), head.Time.Truncate(time.Second), map[string]string{}}
	text, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return err
	}
	if err := w.add(headName, 0o600, append(text, '\n')); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.add(homeName+name, files[name].mode, files[name].content); err != nil {
			return err
		}
	}
	if err := writeStore(ctx, sn, w, func(done int64) { progress(done, total) }); err != nil {
		return err
	}
	sums := writeSums(w.sums)
	if err := w.add(sumsName, 0o600, sums); err != nil {
		return err
	}
	return w.tar.Close()
}

func writeStore(ctx context.Context, sn datastore.Snapshot, w *writer, progress func(done int64)) error {
	var lines bytes.Buffer
	number, size, done := 0, 0, int64(0)
	flush := func() error {
		if lines.Len() == 0 {
			return nil
		}
		number++
		err := w.add(fmt.Sprintf("%s%08d.jsonl", storeName, number), 0o600, lines.Bytes())
		done += int64(size)
		size = 0
		lines.Reset()
		progress(done)
		return errors.Join(err, ctx.Err())
	}
	encode := json.NewEncoder(&lines)
	encode.SetEscapeHTML(false)
	err := each(sn, func(r record) error {
		if err := encode.Encode(r); err != nil {
			return err
		}
		if size += len(r.Key) + len(r.Value); size >= chunk {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// each calls f for every key that is saved.
func each(sn datastore.Snapshot, f func(record) error) error {
	for ns, err := range sn.Namespaces() {
		if err != nil {
			return err
		}
		if slices.Contains(Left[:], ns) {
			continue
		}
		for e, err := range sn.Range(ns, datastore.RangeOptions{}) {
			if err != nil {
				return err
			}
			if err := f(record{ns, e.Key, e.Value}); err != nil {
				return err
			}
		}
	}
	return nil
}
