package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/credentials"

	"ctl.internal/host/internal/lease"
)

// TLS checks neither names nor issuers here: a certificate is the one whose fingerprint
// the record of the node has, or it is refused.

func (n *Node) serverTLS() credentials.TransportCredentials {
	return credentials.NewTLS(&tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{n.o.Identity.certificate},
		ClientAuth:   tls.RequireAnyClientCert,
		VerifyConnection: func(c tls.ConnectionState) error {
			if n.isMemberCert(c.PeerCertificates) {
				return nil
			}
			return fmt.Errorf(
				"the certificate %s is not that of a node of this cluster",
				certFingerprint(c.PeerCertificates[0]),
			)
		},
	})
}

func (n *Node) clientTLS(to lease.Node) credentials.TransportCredentials {
	return credentials.NewTLS(&tls.Config{
		MinVersion:         tls.VersionTLS13,
		Certificates:       []tls.Certificate{n.o.Identity.certificate},
		InsecureSkipVerify: true, // VerifyConnection compares the fingerprint instead
		VerifyConnection: func(c tls.ConnectionState) error {
			if len(c.PeerCertificates) == 0 ||
				certFingerprint(c.PeerCertificates[0]) != to.Fingerprint {
				return fmt.Errorf(
					"the program at %s is not the node %s: it has another certificate",
					to.Address,
					to.ID,
				)
			}
			return nil
		},
	})
}

// knockTime bounds how long a node that is not known yet waits for its record, and how
// often the store is asked for such.
const knockTime = time.Second

// isMemberCert reports whether a certificate is that of a node that is alive. The record of one
// that has just joined may still be on its way.
func (n *Node) isMemberCert(chain []*x509.Certificate) bool {
	if len(chain) == 0 {
		return false
	}
	if n.isKnownFingerprint(certFingerprint(chain[0])) {
		return true
	}
	n.mu.Lock()
	ask := time.Since(n.checked) >= knockTime
	if ask {
		n.checked = time.Now()
	}
	n.mu.Unlock()
	if !ask {
		return false
	}
	changed := n.o.Roles.Changed()
	ctx, cancel := context.WithTimeout(context.Background(), knockTime)
	defer cancel()
	if _, err := n.o.Store.Barrier(ctx); err != nil {
		return false
	}
	for !n.isKnownFingerprint(certFingerprint(chain[0])) {
		select {
		case <-changed:
			changed = n.o.Roles.Changed()
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func (n *Node) isKnownFingerprint(fingerprint string) bool {
	return fingerprint != "" &&
		slices.ContainsFunc(n.o.Roles.Members(), func(m lease.Node) bool {
			return m.Fingerprint == fingerprint
		})
}
