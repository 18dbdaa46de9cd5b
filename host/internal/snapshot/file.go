// Package snapshot writes all that a controller must not lose into one file while it
// runs, and makes a home of such a file.
//
// The file is a tar archive: snapshot.json says what it is, home/ has files of the home,
// store/ the datastore in parts, and SHA256SUMS, the last, the hash of each entry before
// it. What lives as long as the controllers only (leases, observed state) is not in it. It opens all that the home
// opens, so it is as secret.
package snapshot

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"ctl.internal/sdk/fault"
)

// format is that of the file; raise it when an earlier release would misread it.
const format = 1

// The entries of the archive.
const (
	headName  = "snapshot.json"
	homeName  = "home/"
	storeName = "store/"
	sumsName  = "SHA256SUMS"
)

// Bounds of one entry and of all files of a home, in bytes, and of the number of entries.
const (
	maxEntry   = 96 << 20
	maxFiles   = 64 << 20
	maxEntries = 1 << 20
)

// Head says what a snapshot is.
type Head struct {
	Format   int       `json:"format"`
	Version  string    `json:"version"` // of the controller
	Node     string    `json:"node"`
	Time     time.Time `json:"time"`
	Revision uint64    `json:"revision"` // of the datastore
}

// damagedError is the error of a file that is not as it was written.
func damagedError(file, format string, args ...any) error {
	return fault.At(
		fault.Invalid,
		file,
		"%s; nothing was changed: use another snapshot",
		fmt.Sprintf(format, args...),
	)
}

// visit gets the entries of a snapshot; either may be nil.
type visit struct {
	file func(name string, mode int64, content []byte) error // of the home
	part func(content []byte) error                          // of the datastore
}

// walkSnapshot reads a snapshot to its end and checks all of it. What visit does counts only when
// walk returns no error.
func walkSnapshot(file string, in io.Reader, v visit) (head Head, err error) {
	archive := tar.NewReader(bufio.NewReaderSize(in, 1<<20))
	have := map[string]string{}
	for n := 0; ; n++ {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return head, damagedError(
				file,
				"the file ends before the list of its hashes: it was not written to the end",
			)
		}
		if err != nil {
			return head, damagedError(file, "the archive cannot be read: %v", err)
		}
		if h.Typeflag != tar.TypeReg || h.Size > maxEntry || n > maxEntries || have[h.Name] != "" {
			return head, damagedError(file, "the entry %.80q is not one that ctl writes", h.Name)
		}
		content, err := io.ReadAll(io.LimitReader(archive, h.Size))
		if err != nil || int64(len(content)) != h.Size {
			return head, damagedError(file, "the entry %s cannot be read: %v", h.Name, err)
		}
		if h.Name == sumsName {
			return head, checkHashes(file, head, have, content)
		}
		sum := sha256.Sum256(content)
		have[h.Name] = hex.EncodeToString(sum[:])
		switch {
		case n == 0:
			if head, err = readHead(file, h.Name, content); err != nil {
				return head, err
			}
		case strings.HasPrefix(h.Name, homeName) && isKept(strings.TrimPrefix(h.Name, homeName)):
			if v.file != nil {
				err = v.file(strings.TrimPrefix(h.Name, homeName), h.Mode, content)
			}
		case strings.HasPrefix(h.Name, storeName):
			if v.part != nil {
				err = v.part(content)
			}
		default:
			err = damagedError(file, "the entry %.80q is not one that ctl writes", h.Name)
		}
		if err != nil {
			return head, err
		}
	}
}

func readHead(file, name string, content []byte) (head Head, err error) {
	if name != headName || json.Unmarshal(content, &head) != nil || head.Format < 1 {
		return head, damagedError(
			file,
			"it does not begin with %s: it is not a snapshot of ctl",
			headName,
		)
	}
	if head.Format > format {
		return head, fault.At(
			fault.Unsupported,
			file,
			"the snapshot was written by release %s in format %d; this release reads %d: install that release, or a later one",
			head.Version,
			head.Format,
			format,
		)
	}
	return head, nil
}

// checkHashes compares the hashes of what was read with those that were written.
func checkHashes(file string, head Head, have map[string]string, sums []byte) error {
	if head.Format == 0 {
		return damagedError(file, "it is empty")
	}
	if want := writeSums(have); !bytes.Equal(want, sums) {
		return damagedError(file, "the hashes of its entries are not those in %s", sumsName)
	}
	return nil
}

// writeSums is the content of SHA256SUMS, as sha256sum(1) reads it.
func writeSums(sums map[string]string) []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&b, "%s  %s\n", sums[name], name)
	}
	return b.Bytes()
}
