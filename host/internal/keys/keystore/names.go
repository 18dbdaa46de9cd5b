package keystore

import (
	"cmp"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-ldap/ldap/v3"

	"ctl.internal/internal/nearest"
)

// signAlgs are Java's names of signature algorithms, in lower case and without
// the ending "encryption".
var signAlgs = map[string]x509.SignatureAlgorithm{
	"sha1withrsa":          x509.SHA1WithRSA,
	"sha256withrsa":        x509.SHA256WithRSA,
	"sha384withrsa":        x509.SHA384WithRSA,
	"sha512withrsa":        x509.SHA512WithRSA,
	"sha256withrsaandmgf1": x509.SHA256WithRSAPSS,
	"sha384withrsaandmgf1": x509.SHA384WithRSAPSS,
	"sha512withrsaandmgf1": x509.SHA512WithRSAPSS,
	"sha1withecdsa":        x509.ECDSAWithSHA1,
	"sha256withecdsa":      x509.ECDSAWithSHA256,
	"sha384withecdsa":      x509.ECDSAWithSHA384,
	"sha512withecdsa":      x509.ECDSAWithSHA512,
}

var curves = map[int]elliptic.Curve{
	256: elliptic.P256(),
	384: elliptic.P384(),
	521: elliptic.P521(),
}

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
			return k, fmt.Errorf(
				"<keysize> %d is too short for RSA; at least 1024, better 3072",
				k.bits,
			)
		}
		sign = cmp.Or(sign, "SHA1WithRSAEncryption")
	case "EC", "ECDSA":
		size := cmp.Or(c.KeySize, 256)
		if k.curve = curves[size]; k.curve == nil {
			return k, fmt.Errorf("<keysize> %d is not an EC key size; choose 256, 384 or 521", size)
		}
		sign = cmp.Or(sign, "SHA256withECDSA")
	default:
		return k, fmt.Errorf("<key-alg> %q: expected RSA or EC", c.KeyAlg)
	}
	name := strings.TrimSuffix(strings.ToLower(sign), "encryption")
	var ok bool
	if k.sign, ok = signAlgs[name]; !ok {
		return k, fmt.Errorf(
			"<sign-alg> %q: no such algorithm%s",
			sign,
			nearest.Hint(name, slices.Sorted(maps.Keys(signAlgs))),
		)
	}
	if strings.Contains(name, "ecdsa") != (k.curve != nil) {
		return k, errors.New("<sign-alg> " + sign + " does not sign with a key of <key-alg> " + c.KeyAlg + "; use SHA256WithRSA or SHA256withECDSA")
	}
	return k, nil
}

var attributes = map[string]asn1.ObjectIdentifier{
	"CN":           {2, 5, 4, 3},
	"SERIALNUMBER": {2, 5, 4, 5},
	"C":            {2, 5, 4, 6},
	"L":            {2, 5, 4, 7},
	"ST":           {2, 5, 4, 8},
	"S":            {2, 5, 4, 8},
	"STREET":       {2, 5, 4, 9},
	"O":            {2, 5, 4, 10},
	"OU":           {2, 5, 4, 11},
	"T":            {2, 5, 4, 12},
	"UID":          {0, 9, 2342, 19200300, 100, 1, 1},
	"DC":           {0, 9, 2342, 19200300, 100, 1, 25},
	"EMAILADDRESS": {1, 2, 840, 113549, 1, 9, 1},
	"E":            {1, 2, 840, 113549, 1, 9, 1},
}

// parseDName reads a distinguished name of RFC 4514, and returns its encoding, too. The
// text has the most specific part first, the encoded name last.
func parseDName(text string) (name pkix.RDNSequence, der []byte, err error) {
	if len(text) > 1024 {
		return nil, nil, fmt.Errorf(
			"<dname> has %d characters, at most 1024 are possible",
			len(text),
		)
	}
	dn, err := ldap.ParseDN(text)
	if err != nil || len(dn.RDNs) == 0 {
		return nil, nil, fmt.Errorf(
			"<dname> %q is not a distinguished name such as CN=ctl, O=Lab, C=XX",
			text,
		)
	}
	for _, rdn := range dn.RDNs {
		var set pkix.RelativeDistinguishedNameSET
		for _, a := range rdn.Attributes {
			kind := strings.ToUpper(strings.TrimSpace(a.Type))
			oid, ok := attributes[kind]
			if !ok {
				return nil, nil, fmt.Errorf(
					"<dname>: no such attribute %q; possible are CN, OU, O, L, ST, C, STREET, T, DC, UID, SERIALNUMBER, EMAILADDRESS",
					a.Type,
				)
			}
			value := strings.TrimSpace(a.Value)
			if value == "" || (kind == "C" && len(value) != 2) {
				return nil, nil, fmt.Errorf(
					"<dname>: %s=%q: a value is needed, for C a country code of two letters",
					kind,
					value,
				)
			}
			set = append(set, pkix.AttributeTypeAndValue{
				Type:  oid,
				Value: value,
			})
		}
		name = append(name, set)
	}
	slices.Reverse(name)
	if der, err = asn1.Marshal(name); err != nil {
		return nil, nil, fmt.Errorf("<dname> %q cannot be encoded: %v", text, err)
	}
	return name, der, nil
}

// commonName is the CN of a name, if it has one.
func commonName(seq pkix.RDNSequence) string {
	var n pkix.Name
	n.FillFromRDNSequence(&seq)
	return n.CommonName
}
