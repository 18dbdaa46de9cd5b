package keystore

import (
	"context"
	"crypto/x509"
	"errors"
	"maps"
	"strings"
	"time"

	jks "github.com/pavlo-v-chernykh/keystore-go/v4"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// SetNode trusts a node's certificate under an alias, instead of an earlier one.
// The fault is Invalid for a certificate that does not count today.
func (s *Service) SetNode(ctx context.Context, alias, text string) error {
	if err := checkAlias(alias); err != nil {
		return err
	}
	certs, err := ParseCertificates(text)
	if err != nil {
		return err
	}
	if len(certs) != 1 {
		return fault.New(fault.Invalid, "one certificate is kept under an alias, the text has %d", len(certs))
	}
	now := s.o.Now()
	if err := checkTime(certs[0], now); err != nil {
		return err
	}
	if done, err := s.setNodeFast(ctx, alias, certs[0], now); done || err != nil {
		return err
	}
	return s.change(ctx, trustStore, func(_ *state, ks jks.KeyStore) error {
		if ks.IsPrivateKeyEntry(alias) {
			return fault.New(fault.Exists, "the alias %q is that of a key", alias)
		}
		return putTrusted(ks, alias, certs[0].Raw, now)
	})
}

// setNodeFast changes the one entry and nothing else; done is false where that
// cannot be, and nothing has happened.
func (s *Service) setNodeFast(ctx context.Context, alias string, cert *x509.Certificate, now time.Time) (done bool, err error) {
	s.changes.Lock()
	defer s.changes.Unlock()
	for range 2 {
		old := s.now.Load()
		next := &state{saved: old.saved, key: old.key, chain: old.chain, policy: old.policy, nodes: maps.Clone(old.nodes)}
		if next.trust, done = spliceTrusted(old.trust, old.trustPassword, alias, cert.Raw, now); !done {
			return false, nil
		}
		next.nodes[strings.ToLower(alias)] = cert
		err = s.storage.save(ctx, next.saved)
		if err == nil {
			s.now.Store(next)
			return true, nil
		}
		if !errors.Is(err, datastore.ErrConflict) {
			break
		}
		if again := s.reloadLocked(ctx); again != nil {
			return false, again // another controller changed it, to something that cannot be used
		}
	}
	return false, err
}

// Node returns the certificate of an alias, DER; the fault is NotFound.
func (s *Service) Node(alias string) ([]byte, error) {
	if c, ok := s.now.Load().nodes[strings.ToLower(alias)]; ok {
		return c.Raw, nil
	}
	return nil, fault.New(fault.NotFound, "the trust keystore has no certificate for the alias %q", alias)
}

// Aliases are the aliases of the trust keystore, sorted.
func (s *Service) Aliases() []string { return keys(s.now.Load().nodes) }

// sameAlias compares as Java does: the case does not count.
func sameAlias(a, b string) bool { return strings.EqualFold(a, b) }

func checkAlias(alias string) error {
	if alias == "" {
		return fault.New(fault.Missing, "an alias is needed")
	}
	if len(alias) > 256 {
		return fault.New(fault.Invalid, "an alias has at most 256 bytes")
	}
	for _, r := range alias {
		if r < 0x20 || r == 0x7f || r == 0xfffd {
			return fault.New(fault.Invalid, "an alias has printable characters only")
		}
	}
	return nil
}
