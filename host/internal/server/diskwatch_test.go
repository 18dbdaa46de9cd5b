package server

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/logs"
	"ctl.internal/test/harness"
)

// failedStore is an engine whose disk has failed.
type failedStore struct {
	datastore.Store
	err error
}

func (f failedStore) Failed() error { return f.err }

// A disk that is read-only, broken or silent is a reason not to be ready, one for all
// directories on it, and a metric; when it takes writes again it is removed.
func TestDisksThatFailAreSeen(t *testing.T) {
	dir := home.Dir(t.TempDir())
	audit, err := logs.OpenAudit(filepath.Join(t.TempDir(), "audit"), 1<<20, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer audit.Close()
	s := &Server{home: dir, audit: audit, registry: logs.New(logs.Options{}), raw: newStore(t), disks: newDiskWatch(dir, home.Default().Datastore)}
	var mu sync.Mutex
	var answer error
	clock := time.Unix(1000, 0)
	hang := make(chan struct{})
	s.disks.now = func() time.Time { mu.Lock(); defer mu.Unlock(); return clock }
	s.disks.try = func(d string) error {
		mu.Lock()
		err := answer
		mu.Unlock()
		if errors.Is(err, errHangs) && d == dir.Log() {
			<-hang
			return nil
		}
		if errors.Is(err, errHangs) {
			return nil
		}
		return err
	}
	look := func(err error) {
		t.Helper()
		mu.Lock()
		answer = err
		mu.Unlock()
		s.disks.tryDirs()
		harness.Within(t, "the tries are over", func() bool {
			s.disks.mu.Lock()
			defer s.disks.mu.Unlock()
			under := 0
			for _, p := range s.disks.parts {
				if !p.begun.IsZero() {
					under++
				}
			}
			return under == 0 || errors.Is(err, errHangs) && under == 1
		})
	}
	failing := func() (n float64) {
		out := make(chan prometheus.Metric, 10)
		s.disks.Collect(out)
		close(out)
		for m := range out {
			var v dto.Metric
			_ = m.Write(&v)
			n += v.GetGauge().GetValue()
		}
		return n
	}
	look(nil)
	if why := s.listFailures(); len(why) != 0 || failing() != 0 {
		t.Errorf("in order: %+v", why)
	}
	look(syscall.EROFS)
	why := s.listFailures()
	if len(why) != 1 || why[0].What != "store" || !strings.Contains(why[0].Why, "read-only") || !strings.Contains(why[0].Why, dir.Store()) || !strings.Contains(why[0].Why, dir.Log("audit")) || failing() != 5 {
		t.Errorf("read-only: %+v", why)
	}
	look(nil)
	if why := s.listFailures(); len(why) != 0 {
		t.Errorf("writable again: %+v", why)
	}
	look(errHangs)
	mu.Lock()
	clock = clock.Add(diskHangs + time.Second)
	mu.Unlock()
	if why := s.listFailures(); len(why) != 1 || !strings.Contains(why[0].Why, "has not come back") || failing() != 1 {
		t.Errorf("silent: %+v", why)
	}
	close(hang)
	look(nil)
	s.raw = failedStore{s.raw, errors.New("input/output error")}
	if why := s.listFailures(); len(why) != 1 || !strings.Contains(why[0].Remedy, "restart") {
		t.Errorf("the engine has failed: %+v", why)
	}
}

var errHangs = errors.New("hangs")

// A new process is of use where it can write; where it can only read, this one can too.
func TestWhenARestartHelps(t *testing.T) {
	if !restartHelps(t.TempDir()) {
		t.Error("a disk that takes writes")
	}
	if restartHelps(filepath.Join(t.TempDir(), "missing")) {
		t.Error("a disk that takes none, and can be read as far as is known")
	}
}
