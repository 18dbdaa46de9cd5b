package password

import (
	"bufio"
	"crypto/sha1" //nolint:gosec // the form in which lists of breached passwords are published
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// maxBlocked bounds a list, in bytes.
const maxBlocked = 256 << 20

// Blocklist holds forbidden passwords.
type Blocklist map[[sha1.Size]byte]struct{}

// ReadBlocklist reads a list: a password a line, or the SHA-1 of one in hex, with or without a count
// after a colon.
func ReadBlocklist(r io.Reader) (Blocklist, error) {
	list := Blocklist{}
	sc := bufio.NewScanner(io.LimitReader(r, maxBlocked+1))
	read := 0
	for sc.Scan() {
		line := strings.TrimRight(sc.Text(), "\r")
		if read += len(line) + 1; read > maxBlocked {
			return nil, fmt.Errorf("the list has more than %d bytes", maxBlocked)
		}
		if line == "" {
			continue
		}
		var sum [sha1.Size]byte
		text, _, _ := strings.Cut(line, ":")
		b, err := hex.DecodeString(text)
		if err == nil && len(b) == sha1.Size {
			copy(sum[:], b)
		} else {
			sum = sha1.Sum([]byte(line)) //nolint:gosec
		}
		list[sum] = struct{}{}
	}
	return list, sc.Err()
}

// Has reports whether a password is in the list.
func (l Blocklist) Has(password string) bool {
	if len(l) == 0 {
		return false
	}
	_, ok := l[sha1.Sum([]byte(password))] //nolint:gosec
	return ok
}
