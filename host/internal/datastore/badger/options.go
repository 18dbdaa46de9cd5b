package badger

import (
	"fmt"
	"log/slog"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"ctl.internal/host/internal/datastore"
)

// magic marks a directory as a store of this format; raise it with the format.
const magic = 2

// Options of a store.
type Options struct {
	Dir     string // made with mode 0700 when absent
	History int    // transactions kept for resuming watches; 0 = 4096
	// First is the revision that a new store begins after: that of the snapshot which is
	// restored into it.
	First datastore.Revision
	Log   *slog.Logger // nil = silent
}

// partSize is the most that one Badger entry holds; larger values are several entries, so
// that none goes to Badger's value log, which would have to be collected.
const partSize = 512 << 10

// engineOptions fit a store that is read once, at start. The memtable bounds what one
// transaction may write (15 % of it: more than the largest request body); caches are small.
func engineOptions(dir string, log *slog.Logger) badger.Options {
	return badger.DefaultOptions(dir).
		WithLogger(engineLog{log: log}).
		WithExternalMagic(magic).
		WithSyncWrites(true).
		WithDetectConflicts(false). // there is one writer
		WithMetricsEnabled(false).
		WithMemTableSize(64 << 20).
		WithNumMemtables(1).
		WithNumLevelZeroTables(2). // overwritten entries go soon
		WithNumCompactors(2).
		WithNumGoroutines(2).
		WithBlockCacheSize(1 << 20).
		WithIndexCacheSize(8 << 20).
		WithValueThreshold(2 * partSize).
		WithValueLogFileSize(1 << 20).
		WithCompactL0OnClose(false).
		WithChecksumVerificationMode(options.OnBlockRead)
}

// engineLog carries Badger's messages; its routine information is debug here.
type engineLog struct{ log *slog.Logger }

func (l engineLog) Errorf(f string, a ...any) {
	l.log.Error(formatLogLine(f, a))
}
func (l engineLog) Warningf(f string, a ...any) {
	l.log.Warn(formatLogLine(f, a))
}
func (l engineLog) Infof(f string, a ...any) {
	l.log.Debug(formatLogLine(f, a))
}
func (l engineLog) Debugf(string, ...any) {}

func formatLogLine(f string, a []any) string {
	return "badger: " + fmt.Sprintf(f, a...)
}
