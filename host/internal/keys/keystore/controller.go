package keystore

import (
	"bytes"
	"context"
	"crypto/subtle"
	"crypto/x509"
	"maps"
	"slices"
	"strings"
	"time"

	jks "github.com/pavlo-v-chernykh/keystore-go/v4"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/realm/trust"
)

// Certificate returns the controller's certificate, DER.
func (s *Service) Certificate() []byte {
	return s.now.Load().chain[0].Raw
}

// Request returns a signing request for the controller's key, DER.
func (s *Service) Request() ([]byte, error) {
	return s.config.newCertRequest(s.now.Load().key, s.o.Names)
}

// CheckPassword compares with the password of the controller keystore; the fault
// is Denied.
func (s *Service) CheckPassword(password string) error {
	if subtle.ConstantTimeCompare([]byte(password), []byte(s.now.Load().CtlPassword)) != 1 {
		return fault.New(fault.Denied, "the keystore password is wrong")
	}
	return nil
}

// SetCertificate takes the answer of a CA to our request: the certificate first,
// its CAs after it. The fault is Invalid, and nothing has changed, when it is for
// another key, does not count today or its chain does not hold. Under an alias
// other than that of the key, the certificate is kept as a trusted one, too.
func (s *Service) SetCertificate(ctx context.Context, alias, text string) error {
	certs, err := ParseCertificates(text)
	if err != nil {
		return err
	}
	now := s.o.Now()
	return s.changeKeystore(ctx, ctlStore, func(st *state, ks jks.KeyStore) error {
		if !samePublic(certs[0].PublicKey, st.key.Public()) {
			return fault.New(
				fault.Invalid,
				"the certificate is not for the key of this controller: send the CA the request of getCtlCertificateReq, and send its certificate first",
			)
		}
		chain := completeChain(certs, st.nodeCerts())
		if err := checkChain(chain, now); err != nil {
			return err
		}
		s.reportWeakness(st.Alias, chain)
		if err := putKey(ks, st.Alias, st.CtlPassword, st.key, rawCerts(chain), now); err != nil {
			return err
		}
		if alias == "" || sameAlias(alias, st.Alias) {
			return nil
		}
		if err := checkAlias(alias); err != nil {
			return err
		}
		if ks.IsPrivateKeyEntry(alias) {
			return fault.New(fault.Exists, "the alias %q is that of another key", alias)
		}
		return putTrusted(ks, alias, certs[0].Raw, now)
	})
}

// completeChain adds to a chain the CAs that continue it.
func completeChain(chain, cas []*x509.Certificate) []*x509.Certificate {
	out := append([]*x509.Certificate{}, chain...)
	for len(out) < maxChain {
		last := out[len(out)-1]
		var next *x509.Certificate
		for _, c := range cas {
			if last.CheckSignatureFrom(c) == nil {
				next = c
			}
		}
		if next == nil || bytes.Equal(last.RawSubject, last.RawIssuer) {
			break
		}
		out = append(out, next)
	}
	return out
}

// checkChain wants every certificate signed by the next one, and all valid now.
func checkChain(chain []*x509.Certificate, now time.Time) error {
	for i, c := range chain {
		if err := checkTime(c, now); err != nil {
			return err
		}
		if i+1 < len(chain) {
			if err := c.CheckSignatureFrom(chain[i+1]); err != nil {
				return fault.Wrap(
					fault.Invalid,
					err,
					"the chain is broken: %q is not signed by %q, which follows it: %v",
					c.Subject,
					chain[i+1].Subject,
					err,
				)
			}
		}
	}
	return nil
}

func checkTime(c *x509.Certificate, now time.Time) error {
	switch {
	case now.Before(c.NotBefore):
		return fault.New(
			fault.Invalid,
			"the certificate of %q is not valid before %s",
			c.Subject,
			c.NotBefore.Format(time.RFC3339),
		)
	case now.After(c.NotAfter):
		return fault.New(
			fault.Invalid,
			"the certificate of %q expired at %s",
			c.Subject,
			c.NotAfter.Format(time.RFC3339),
		)
	}
	return nil
}

// reportWeakness logs which certificates that somebody else has made are weak.
func (s *Service) reportWeakness(alias string, certs []*x509.Certificate) {
	for _, c := range certs {
		if why := trust.Weakness(c); why != "" {
			s.o.Log.Warn(
				"a certificate is weak",
				"alias",
				alias,
				"subject",
				c.Subject.String(),
				"problem",
				why,
			)
		}
	}
}

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
		return fault.New(
			fault.Invalid,
			"an alias has one certificate, but the text has %d",
			len(certs),
		)
	}
	now := s.o.Now()
	if err := checkTime(certs[0], now); err != nil {
		return err
	}
	s.reportWeakness(alias, certs)
	return s.changeKeystore(ctx, trustStore, func(_ *state, ks jks.KeyStore) error {
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
	return nil, fault.New(
		fault.NotFound,
		"the trust keystore has no certificate for the alias %q",
		alias,
	)
}

// Aliases are the aliases of the trust keystore, sorted.
func (s *Service) Aliases() []string {
	return slices.Sorted(maps.Keys(s.now.Load().nodes))
}

// sameAlias compares as Java does: the case does not count.
func sameAlias(a, b string) bool {
	return strings.EqualFold(a, b)
}

func checkAlias(alias string) error {
	if alias == "" {
		return fault.New(fault.Missing, "an alias is needed")
	}
	if len(alias) > 256 {
		return fault.New(fault.Invalid, "an alias has at most 256 bytes")
	}
	if strings.ContainsFunc(alias, func(r rune) bool {
		return r < 0x20 || r == 0x7f || r == 0xfffd
	}) {
		return fault.New(fault.Invalid, "an alias has printable characters only")
	}
	return nil
}
