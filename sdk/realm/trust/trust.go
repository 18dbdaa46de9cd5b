// Package trust makes the TLS settings with which a realm calls its server: the
// certificates of the controller's trust keystore, read again for each connection so
// that an imported certificate counts at once. For a plugin that listens, see
// host.Certificates.Identity.
package trust

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"sync"

	"ctl.internal/sdk/fault"
)

// Keystore is where the trusted certificates come from: host.Certificates.
type Keystore interface {
	Trust(ctx context.Context) (*x509.CertPool, error)
}

// Source makes TLS settings. It is safe for concurrent use.
type Source struct {
	keystore Keystore
	log      *slog.Logger
	logged   sync.Once
	weak     sync.Map // servers whose certificate was reported as weak
}

// New returns a source; log gets one line when the system's certificates are used instead.
func New(k Keystore, log *slog.Logger) *Source {
	return &Source{keystore: k, log: log}
}

// Client returns the settings for a connection to a server whose certificate must
// name server. TLS 1.2 is the least. While the controller has no keystores (fault
// Unavailable), the certificates of the operating system are trusted instead.
func (s *Source) Client(ctx context.Context, server string) (*tls.Config, error) {
	c := &tls.Config{
		ServerName: server,
		MinVersion: tls.VersionTLS12,
		VerifyConnection: func(state tls.ConnectionState) error {
			s.reportWeakness(server, state.PeerCertificates)
			return nil
		},
	}
	pool, err := s.keystore.Trust(ctx)
	switch {
	case err == nil:
		c.RootCAs = pool
	case fault.KindOf(err) == fault.Unavailable || fault.KindOf(err) == fault.Unsupported:
		s.logged.Do(func() {
			s.log.Warn(
				"the controller has no trust keystore; servers are verified against the certificates of the operating system",
				"reason",
				err,
			)
		})
	default:
		return nil, err
	}
	return c, nil
}

// reportWeakness logs once for each server that one of its certificates is weak.
func (s *Source) reportWeakness(server string, chain []*x509.Certificate) {
	for _, c := range chain {
		why := Weakness(c)
		if why == "" {
			continue
		}
		if _, reported := s.weak.LoadOrStore(server, true); !reported {
			s.log.Warn(
				"a certificate of a server is weak",
				"server",
				server,
				"subject",
				c.Subject.String(),
				"problem",
				why,
			)
		}
		return
	}
}
