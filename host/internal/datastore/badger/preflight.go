package badger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/ristretto/v2/z"
	"golang.org/x/sys/unix"

	"ctl.internal/host/internal/datastore"
)

// preflight looks for damage before the engine is let loose, because Badger's
// recovery cuts a log at the first entry it cannot read, removes tables that its
// manifest does not list, leaves out a table with a wrong checksum and panics on
// one cut short. Cutting a log is right for a write that a crash interrupted,
// and wrong for one that was acknowledged: tip tells them apart.
func preflight(o Options, acknowledged datastore.Revision) error {
	if err := checkManifest(o); err != nil {
		return err
	}
	logs, err := filepath.Glob(filepath.Join(o.Dir, "*.mem"))
	if err != nil {
		return fmt.Errorf("datastore: %w", err)
	}
	slices.Sort(logs) // the names are numbers of fixed width
	type found struct {
		path string
		walScan
	}
	var all []found
	newest := datastore.Revision(0)
	for _, path := range logs {
		data, err := readData(path)
		if err != nil {
			return fmt.Errorf("datastore: %w", err)
		}
		f := found{path, scanWAL(data)}
		newest = max(newest, f.newest)
		all = append(all, f)
	}
	for i, f := range all {
		// Only the newest log can have been in writing when the process ended.
		if f.rest && (newest < acknowledged || i < len(all)-1) {
			return damaged(f.path, "unreadable at byte %d, after transaction %d; %d was acknowledged", f.end, f.newest, acknowledged)
		}
	}
	return nil
}

// readData reads a file without the hole at its end: Badger makes its logs twice
// as long as a memtable and fills them from the beginning.
func readData(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	end := int64(0)
	for end < info.Size() {
		begin, err := f.Seek(end, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break // nothing but a hole
		}
		hole, err2 := f.Seek(begin, unix.SEEK_HOLE)
		if err != nil || err2 != nil {
			end = info.Size() // a file system without holes
			break
		}
		end = hole
	}
	data := make([]byte, end)
	if _, err := f.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, err
	}
	return data, nil
}

// checkManifest replays the list of tables; a cut list would make the engine
// delete the tables that it no longer names.
func checkManifest(o Options) error {
	path := filepath.Join(o.Dir, badger.ManifestFilename)
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil // a new store: openTip has seen to it
	}
	if err != nil {
		return fmt.Errorf("datastore: %w", err)
	}
	defer f.Close()
	m, end, err := badger.ReplayManifestFile(f, magic, engineOptions(o))
	if err != nil {
		return damaged(path, "%v", err)
	}
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("datastore: %w", err)
	}
	if end != info.Size() {
		return damaged(path, "unreadable from byte %d on", end)
	}
	for id, info := range m.Tables {
		if err := checkTable(o, id, info); err != nil {
			return err
		}
	}
	return nil
}

// checkTable reads a table whole and verifies the checksums of all its blocks.
func checkTable(o Options, id uint64, info badger.TableManifest) (err error) {
	path := table.NewFilename(id, o.Dir)
	defer func() {
		if p := recover(); p != nil {
			err = damaged(path, "its index is not readable")
		}
	}()
	file, err := z.OpenMmapFile(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return damaged(path, "the file is missing")
	}
	if err != nil {
		return fmt.Errorf("datastore: %w", err)
	}
	defer file.Close(-1)
	t, err := table.OpenTable(file, table.Options{ReadOnly: true, BlockSize: engineOptions(o).BlockSize,
		Compression: info.Compression, ChkMode: options.OnBlockRead})
	if err == nil {
		err = t.VerifyChecksum()
	}
	if err != nil {
		return damaged(path, "%v", err)
	}
	return nil
}
