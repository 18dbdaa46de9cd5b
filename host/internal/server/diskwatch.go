package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sys/unix"

	"ctl.internal/host/internal/console/tables"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/logs"
)

// How often the directories that matter are tried, and how long a try may take before the
// disk counts as one that hangs.
const (
	diskEvery = 5 * time.Second
	diskHangs = 10 * time.Second
)

// diskWatch tries whether the directories that matter take a new file: a disk that fails
// does not tell who only reads, or writes into files that are in memory.
type diskWatch struct {
	try func(dir string) error
	now func() time.Time

	failing *prometheus.Desc

	mu    sync.Mutex
	parts []*diskPart
}

// diskPart is one of the directories.
type diskPart struct {
	name, dir string
	begun     time.Time // of the try that is under way; zero = none
	failed    time.Time // since when it fails; zero = it does not
	err       error
}

func newDiskWatch(dir home.Dir, c home.Datastore) *diskWatch {
	w := &diskWatch{
		try: tryDisk,
		now: time.Now,
		failing: prometheus.NewDesc("ctl_disk_failing",
			"Whether a directory of the home takes no writes: its disk is read-only, broken or full.", []string{"part"}, nil),
	}
	if !c.Shared {
		w.parts = append(w.parts, &diskPart{
			name: "store",
			dir:  dir.Store(),
		})
	}
	w.parts = append(w.parts, &diskPart{
		name: "data",
		dir:  dir.Run(),
	}, &diskPart{name: "plugins", dir: dir.Data("plugins")},
		&diskPart{
			name: "log",
			dir:  dir.Log(),
		}, &diskPart{name: "audit", dir: dir.Log("audit")})
	return w
}

// tryDisk writes a small file and takes it away again.
func tryDisk(dir string) error {
	f, err := os.CreateTemp(dir, home.NewFile+"try-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4096))
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
}

// tryDirs begins a try of each directory that none is under way for. A system call that hangs
// keeps its goroutine until the disk answers.
func (w *diskWatch) tryDirs() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.parts {
		if !p.begun.IsZero() {
			continue
		}
		p.begun = w.now()
		go func() {
			err := w.try(p.dir)
			w.mu.Lock()
			defer w.mu.Unlock()
			if p.err, p.begun = err, (time.Time{}); err == nil {
				p.failed = time.Time{}
			} else if p.failed.IsZero() {
				p.failed = w.now()
			}
		}()
	}
}

// brokenSince is since when a part does not take writes, and why; nil = it does.
func (w *diskWatch) brokenSince(p *diskPart) (since time.Time, err error) {
	switch {
	case p.err != nil:
		return p.failed, p.err
	case !p.begun.IsZero() && w.now().Sub(p.begun) > diskHangs:
		return p.begun, fmt.Errorf(
			"a write into %s has not come back for %s",
			p.dir,
			w.now().Sub(p.begun).Round(time.Second),
		)
	}
	return time.Time{}, nil
}

// eachPart calls f for every part in order, with what is wrong with it.
func (w *diskWatch) eachPart(f func(p *diskPart, err error, since time.Time)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.parts {
		since, err := w.brokenSince(p)
		f(p, err, since)
	}
}

// watchDisks tries the disks until ctx ends, and ends the process when the settings say so.
func (s *Server) watchDisks(ctx context.Context) error {
	tick := time.NewTicker(diskEvery)
	defer tick.Stop()
	var since time.Time // when the store was first seen to have failed
	for {
		s.disks.tryDirs()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		failed := s.storeFailed()
		switch after := s.loaded.Datastore.RestartAfter; {
		case failed == nil:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case after > 0 && time.Since(since) >= after && restartHelps(s.home.Store()):
			s.giveUp(failed)
			return nil
		}
	}
}

// storeFailed is why the engine does not write any more.
func (s *Server) storeFailed() error {
	if f, ok := s.raw.(datastore.Failing); ok {
		return f.Failed()
	}
	return nil
}

// restartHelps reports whether a new process would do better than this one: it could write,
// or this one cannot even read. Else reads go on here, and would not there.
func restartHelps(dir string) bool {
	return tryDisk(dir) == nil || tryRead(dir) != nil
}

// tryRead reads from the disk, not from what the kernel keeps of it.
func tryRead(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, "MANIFEST"), os.O_RDONLY|unix.O_DIRECT, 0)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, os.ErrNotExist) {
		return nil // a file system in memory
	}
	if err != nil {
		return err
	}
	defer f.Close()
	page, err := unix.Mmap(
		-1,
		0,
		os.Getpagesize(),
		unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE,
	) // aligned, as the kernel wants it
	if err != nil {
		return nil //nolint:nilerr // this says nothing of the disk
	}
	_, err = f.ReadAt(page, 0)
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	return errors.Join(err, unix.Munmap(page))
}

// giveUp ends the process with an error, for a supervisor to start it again.
func (s *Server) giveUp(cause error) {
	s.log.Error(
		"the controller ends, because its disk failed and a new start can do better (datastore.restartAfter)",
		"error",
		cause,
	)
	s.writeAudit(
		logs.AuditRecord{
			What:    "controller ends",
			Object:  "its disk failed: " + cause.Error(),
			Outcome: "failed",
		},
		false,
	)
	s.gaveUp.Store(true)
	s.options.shutdown()
}

// listFailures are what does not take writes, each with its place.
func (s *Server) listFailures() (out []reason) {
	const remedy = "dmesg and the log say what happened: free or repair the disk of "
	if err := s.storeFailed(); err != nil {
		out = append(
			out,
			newReason(
				"store",
				err.Error(),
				"repair the disk of "+s.home.Store()+", then restart the controller",
			),
		)
	}
	var dirs []string // one disk is one reason
	var first error
	var began time.Time
	s.disks.eachPart(func(p *diskPart, err error, since time.Time) {
		if err == nil {
			return
		}
		if dirs = append(dirs, p.dir); first == nil || since.Before(began) {
			first, began = err, since
		}
	})
	if first != nil {
		all := strings.Join(dirs, ", ")
		out = append(
			out,
			newReason(
				"store",
				fmt.Sprintf(
					"no files can be written in %s since %s: %v",
					all,
					began.UTC().Format(time.RFC3339),
					first,
				),
				remedy+all,
			),
		)
	}
	if err := s.audit.Failed(); err != nil {
		out = append(
			out,
			newReason(
				"store",
				"records of the audit are not written: "+err.Error(),
				remedy+s.auditDir(),
			),
		)
	}
	if err := s.registry.Failed(); err != nil {
		out = append(
			out,
			newReason(
				"store",
				"records of the log are not written: "+err.Error(),
				remedy+s.home.Log(),
			),
		)
	}
	return out
}

// diskParts are the directories for system:store.
func (s *Server) diskParts() (out []tables.StorePart) {
	s.disks.eachPart(func(p *diskPart, err error, _ time.Time) {
		one := tables.StorePart{
			Part:  p.dir,
			State: "takes writes",
		}
		if free, e := freeOn(p.dir); e == nil {
			one.State += fmt.Sprintf(", %d MiB free", free>>20)
		}
		if err != nil {
			one.State, one.Problem = "fails", err.Error()
		}
		out = append(out, one)
	})
	return out
}

// Describe implements prometheus.Collector.
func (w *diskWatch) Describe(to chan<- *prometheus.Desc) {
	to <- w.failing
}

// Collect implements prometheus.Collector.
func (w *diskWatch) Collect(to chan<- prometheus.Metric) {
	w.eachPart(func(p *diskPart, err error, _ time.Time) {
		value := 0.0
		if err != nil {
			value = 1
		}
		to <- prometheus.MustNewConstMetric(w.failing, prometheus.GaugeValue, value, p.name)
	})
}
