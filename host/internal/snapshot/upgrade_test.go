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
	"testing/fstest"

	ctl "ctl.internal"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/open"
	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/plugintest/reserve"
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
		into := filepath.Join(reserve.Dir(t, "ctl"), "new") // a short path, for the sockets in it
		if _, err := Restore(t.Context(), into, file, nil); err != nil {
			t.Fatal(err)
		}
		holdsWhatItHad(t, openStore(t, home.Dir(into)))
		hasCatalogue(t, into, ctl.Templates)
	})
}

// A newer release brings its catalogue into a home that was restored, as into any other, unless it was edited: plugins of
// the newer release do not start with the grants of the older catalogue.
func TestARestoredHomeGetsTheCatalogueOfANewerRelease(t *testing.T) {
	newer := fstest.MapFS{"etc/ctl.yaml": templates["etc/ctl.yaml"], "features.yaml": {Data: []byte("features: [] # newer\n")}}
	for name, edited := range map[string]string{"as it was shipped": "", "edited": "features: [] # mine\n"} {
		t.Run(name, func(t *testing.T) {
			h, err := home.Open(filepath.Join(reserve.Dir(t, "ctl"), "h"), templates)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			store := openStore(t, h.Dir)
			want := newer
			if edited != "" {
				if err := home.WriteFile(h.Path("features.yaml"), []byte(edited), 0o644); err != nil {
					t.Fatal(err)
				}
				want = fstest.MapFS{"features.yaml": {Data: []byte(edited)}}
			}
			into := filepath.Join(reserve.Dir(t, "ctl"), "new") // a short path, for the sockets in it
			if _, err := Restore(t.Context(), into, save(t, h, store), nil); err != nil {
				t.Fatal(err)
			}
			opened, err := home.Open(into, newer)
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Close()
			if got, err := os.ReadFile(opened.Path("features.yaml")); err != nil || string(got) != string(want["features.yaml"].Data) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// hasCatalogue checks that a home of the release before gets the catalogue of this one.
func hasCatalogue(t *testing.T, dir string, shipped fs.FS) {
	t.Helper()
	h, err := home.Open(dir, shipped)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := h.Upgrade(shipped, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	want, err := fs.ReadFile(shipped, "features.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(h.Path("features.yaml")); err != nil || string(got) != string(want) {
		t.Errorf("the catalogue is not that of this release: %v", err)
	}
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
