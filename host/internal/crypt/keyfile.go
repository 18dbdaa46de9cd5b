package crypt

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrKeyLost says that there are sealed texts and no key for them.
var ErrKeyLost = errors.New("crypt: the seal key is lost")

// OpenKeyFile returns the Sealer of a home: one key a line in base64, the current
// one first, mode 0600. The file is made once, together with the mark beside it
// (path + ".made"); a mark without a file is ErrKeyLost, never a new key.
func OpenKeyFile(path string) (*Sealer, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(path + ".made"); err == nil {
			return nil, fmt.Errorf("%w: %s existed and is gone; restore it from a backup, or remove %s "+
				"and enter all device passwords and communities anew", ErrKeyLost, path, path+".made")
		}
		b, err = makeKeyFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("crypt: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("crypt: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("crypt: %s has mode %04o, others may have read it; set it to 0600 if you trust them", path, info.Mode().Perm())
	}
	var keys [][]byte
	for i, line := range strings.Fields(string(b)) {
		k, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(k) != keySize {
			return nil, fmt.Errorf("%w: %s: key %d is not %d bytes in base64; restore the file from a backup", ErrKeyLost, path, i+1, keySize)
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: %s is empty; restore it from a backup", ErrKeyLost, path)
	}
	return NewSealer(keys...)
}

// makeKeyFile puts the key on the disk before anything can be sealed with it.
func makeKeyFile(path string) ([]byte, error) {
	key := make([]byte, keySize)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	b := []byte(base64.StdEncoding.EncodeToString(key) + "\n")
	tmp, err := os.CreateTemp(filepath.Dir(path), ".seal-*") // mode 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(b)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return nil, err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return nil, err
	}
	mark, err := os.OpenFile(path+".made", os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, errors.Join(err, mark.Close())
	}
	return b, errors.Join(mark.Sync(), mark.Close(), dir.Sync(), dir.Close())
}
