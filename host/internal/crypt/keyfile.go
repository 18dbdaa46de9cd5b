package crypt

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// ErrKeyLost says that there are sealed texts and no key for them.
var ErrKeyLost = errors.New("the key of the sealed secrets is lost")

// ReadKeyFile returns the keys of a file of earlier releases, data/seal.key: one key
// a line in base64, mode 0600. None and no error when there never was such a file;
// the mark beside it (path + ".made") without it is ErrKeyLost.
func ReadKeyFile(path string) ([][]byte, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(path + ".made"); err == nil {
			return nil, fmt.Errorf("%w: %s existed and is gone; restore it from a backup, or remove %s "+
				"and enter all device passwords and communities anew", ErrKeyLost, path, path+".made")
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s has mode %04o, others may have read it; set it to 0600 if you trust them", path, info.Mode().Perm())
	}
	var out [][]byte
	for i, line := range strings.Fields(string(b)) {
		k, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(k) != rawSize {
			return nil, fmt.Errorf("%w: %s: key %d is not %d bytes in base64; restore the file from a backup", ErrKeyLost, path, i+1, rawSize)
		}
		out = append(out, k)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: %s is empty; restore it from a backup", ErrKeyLost, path)
	}
	return out, nil
}
