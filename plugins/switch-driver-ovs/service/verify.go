package service

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
)

// verify checks the chain of a host's certificate against the trusted authorities; the
// name in it is not looked at, as Open vSwitch itself does.
func verify(pool *x509.CertPool) func(tls.ConnectionState) error {
	return func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return errors.New("the host shows no certificate")
		}
		o := x509.VerifyOptions{Roots: pool, Intermediates: x509.NewCertPool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
		for _, c := range s.PeerCertificates[1:] {
			o.Intermediates.AddCert(c)
		}
		_, err := s.PeerCertificates[0].Verify(o)
		return err
	}
}
