package keystore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
)

// fileStorage are the two files below configuration/ssl.
type fileStorage struct {
	dir    home.Dir
	config Config
	last   saved // what is on the disk, as of the last load or save
}

func (f *fileStorage) loadSaved(context.Context) (saved, error) {
	c := f.config
	s := saved{
		CtlPassword:   c.Password,
		TrustPassword: c.TrustPassword,
		Alias:         c.Alias,
		Protocols:     splitList(c.Protocols),
		Suites:        c.suiteNames(),
	}
	missing := 0
	for _, p := range []struct {
		name string
		to   *[]byte
	}{{c.Name, &s.Ctl}, {c.TrustName, &s.Trust}} {
		path := f.dir.SSL(p.name)
		b, err := home.ReadBounded(path, maxStore)
		if errors.Is(err, fs.ErrNotExist) {
			missing++
			continue
		}
		if err != nil {
			return s, err
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			return s, fmt.Errorf(
				"%s may be read by others; set its mode to 0600 if you trust them",
				path,
			)
		}
		*p.to = b
	}
	f.last = s
	if missing > 0 {
		return s, ErrNone
	}
	return s, nil
}

func (f *fileStorage) storeSaved(_ context.Context, s saved) error {
	for _, p := range []struct {
		name     string
		old, now []byte
	}{{f.config.TrustName, f.last.Trust, s.Trust}, {f.config.Name, f.last.Ctl, s.Ctl}} {
		if p.old != nil && bytes.Equal(p.old, p.now) {
			continue
		}
		if err := home.WriteFile(f.dir.SSL(p.name), p.now, 0o600); err != nil {
			return err
		}
	}
	f.last = s
	return nil
}

// followChanges implements storage: files are read at start only.
func (f *fileStorage) followChanges(ctx context.Context, _ func(datastore.Revision)) error {
	<-ctx.Done()
	return nil
}

func (f *fileStorage) isCurrent(datastore.Revision) bool {
	return true
}

// saved is all that is kept of the two keystores.
type saved struct {
	Ctl, Trust                 []byte // as Java reads them
	CtlPassword, TrustPassword string
	Alias                      string
	Protocols, Suites          []string
}

// storage keeps keystores; save replaces the old ones as a whole or not at all.
type storage interface {
	loadSaved(ctx context.Context) (saved, error) // ErrNone
	storeSaved(ctx context.Context, s saved) error
	// follow calls changed when others changed what is kept, until ctx ends.
	followChanges(ctx context.Context, changed func(datastore.Revision)) error
	// current reports that what was loaded or saved last is not older than a revision.
	isCurrent(r datastore.Revision) bool
}
