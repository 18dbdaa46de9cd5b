package realmldap

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"ctl.internal/internal/ldap/ldaptest"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/realm"
)

// certificate makes one for an address, signed by itself.
func certificate(t *testing.T, ip string) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.ParseIP(ip)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func TestCertificatesAreVerified(t *testing.T) {
	right, rightPEM := certificate(t, "127.0.0.1")
	other, otherPEM := certificate(t, "127.0.0.9")
	for name, c := range map[string]struct {
		cert    tls.Certificate
		trusted []byte
		want    realm.Outcome
	}{
		"trusted":            {right, rightPEM, realm.Authenticated},
		"not trusted":        {right, otherPEM, realm.Unavailable},
		"empty keystore":     {right, nil, realm.Unavailable},
		"of another address": {other, otherPEM, realm.Unavailable},
	} {
		for _, secure := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				s := (&ldaptest.Server{Entries: people(), Secure: secure, TLS: &tls.Config{Certificates: []tls.Certificate{c.cert}}}).Start(t)
				host := plugintest.NewHost(t)
				host.Trust(c.trusted)
				pairs := []string{"userDnTemplate", template, "contextFactory.url", s.URL()}
				if !secure {
					pairs = append(pairs, "startTLS", "true")
				}
				got := pluginAt(t, host, kindAuthOnly, pairs...)("alice", "pw:alice")
				if got.Outcome != c.want {
					t.Errorf("ldaps %v: %+v", secure, got)
				}
				if c.want != realm.Authenticated && s.Binds.Load() != 0 {
					t.Error("a password was sent to a server that is not trusted")
				}
			})
		}
	}
}
