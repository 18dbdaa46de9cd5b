package service

import (
	"compress/gzip"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"ctl.internal/plugins/switch/discovery"
)

// lastGood keeps what switches last told over a restart of the plugin, so that one
// that is silent then is still shown, with its age. It is a file in the plugin's own
// folder; it holds no secrets, and losing it loses nothing that is not observed again.
type lastGood struct {
	path string
	mu   sync.Mutex // of writers
	last time.Time
}

const (
	lastGoodFile = "last-good.gob.gz"
	maxLastGood  = 1 << 30         // octets, unpacked
	saveEvery    = 5 * time.Minute // at most; and when the plugin stops
)

func newLastGood(dir string) *lastGood { return &lastGood{path: filepath.Join(dir, lastGoodFile)} }

// load returns what was kept, nothing when there is no file.
func (l *lastGood) load() ([]*discovery.Observation, error) {
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.path, err)
	}
	var obs []*discovery.Observation
	if err := gob.NewDecoder(io.LimitReader(z, maxLastGood)).Decode(&obs); err != nil {
		return nil, fmt.Errorf("%s: %w", l.path, err)
	}
	return obs, nil
}

// due reports whether it is time to save.
func (l *lastGood) due(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Sub(l.last) >= saveEvery
}

// save replaces the file whole: a reader sees the old one or the new one.
func (l *lastGood) save(now time.Time, obs []*discovery.Observation) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := os.CreateTemp(filepath.Dir(l.path), lastGoodFile+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone when it was renamed
	z, _ := gzip.NewWriterLevel(f, gzip.BestSpeed)
	err = gob.NewEncoder(z).Encode(obs)
	err = errors.Join(err, z.Close(), f.Close())
	if err != nil {
		return err
	}
	l.last = now
	return os.Rename(f.Name(), l.path)
}
