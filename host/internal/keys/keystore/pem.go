package keystore

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"regexp"
	"strings"

	"ctl.internal/sdk/fault"
)

const (
	maxPEM   = 256 << 10
	maxChain = 10
)

var marked = regexp.MustCompile(`(?s)-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----(.*?)-----END (?:X509 |TRUSTED )?CERTIFICATE-----`)

// ParseCertificates reads the certificates of a text: PEM with or without its
// markers, its lines wrapped, joined or separated by blanks.
func ParseCertificates(text string) ([]*x509.Certificate, error) {
	if len(text) > maxPEM {
		return nil, fault.New(
			fault.TooBig,
			"a certificate text has at most %d bytes, this one has %d",
			maxPEM,
			len(text),
		)
	}
	if strings.Contains(text, "PRIVATE KEY-----") {
		return nil, fault.New(
			fault.Invalid,
			"the text contains a private key; send only the certificates, and replace that key",
		)
	}
	var bodies []string
	for _, m := range marked.FindAllStringSubmatch(text, maxChain+1) {
		bodies = append(bodies, m[1])
	}
	if len(bodies) == 0 {
		if strings.Contains(text, "-----") {
			return nil, fault.New(
				fault.Invalid,
				"the text has markers, but no complete certificate from BEGIN CERTIFICATE to END CERTIFICATE",
			)
		}
		bodies = []string{text}
	}
	var out []*x509.Certificate
	for _, b := range bodies {
		der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(b), ""))
		if err != nil || len(der) == 0 {
			return nil, fault.New(
				fault.Invalid,
				"the certificate is not base64 of DER (PEM, with or without BEGIN and END lines)",
			)
		}
		certs, err := x509.ParseCertificates(der)
		if err != nil {
			return nil, fault.Wrap(
				fault.Invalid,
				err,
				"the text is base64, but it is not a certificate: %v",
				err,
			)
		}
		out = append(out, certs...)
	}
	if len(out) > maxChain {
		return nil, fault.New(fault.TooBig, "more than %d certificates at once", maxChain)
	}
	return out, nil
}

// Bare is DER in base64 on one line, as the RPCs answer it.
func Bare(der []byte) string {
	return base64.StdEncoding.EncodeToString(der)
}

// rawCerts is the certificates in DER.
func rawCerts(certs []*x509.Certificate) (der [][]byte) {
	for _, c := range certs {
		der = append(der, c.Raw)
	}
	return der
}

// PEM is DER between markers, 64 characters a line.
func PEM(kind string, der ...[]byte) []byte {
	var b bytes.Buffer
	for _, d := range der {
		_ = pem.Encode(&b, &pem.Block{
			Type:  kind,
			Bytes: d,
		}) // a buffer takes all
	}
	return b.Bytes()
}
