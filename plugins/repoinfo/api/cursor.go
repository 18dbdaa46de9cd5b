package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
)

// A cursor holds the hashes its list began with, so that pages stay the same
// when branches move. It is signed, together with the parameters it belongs to: no client
// reads commits by a cursor that the references do not lead to.
type cursor struct {
	tip, base string
	offset    int
}

func (c cursor) encodeCursor(digest string, secret []byte) string {
	text := fmt.Sprintf("%s %s %d", c.tip, c.base, c.offset)
	return base64.RawURLEncoding.EncodeToString(append(signText(text+" "+digest, secret), text...))
}

func signText(text string, secret []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return mac.Sum(nil)[:16]
}

func decodeCursor(text, digest string, secret []byte) (c cursor, err error) {
	stale := invalidParameter(
		"cursor",
		"Parameter cursor does not belong to this request: begin again without it.",
	)
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) < 16 || len(raw) > 512 {
		return c, stale
	}
	body := string(raw[16:])
	if !hmac.Equal(raw[:16], signText(body+" "+digest, secret)) {
		return c, stale
	}
	f := strings.SplitN(body, " ", 3)
	if len(f) != 3 {
		return c, stale
	}
	if _, err := fmt.Sscan(f[2], &c.offset); err != nil {
		return c, stale
	}
	c.tip, c.base = f[0], f[1]
	return c, nil
}

// digestParameters is a short mark of all parameters that shape a list.
func digestParameters(path string, values url.Values) string {
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

// format is raised when the bytes of an answer change their form.
const format = "3"
