package restconf

import (
	"crypto/sha256"
	"encoding/hex"
)

// digest names content by 16 hexadecimal digits.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}
