package trust

import (
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"slices"
)

// leastRSA is the least size of an RSA key, in bits, that is not reported as weak (NIST SP 800-131A).
const leastRSA = 2048

// weakSignatures are algorithms whose hash is broken.
var weakSignatures = []x509.SignatureAlgorithm{x509.MD2WithRSA, x509.MD5WithRSA, x509.SHA1WithRSA, x509.DSAWithSHA1, x509.ECDSAWithSHA1}

// Weakness says what is weak about a certificate of a peer: an RSA key of less than 2048 bits, or a signature with SHA-1 or older.
// It is empty for a certificate that has none of these. The signature of a root is not verified by anybody, so it does not count.
func Weakness(c *x509.Certificate) string {
	key, ok := c.PublicKey.(*rsa.PublicKey)
	if ok && key.N.BitLen() < leastRSA {
		return fmt.Sprintf(
			"its RSA key has %d bits; have one of %d or more made",
			key.N.BitLen(),
			leastRSA,
		)
	}
	root := string(c.RawSubject) == string(c.RawIssuer)
	if !root && slices.Contains(weakSignatures, c.SignatureAlgorithm) {
		return fmt.Sprintf(
			"it is signed with %s, which can be forged; have it signed with SHA-256",
			c.SignatureAlgorithm,
		)
	}
	return ""
}
