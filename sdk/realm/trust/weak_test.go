package trust

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"strings"
	"testing"
)

func TestWeakCertificates(t *testing.T) {
	key := func(bits int) *rsa.PublicKey {
		t.Helper()
		k, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			t.Fatal(err)
		}
		return &k.PublicKey
	}
	short, long := key(1024), key(2048)
	leaf, root := []byte("issuer"), []byte("subject")
	for name, c := range map[string]struct {
		cert x509.Certificate
		want string
	}{
		"short key":          {x509.Certificate{PublicKey: short, SignatureAlgorithm: x509.SHA256WithRSA, RawIssuer: leaf}, "1024 bits"},
		"SHA-1":              {x509.Certificate{PublicKey: long, SignatureAlgorithm: x509.SHA1WithRSA, RawIssuer: leaf}, "SHA1-RSA"},
		"SHA-1 with ECDSA":   {x509.Certificate{SignatureAlgorithm: x509.ECDSAWithSHA1, RawIssuer: leaf}, "ECDSA-SHA1"},
		"root with SHA-1":    {x509.Certificate{PublicKey: long, SignatureAlgorithm: x509.SHA1WithRSA, RawIssuer: root}, ""},
		"good":               {x509.Certificate{PublicKey: long, SignatureAlgorithm: x509.SHA256WithRSA, RawIssuer: leaf}, ""},
		"root with few bits": {x509.Certificate{PublicKey: short, SignatureAlgorithm: x509.SHA256WithRSA, RawIssuer: root}, "1024 bits"},
	} {
		c.cert.RawSubject = root
		got := Weakness(&c.cert)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	var said bytes.Buffer
	s := New(nothing{}, slog.New(slog.NewTextHandler(&said, nil)))
	for range 2 {
		c, err := s.Client(t.Context(), "ldap.example.org")
		if err != nil {
			t.Fatal(err)
		}
		chain := []*x509.Certificate{{PublicKey: short}}
		if err := c.VerifyConnection(tls.ConnectionState{PeerCertificates: chain}); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(said.String(), "ldap.example.org"); n != 1 {
		t.Errorf("it was logged %d times: %s", n, said.String())
	}
}

type nothing struct{}

func (nothing) Trust(context.Context) (*x509.CertPool, error) { return x509.NewCertPool(), nil }
