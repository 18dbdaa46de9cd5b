package password

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

const maxIterations = 1_000_000

// LegacySHA256 encodes a hash of the older system's first kind, one round of
// SHA-256 over password and salt, base64 as it stood in its table.
func LegacySHA256(salt, hash string) string {
	return "$sha256$" + base64.RawStdEncoding.EncodeToString([]byte(salt)) + "$" + hash
}

// LegacySHA512 encodes a hash of the older system's second kind: SHA-512 over
// salt and password, hashed again until the iterations are done; salt and hash
// base64 as they stood in its table.
func LegacySHA512(iterations int, salt, hash string) string {
	return fmt.Sprintf("$sha512$i=%d$%s$%s", iterations, strings.TrimRight(salt, "="), hash)
}

type legacy struct {
	iterations int // 0 = the SHA-256 kind
	salt, want []byte
}

func parseLegacy(encoded string) (legacy, error) {
	bad := fmt.Errorf("the stored password hash is of no kind known")
	fields := strings.Split(encoded, "$")
	var l legacy
	switch {
	case len(fields) == 4 && fields[1] == "sha256":
	case len(fields) == 5 && fields[1] == "sha512":
		n, err := strconv.Atoi(strings.TrimPrefix(fields[2], "i="))
		if err != nil || n < 1 || n > maxIterations {
			return l, bad
		}
		l.iterations = n
	default:
		return l, bad
	}
	var err error
	if l.salt, err = base64.RawStdEncoding.DecodeString(fields[len(fields)-2]); err != nil {
		return l, bad
	}
	if l.want, err = base64.StdEncoding.DecodeString(fields[len(fields)-1]); err != nil || len(l.want) == 0 {
		return l, bad
	}
	return l, nil
}

func (h *Hasher) verifyLegacy(ctx context.Context, password, encoded string) (bool, error) {
	l, err := parseLegacy(encoded)
	if err != nil {
		return false, err
	}
	var got []byte
	err = h.run(ctx, func() {
		if l.iterations == 0 {
			sum := sha256.Sum256(append([]byte(password), l.salt...))
			got = sum[:]
			return
		}
		sum := sha512.Sum512(append(append([]byte(nil), l.salt...), password...))
		for range l.iterations - 1 {
			sum = sha512.Sum512(sum[:])
		}
		got = sum[:]
	})
	return err == nil && subtle.ConstantTimeCompare(got, l.want) == 1, err
}
