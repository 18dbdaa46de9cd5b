package keystore

import (
	"crypto/elliptic"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctl.internal/internal/nearest"
)

// signAlgs are Java's names of signature algorithms, in lower case and without
// the ending "encryption".
var signAlgs = map[string]x509.SignatureAlgorithm{
	"sha1withrsa": x509.SHA1WithRSA, "sha256withrsa": x509.SHA256WithRSA,
	"sha384withrsa": x509.SHA384WithRSA, "sha512withrsa": x509.SHA512WithRSA,
	"sha256withrsaandmgf1": x509.SHA256WithRSAPSS, "sha384withrsaandmgf1": x509.SHA384WithRSAPSS, "sha512withrsaandmgf1": x509.SHA512WithRSAPSS,
	"sha1withecdsa": x509.ECDSAWithSHA1, "sha256withecdsa": x509.ECDSAWithSHA256,
	"sha384withecdsa": x509.ECDSAWithSHA384, "sha512withecdsa": x509.ECDSAWithSHA512,
}

var curves = map[int]elliptic.Curve{256: elliptic.P256(), 384: elliptic.P384(), 521: elliptic.P521()}

// keySpec is how a key is made and what signs with it.
type keySpec struct {
	bits  int            // of an RSA key
	curve elliptic.Curve // of an EC key, else nil
	sign  x509.SignatureAlgorithm
}

// keySpec reads key-alg, keysize and sign-alg together: what one of them defaults
// to depends on the others.
func (c *Config) keySpec() (keySpec, error) {
	var k keySpec
	sign := c.SignAlg
	switch strings.ToUpper(c.KeyAlg) {
	case "RSA":
		if k.bits = c.KeySize; k.bits == 0 {
			k.bits = 1024
		}
		if k.bits < 1024 {
			return k, fmt.Errorf("<keysize> %d is too short for RSA; at least 1024, better 3072", k.bits)
		}
		if sign == "" {
			sign = "SHA1WithRSAEncryption"
		}
	case "EC", "ECDSA":
		size := c.KeySize
		if size == 0 {
			size = 256
		}
		if k.curve = curves[size]; k.curve == nil {
			return k, fmt.Errorf("<keysize> %d is no EC key size; choose 256, 384 or 521", size)
		}
		if sign == "" {
			sign = "SHA256withECDSA"
		}
	default:
		return k, fmt.Errorf("<key-alg> %q: RSA and EC are possible", c.KeyAlg)
	}
	name := strings.TrimSuffix(strings.ToLower(sign), "encryption")
	var ok bool
	if k.sign, ok = signAlgs[name]; !ok {
		return k, fmt.Errorf("<sign-alg> %q: no such algorithm%s", sign, nearest.Hint(name, slices.Sorted(maps.Keys(signAlgs))))
	}
	if strings.Contains(name, "ecdsa") != (k.curve != nil) {
		return k, errors.New("<sign-alg> " + sign + " does not sign with a key of <key-alg> " + c.KeyAlg + "; use SHA256WithRSA or SHA256withECDSA")
	}
	return k, nil
}
