package snapshot

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ctl "ctl.internal"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/open"
	"ctl.internal/host/internal/home"
)

// What release f16bcc54 left, in testdata/n1: a home that was stopped, with a topology, a
// user, a token and an installed feature, and a snapshot of it.
func TestTheReleaseBefore(t *testing.T) {
	t.Run("its home opens", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "h")
		unpack(t, "testdata/n1/home.tar.gz", dir)
		h, err := home.Open(dir, ctl.Templates)
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		if err := h.Upgrade(ctl.Templates, func() error { return open.Check(h.Dir, home.Default().Datastore) }); err != nil {
			t.Fatal(err)
		}
		holdsWhatItHad(t, openStore(t, h.Dir))
		if b, err := os.ReadFile(h.Data("format")); err != nil || string(b) == "1\n" {
			t.Errorf("it is marked %q, %v: the release before would open it", b, err)
		}
	})
	t.Run("its snapshot is restored", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "snapshot.tar")
		in, err := os.Open("testdata/n1/snapshot.tar.gz")
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		z, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		out, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(out, z); err != nil {
			t.Fatal(err)
		}
		out.Close()
		into := filepath.Join(t.TempDir(), "new")
		if _, err := Restore(t.Context(), into, file, nil); err != nil {
			t.Fatal(err)
		}
		holdsWhatItHad(t, openStore(t, home.Dir(into)))
	})
}

func holdsWhatItHad(t *testing.T, s datastore.Store) {
	t.Helper()
	found := map[string]bool{}
	err := s.View(t.Context(), func(sn datastore.Snapshot) error {
		for ns, err := range sn.Namespaces() {
			if err != nil {
				return err
			}
			for e, err := range sn.Range(ns, datastore.RangeOptions{}) {
				if err != nil {
					return err
				}
				for what, words := range map[string][2]string{"the topology": {"config-tree", "before"}, "the user": {"aaa-identity", "ann"}, "the feature": {"feature", "ctl-switch-all"}, "the token": {"aaa-token", ""}} {
					if ns == words[0] && strings.Contains(e.Key+string(e.Value), words[1]) {
						found[what] = true
					}
				}
			}
		}
		return nil
	})
	if err != nil || len(found) != 4 {
		t.Errorf("found %v, %v", found, err)
	}
}

// unpack makes the files of an archive that this repository has.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(at, 0o700)
		} else {
			var content []byte
			if content, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(at, content, fs.FileMode(h.Mode)&0o777)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
