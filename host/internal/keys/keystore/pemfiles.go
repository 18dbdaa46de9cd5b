package keystore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"ctl.internal/host/internal/home"
)

// Files are a certificate and its key in PEM files, instead of those of the
// controller keystore. They are read again when they have changed.
type Files struct {
	certificate, key string
	trust            func() *x509.CertPool // nil = no clients are verified
	log              *slog.Logger
	now              func() time.Time

	mu     sync.Mutex
	stamp  string // of the files as they were read, or refused, last
	config *tls.Config
	chain  []*x509.Certificate
}

// OpenFiles reads the files; what cannot be used is an error.
func OpenFiles(
	certificate, key string,
	o TLSOptions,
	trust func() *x509.CertPool,
	log *slog.Logger,
) (*Files, error) {
	f := &Files{
		certificate: certificate,
		key:         key,
		trust:       trust,
		log:         log,
		now:         time.Now,
		config: &tls.Config{
			MinVersion: o.MinVersion,
			ClientAuth: o.Clients,
			NextProtos: []string{"h2", "http/1.1"},
		},
	}
	f.stamp = f.stampFiles()
	if err := f.readPair(); err != nil {
		return nil, err
	}
	return f, nil
}

// stampFiles identifies the state of the files by what is in them: two changes may have the same time and size. A file that
// cannot be read has a stamp, too.
func (f *Files) stampFiles() string {
	stamp := ""
	for _, name := range []string{f.certificate, f.key} {
		if text, err := home.ReadBounded(name, maxPEM); err == nil {
			stamp += fmt.Sprintf("%x ", sha256.Sum256(text))
		} else {
			stamp += err.Error() + " "
		}
	}
	return stamp
}

func (f *Files) readPair() error {
	pair, err := tls.LoadX509KeyPair(f.certificate, f.key)
	if err != nil {
		return err
	}
	chain, err := x509.ParseCertificates(bytes.Join(pair.Certificate, nil))
	if err != nil {
		return err
	}
	c := f.config.Clone()
	c.Certificates = []tls.Certificate{pair}
	f.config, f.chain = c, chain
	return nil
}

// isCurrent is what a connection that begins now gets. Files that cannot be used, such as
// a certificate whose key is still to come, are logged once; the earlier ones stay in use.
func (f *Files) isCurrent() *tls.Config {
	f.mu.Lock()
	defer f.mu.Unlock()
	if stamp := f.stampFiles(); stamp != f.stamp {
		f.stamp = stamp
		if err := f.readPair(); err != nil {
			f.log.Error(
				"the certificate files have changed and cannot be used; the earlier certificate stays in use",
				"error",
				err,
			)
		} else {
			f.log.Info(
				"the certificate files were read again",
				"certificate",
				f.certificate,
				"ends",
				f.chain[0].NotAfter,
			)
		}
	}
	if f.trust == nil {
		return f.config
	}
	c := f.config.Clone()
	c.ClientCAs = f.trust()
	return c
}

// ServerTLS returns the settings of a listener; those connections that are open go on.
func (f *Files) ServerTLS() *tls.Config {
	c := f.isCurrent().Clone()
	c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return f.isCurrent(), nil
	}
	return c
}

// Expires is when the certificate, or one sent with it, ends.
func (f *Files) Expires() time.Time {
	f.isCurrent()
	f.mu.Lock()
	defer f.mu.Unlock()
	return firstEnd(f.chain)
}

// Covers reports whether the certificate is for a name.
func (f *Files) Covers(host string) bool {
	f.isCurrent()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.chain[0].VerifyHostname(host) == nil
}

// Run warns of a certificate that ends soon, at once and daily, until ctx ends.
func (f *Files) Run(ctx context.Context) error {
	return runDaily(ctx, func() {
		if at, now := f.Expires(), f.now(); at.Sub(now) < warnBefore {
			warnOf(f.log, f.certificate, at, now)
		}
	})
}
