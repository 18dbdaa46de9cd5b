package badger

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"

	"ctl.internal/host/internal/datastore"
)

// tip is the newest acknowledged durable revision, kept beside the engine's own
// files, so that a file cut short by damage is noticed at the next start. It is
// written after the sync and not synced itself: it may lag, it never leads.
type tip struct {
	f     *os.File
	value datastore.Revision
}

const (
	tipName  = "ctl.tip"
	tipMagic = "ctlstor1"
	tipSize  = 8 + 8 + 4
)

// readTip returns what was acknowledged, 0 for a store that does not exist yet.
func readTip(dir string, hasStore bool) (value datastore.Revision, err error) {
	path := filepath.Join(dir, tipName)
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && hasStore:
		return 0, damagedError(path, "the file is missing")
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, diskError(dir, err)
	}
	if value, err = decodeTip(b); err != nil {
		return 0, damagedError(path, "%v", err)
	}
	if value > 0 && !hasStore {
		return 0, damagedError(filepath.Join(dir, badger.ManifestFilename), "the file is missing")
	}
	return value, nil
}

func openTip(dir string, value datastore.Revision) (t *tip, err error) {
	t = &tip{}
	if t.f, err = os.OpenFile(
		filepath.Join(dir, tipName),
		os.O_RDWR|os.O_CREATE,
		0o600,
	); err != nil {
		return nil, diskError(dir, err)
	}
	if err := errors.Join(t.setRevision(value), t.f.Sync()); err != nil {
		t.f.Close()
		return nil, diskError(dir, err)
	}
	return t, nil
}

func (t *tip) setRevision(rev datastore.Revision) error {
	b := binary.BigEndian.AppendUint64([]byte(tipMagic), uint64(rev))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	_, err := t.f.WriteAt(b, 0)
	if err == nil {
		t.value = rev
	}
	return err
}

// rewriteTip writes what is there. A file system that was made read-only refuses that, where a
// write into a memory map would end the process.
func (t *tip) rewriteTip() error {
	return t.setRevision(t.value)
}

func decodeTip(b []byte) (datastore.Revision, error) {
	if len(b) != tipSize ||
		string(b[:8]) != tipMagic ||
		crc32.ChecksumIEEE(b[:16]) != binary.BigEndian.Uint32(b[16:]) {
		return 0, errors.New("its content differs from what was written")
	}
	return datastore.Revision(binary.BigEndian.Uint64(b[8:])), nil
}

func (t *tip) close() error {
	return errors.Join(t.f.Sync(), t.f.Close())
}
