package api

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"ctl.internal/plugins/repoinfo/refname"
)

// A cursor holds the hashes its list began with, so that pages stay the same
// when branches move, and a digest of the parameters it belongs to.
type cursor struct {
	tip, base string
	offset    int
}

func (c cursor) encode(digest string) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "1 %s %s %d %s", c.tip, c.base, c.offset, digest))
}

func decodeCursor(text, digest string) (c cursor, err error) {
	stale := bad("cursor", "Parameter cursor does not belong to this request: begin again without it.")
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) > 512 {
		return c, stale
	}
	f := strings.Split(string(raw), " ")
	if len(f) != 5 || f[0] != "1" || f[4] != digest || !fullHash(f[1]) || (f[2] != "" && !fullHash(f[2])) {
		return c, stale
	}
	n, err := strconv.Atoi(f[3])
	if err != nil || n < 0 {
		return c, stale
	}
	return cursor{tip: f[1], base: f[2], offset: n}, nil
}

func fullHash(s string) bool { return refname.Hash(s) && (len(s) == 40 || len(s) == 64) }

// digest is a short mark of all parameters that shape a list.
func digest(path string, values url.Values) string {
	shape := url.Values{}
	for name, v := range values {
		switch name {
		case "cursor", "limit", "format":
		default:
			shape[name] = v
		}
	}
	sum := sha256.Sum256([]byte(path + "?" + shape.Encode()))
	return hex.EncodeToString(sum[:8])
}
