package keystore

import (
	"context"
	"crypto/x509"
	"log/slog"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/internal/together"
)

// warnBefore is how long before its end a certificate is spoken of.
const warnBefore = 30 * 24 * time.Hour

// Expires is when the controller's certificate, or one of its chain, ends.
func (s *Service) Expires() time.Time {
	return firstEnd(s.now.Load().chain)
}

// Covers reports whether the controller's certificate is for a name.
func (s *Service) Covers(host string) bool {
	return s.now.Load().chain[0].VerifyHostname(host) == nil
}

func firstEnd(chain []*x509.Certificate) time.Time {
	var first time.Time
	for _, c := range chain {
		if first.IsZero() || c.NotAfter.Before(first) {
			first = c.NotAfter
		}
	}
	return first
}

// Run follows changes by other nodes and warns of certificates that end soon,
// until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return s.storage.followChanges(ctx, func(r datastore.Revision) {
			s.reloadKeystores(ctx, r)
		})
	})
	g.Go(func() error { return runDaily(ctx, s.warnOfExpiry) })
	return g.Wait()
}

func (s *Service) warnOfExpiry() {
	now := s.o.Now()
	for _, w := range s.now.Load().endingCertificates(now) {
		warnOf(s.o.Log, w.name, w.at, now)
	}
}

// runDaily calls f at once and then every day, until ctx ends.
func runDaily(ctx context.Context, f func()) error {
	for {
		f()
		if together.Sleep(ctx, 24*time.Hour) != nil {
			return nil
		}
	}
}

func warnOf(log *slog.Logger, name string, ends, now time.Time) {
	log.Warn(
		"a certificate ends soon, or has ended",
		"certificate",
		name,
		"ends",
		ends,
		"days",
		int(ends.Sub(now).Hours()/24),
	)
}

type ending struct {
	name string
	at   time.Time
}

// endingCertificates lists the certificates that need a new one soon.
func (st *state) endingCertificates(now time.Time) []ending {
	var out []ending
	for _, c := range st.chain {
		if c.NotAfter.Sub(now) < warnBefore {
			out = append(out, ending{"controller: " + c.Subject.String(), c.NotAfter})
		}
	}
	for _, alias := range slices.Sorted(maps.Keys(st.nodes)) {
		if at := st.nodes[alias].NotAfter; at.Sub(now) < warnBefore {
			out = append(out, ending{"node " + alias, at})
		}
	}
	return out
}
