package device

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"

	"ctl.internal/plugins/switch-driver-ovs/ovsdb"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// newTLSConfig is TLS with the controller's own certificate and the authorities it trusts.
// name is what a host's certificate must be for; empty: OVSDB checks authorities, not
// names, since certificates by ovs-pki are for names that are not addresses.
func newTLSConfig(ctx context.Context, h *host.Client, name string) (*tls.Config, error) {
	const remedy = "ssl: needs the controller's keystores (feature ctl-aaa-cert): "
	own, err := h.Certificates.Identity(ctx)
	if err != nil {
		return nil, fault.Wrap(fault.KindOf(err), err, remedy+"%v", err)
	}
	pool, err := h.Certificates.Trust(ctx)
	if err != nil {
		return nil, fault.Wrap(fault.KindOf(err), err, remedy+"%v", err)
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		Certificates:       []tls.Certificate{own},
		RootCAs:            pool,
		InsecureSkipVerify: true,
		VerifyConnection:   verifyChain(pool, name),
	}, nil
}

// verifyChain checks the chain of a host's certificate against the trusted authorities, and
// its name if one is asked for.
func verifyChain(pool *x509.CertPool, name string) func(tls.ConnectionState) error {
	return func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return fmt.Errorf("%w: the host presents no certificate", ovsdb.ErrTrust)
		}
		own := s.PeerCertificates[0]
		o := x509.VerifyOptions{
			Roots:         pool,
			Intermediates: x509.NewCertPool(),
			KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
		}
		for _, c := range s.PeerCertificates[1:] {
			o.Intermediates.AddCert(c)
		}
		if _, err := own.Verify(o); err != nil {
			return fmt.Errorf("%w: the certificate of the host (%.200s) is not trusted: %w; the authority that signed it must be in the controller's trust keystore",
				ovsdb.ErrTrust, own.Subject, err)
		}
		if name == "" || isFor(own, name) {
			return nil
		}
		return fmt.Errorf(
			"%w: the certificate of the host is for %.200s, not for %s as tls_name of etc/switch-driver-ovs.yaml requires",
			ovsdb.ErrTrust,
			certificateNames(own),
			name,
		)
	}
}

// isFor reports whether a certificate is for a name. The common name counts where there
// are no others: ovs-pki makes such.
func isFor(c *x509.Certificate, name string) bool {
	return c.VerifyHostname(name) == nil ||
		len(alternativeNames(c)) == 0 && strings.EqualFold(c.Subject.CommonName, name)
}

// alternativeNames is the names and addresses in the extension for them (RFC 5280, 4.2.1.6).
func alternativeNames(c *x509.Certificate) []string {
	out := append([]string(nil), c.DNSNames...)
	for _, ip := range c.IPAddresses {
		out = append(out, ip.String())
	}
	return out
}

func certificateNames(c *x509.Certificate) string {
	if all := alternativeNames(c); len(all) > 0 {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%q", c.Subject.CommonName)
}
