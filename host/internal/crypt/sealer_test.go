package crypt

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func newKeyFile(t *testing.T) (string, *Sealer) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "seal.key")
	s, err := OpenKeyFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, s
}

func TestSealedTextOpensAgainAfterARestart(t *testing.T) {
	path, s := newKeyFile(t)
	sealed, err := s.Seal([]byte("community"), []byte("switch/1"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte("community")) {
		t.Fatal("the secret is readable")
	}
	again, _ := s.Seal([]byte("community"), []byte("switch/1"))
	if bytes.Equal(sealed, again) {
		t.Fatal("two seals are equal: the nonce is not fresh")
	}
	s, err = OpenKeyFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := s.Open(sealed, []byte("switch/1")); err != nil || string(plain) != "community" {
		t.Fatalf("%q, %v", plain, err)
	}
}

func TestEveryChangedByteIsNoticed(t *testing.T) {
	_, s := newKeyFile(t)
	sealed, _ := s.Seal([]byte("secret"), []byte("a"))
	for i := range sealed {
		forged := bytes.Clone(sealed)
		forged[i] ^= 1
		if _, err := s.Open(forged, []byte("a")); !errors.Is(err, ErrForged) && !errors.Is(err, ErrForeign) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
	for n := range sealed {
		if _, err := s.Open(sealed[:n], []byte("a")); err == nil {
			t.Fatalf("opened when cut to %d bytes", n)
		}
	}
	if _, err := s.Open(sealed, []byte("b")); !errors.Is(err, ErrForged) {
		t.Fatalf("another purpose: %v", err)
	}
}

func TestRotation(t *testing.T) {
	old, current := bytes.Repeat([]byte{1}, keySize), bytes.Repeat([]byte{2}, keySize)
	before, _ := NewSealer(old)
	sealed, _ := before.Seal([]byte("x"), nil)
	after, err := NewSealer(current, old)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := after.Open(sealed, nil); err != nil || string(plain) != "x" || after.Current(sealed) {
		t.Fatalf("%q, %v, current %v", plain, err, after.Current(sealed))
	}
	fresh, _ := after.Seal([]byte("x"), nil)
	if _, err := before.Open(fresh, nil); !errors.Is(err, ErrForeign) || !after.Current(fresh) {
		t.Fatalf("a key that is not there: %v", err)
	}
}

func TestKeyFileFaultsAreTold(t *testing.T) {
	cases := map[string]struct {
		do   func(path string) error
		want error
		says string
	}{
		"lost":      {os.Remove, ErrKeyLost, "backup"},
		"emptied":   {func(p string) error { return os.WriteFile(p, nil, 0o600) }, ErrKeyLost, "empty"},
		"garbage":   {func(p string) error { return os.WriteFile(p, []byte("zzz"), 0o600) }, ErrKeyLost, "base64"},
		"readable":  {func(p string) error { return os.Chmod(p, 0o644) }, nil, "0600"},
		"directory": {func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) }, nil, "directory"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path, _ := newKeyFile(t)
			if err := c.do(path); err != nil {
				t.Fatal(err)
			}
			_, err := OpenKeyFile(path)
			if err == nil || (c.want != nil && !errors.Is(err, c.want)) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%v, want %v saying %q", err, c.want, c.says)
			}
		})
	}
	path, _ := newKeyFile(t)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
}

func TestTooMuchIsRefused(t *testing.T) {
	_, s := newKeyFile(t)
	if _, err := s.Seal(make([]byte, MaxPlaintext+1), nil); !errors.Is(err, ErrTooBig) {
		t.Fatal(err)
	}
}

func FuzzOpen(f *testing.F) {
	s, _ := NewSealer(make([]byte, keySize))
	sealed, _ := s.Seal([]byte("x"), nil)
	f.Add(sealed)
	f.Fuzz(func(t *testing.T, b []byte) {
		// The one text sealed with this key comes with a nonce of its own from each process.
		if plain, err := s.Open(b, nil); err == nil && string(plain) != "x" {
			t.Fatalf("opened %q from something never sealed", plain)
		}
	})
}
