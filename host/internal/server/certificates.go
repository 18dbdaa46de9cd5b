package server

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"ctl.internal/host/internal/keystore"
	certshell "ctl.internal/host/internal/keystore/shell"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// certificates are the keystores, or why there are none. It implements
// hostsvc.Certificates.
type certificates struct {
	service *keystore.Service
	err     error
	shown   expiring // what HTTPS shows, if it is not the controller keystore
}

type expiring interface{ Expires() time.Time }

// expiring is the certificate that people see, nil when there is none.
func (c certificates) expiring() expiring {
	if c.shown == nil && c.service != nil {
		return c.service
	}
	return c.shown
}

// openCertificates opens the keystores if the settings want them. What is wrong
// with them stops the start only when something is to be served with them.
func (s *Server) openCertificates(ctx context.Context) error {
	log := s.registry.Logger("org.ctl.keystore")
	service, err := keystore.Open(ctx, keystore.Options{Dir: s.home, Store: s.store, Sealer: s.secrets, Names: s.ownNames(), Log: log})
	s.certs = certificates{service: service, err: err}
	switch {
	case errors.Is(err, keystore.ErrOff):
	case err != nil:
		log.Error("the keystores cannot be used; nothing in them was changed", "error", err)
	default:
		s.background(ctx, "certificates", service.Run)
	}
	return nil
}

// ownNames are what users may call this controller.
func (s *Server) ownNames() []string {
	names := []string{"localhost", "127.0.0.1", "::1"}
	if host, err := os.Hostname(); err == nil {
		names = append(names, host)
	}
	if host, _, err := net.SplitHostPort(string(s.loaded.Listeners.HTTPS)); err == nil && host != "" {
		names = append(names, host)
	}
	return names
}

func (c certificates) get() (*keystore.Service, error) {
	switch {
	case c.service != nil:
		return c.service, nil
	case errors.Is(c.err, keystore.ErrOff):
		return nil, fault.Wrap(fault.Unavailable, c.err, "%v", c.err)
	}
	// Not Unavailable: whoever verifies must not do without the keystore that is broken.
	return nil, fault.Wrap(fault.Internal, c.err, "the keystores cannot be used: %v", c.err)
}

func (c certificates) commands() []commands.Command { return certshell.Commands(c.get) }

// Trust implements hostsvc.Certificates.
func (c certificates) Trust(ctx context.Context) ([]byte, error) {
	k, err := c.get()
	if err != nil {
		return nil, err
	}
	return k.Trust(ctx)
}

// Identity implements hostsvc.Certificates.
func (c certificates) Identity(ctx context.Context) (certificate, key []byte, err error) {
	k, err := c.get()
	if err != nil {
		return nil, nil, err
	}
	return k.Identity(ctx)
}
