package keystore

import (
	"context"
	"maps"
	"slices"
	"strings"

	jks "github.com/pavlo-v-chernykh/keystore-go/v4"

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
	return s.change(ctx, trustStore, func(_ *state, ks jks.KeyStore) error {
		if ks.IsPrivateKeyEntry(alias) {
			return fault.New(fault.Exists, "the alias %q is that of a key", alias)
		}
		return putTrusted(ks, alias, certs[0].Raw, now)
	})
}

// Node returns the certificate of an alias, DER; the fault is NotFound.
func (s *Service) Node(alias string) ([]byte, error) {
	if c, ok := s.now.Load().nodes[strings.ToLower(alias)]; ok {
		return c.Raw, nil
	}
	return nil, fault.New(fault.NotFound, "the trust keystore has no certificate for the alias %q", alias)
}

// Aliases are the aliases of the trust keystore, sorted.
func (s *Service) Aliases() []string { return slices.Sorted(maps.Keys(s.now.Load().nodes)) }

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
