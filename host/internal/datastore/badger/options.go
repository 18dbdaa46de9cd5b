package badger

import (
	"fmt"
	"log/slog"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// defaultHistory is how many transactions are kept for resuming watches.
const defaultHistory = 4096

// magic marks a directory as a store of this format; raise it with the format.
const magic = 1

// Options of a store.
type Options struct {
	Dir     string       // made with mode 0700 when absent
	History int          // transactions kept for resuming watches; 0 = 4096
	Log     *slog.Logger // nil = silent
}

// engineOptions fit an embedded store of megabytes. The memtable bounds what one
// transaction may write (15 % of it: more than the largest request body), so it is
// large and there are few; caches are small.
func engineOptions(o Options) badger.Options {
	return badger.DefaultOptions(o.Dir).
		WithLogger(engineLog{log: o.Log}).
		WithExternalMagic(magic).
		WithSyncWrites(false). // commit.go syncs, once for a group, and not for volatile ones
		WithDetectConflicts(false).
		WithMetricsEnabled(false).
		WithMemTableSize(64 << 20).
		WithNumMemtables(1).
		WithNumCompactors(2).
		WithNumGoroutines(2).
		WithBlockCacheSize(16 << 20).
		WithIndexCacheSize(8 << 20).
		WithValueLogFileSize(32 << 20).
		WithCompactL0OnClose(false).
		WithChecksumVerificationMode(options.OnBlockRead) // preflight.go has read every table at start
}

// engineLog carries Badger's messages; its routine information is debug here.
type engineLog struct {
	log     *slog.Logger
	flushes *flushes // nil: nobody wants to know
}

func (l engineLog) Errorf(f string, a ...any) {
	message := text(f, a)
	l.log.Error(message)
	if l.flushes != nil {
		l.flushes.note(message)
	}
}

func (l engineLog) Warningf(f string, a ...any) { l.log.Warn(text(f, a)) }
func (l engineLog) Infof(f string, a ...any)    { l.log.Debug(text(f, a)) }
func (l engineLog) Debugf(string, ...any)       {}

func text(f string, a []any) string { return "badger: " + fmt.Sprintf(f, a...) }
