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

// Source is what is saved.
type Source struct {
	Dir           home.Dir
	Store         datastore.Store // with sealed documents
	Version, Node string
}

// isKept reports whether a file of the home, by its path in it, belongs into a snapshot.
func isKept(name string) bool {
	if path.Clean(name) != name || path.IsAbs(name) || strings.HasPrefix(name, "..") {
		return false
	}
	switch name {
	case "features.yaml", "data/features.shipped", "data/format", "data/ssh_host_key":
		return true
	}
	return strings.HasPrefix(name, "etc/") ||
		strings.HasPrefix(name, "configuration/ssl/") ||
		strings.HasPrefix(name, "features.d/")
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
		before, err := readHomeFiles(s.Dir)
		if err != nil {
			return err
		}
		err = s.Store.View(ctx, func(sn datastore.Snapshot) error {
			now, err := readHomeFiles(s.Dir) // the key of secrets goes with what it seals
			if err != nil {
				return err
			}
			if !maps.EqualFunc(before, now, func(a, b held) bool {
				return a.mode == b.mode && bytes.Equal(a.content, b.content)
			}) {
				return errChanged
			}
			return writeArchive(ctx, s, sn, now, w, progress)
		})
		if !errors.Is(err, errChanged) {
			return err
		}
	}
	return fault.New(
		fault.InUse,
		"the files in %s changed during the snapshot; repeat it when they are not being edited",
		s.Dir,
	)
}

// writeArchive writes the archive.
func writeArchive(
	ctx context.Context,
	s Source,
	sn datastore.Snapshot,
	files map[string]held,
	out io.Writer,
	progress func(done, total int64),
) error {
	total := int64(0)
	if err := eachLastingEntry(ctx, sn, func(ns string, e datastore.Entry) error {
		total += int64(len(ns) + len(e.Key) + len(e.Value))
		return nil
	}); err != nil {
		return err
	}
	head := Head{
		Format:   format,
		Version:  s.Version,
		Node:     s.Node,
		Time:     time.Now().UTC(),
		Revision: uint64(sn.Revision()),
	}
	w := &writer{tar.NewWriter(out), head.Time.Truncate(time.Second), map[string]string{}}
	text, err := json.MarshalIndent(head, "", "  ")
	if err == nil {
		err = w.addFile(headName, 0o600, append(text, '\n'))
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err == nil {
			err = w.addFile(homeName+name, files[name].mode, files[name].content)
		}
	}
	if err != nil {
		return err
	}
	var part []byte
	number, done := 0, int64(0)
	flush := func() error {
		if len(part) == 0 {
			return nil
		}
		number++
		done += int64(len(part))
		err := w.addFile(fmt.Sprintf("%s%08d", storeName, number), 0o600, part)
		part = part[:0]
		progress(min(done, total), total)
		return err
	}
	err = eachLastingEntry(ctx, sn, func(ns string, e datastore.Entry) error {
		if part = appendEntry(part, ns, e); len(part) < partSize {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err == nil {
		err = w.addFile(sumsName, 0o600, writeSums(w.sums))
	}
	if err != nil {
		return err
	}
	return w.tar.Close()
}

// readHomeFiles reads what is kept of a home.
func readHomeFiles(dir home.Dir) (map[string]held, error) {
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
			if !isKept(name+"/x") && name != "data" && name != "configuration" {
				return fs.SkipDir
			}
			return nil
		}
		if !isKept(name) {
			return nil
		}
		info, err := os.Stat(at) // a file may be a link to one elsewhere
		if err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // a link to nothing, a socket
		}
		if size += int(min(info.Size(), maxFiles+1)); size > maxFiles {
			return fault.At(
				fault.TooBig,
				at,
				"the files of the home are larger than %d MiB: move what does not belong there away",
				maxFiles>>20,
			)
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

func (w *writer) addFile(name string, mode fs.FileMode, content []byte) error {
	err := w.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg,
		Name:     name,
		Mode:     int64(mode),
		Size:     int64(len(content)),
		ModTime:  w.at,
	})
	if err == nil {
		_, err = w.tar.Write(content)
	}
	sum := sha256.Sum256(content)
	w.sums[name] = hex.EncodeToString(sum[:])
	return err
}

// errChanged says that the files are not those that belong to the state of the datastore.
var errChanged = errors.New("the files of the home have changed")
