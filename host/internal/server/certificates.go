package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"sync"
	"time"

	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/keys/encrypt"
	"ctl.internal/host/internal/keys/keystore"
	certrpc "ctl.internal/host/internal/keys/keystore/rpc"
	certshell "ctl.internal/host/internal/keys/keystore/shell"
	"ctl.internal/host/internal/logs"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/realm"
)

// certificates are the keystores, or why there are none. It implements
// hostsvc.Certificates.
type certificates struct {
	open func(existing bool) (*keystore.Service, error) // starts what the service does beside calls

	mu      sync.Mutex
	service *keystore.Service
	err     error
	shown   expiring // what HTTPS shows, if it is not the controller keystore
}

type expiring interface {
	Expires() time.Time
	Covers(host string) bool
}

// coversHost reports whether the certificate that clients see is for a name.
func (c *certificates) coversHost(host string) bool {
	shown := c.shownCertificate()
	return shown != nil && shown.Covers(host)
}

// shownCertificate is the certificate that clients see, nil without a certificate.
func (c *certificates) shownCertificate() expiring {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shown == nil && c.service != nil {
		return c.service
	}
	return c.shown
}

// setShown says what HTTPS shows instead of the controller keystore.
func (c *certificates) setShown(e expiring) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown = e
}

// openCertificates opens the keystores if the settings want them and they are there; else they are made
// when the feature with their commands and operations is installed, or when HTTPS needs them. What is wrong
// with them stops the start only when something is to be served with them.
func (s *Server) openCertificates(ctx context.Context) error {
	log := s.registry.Logger("org.ctl.keystore")
	s.certs = &certificates{open: func(existing bool) (*keystore.Service, error) {
		service, err := keystore.Open(ctx, keystore.Options{
			Existing: existing,
			Dir:      s.home,
			Store:    s.store,
			Sealer:   s.secrets,
			Names:    s.ownNames(),
			Log:      log,
			Made: func(text string) {
				s.writeAudit(
					logs.AuditRecord{
						What:    "create keystores",
						Object:  text,
						Outcome: passed,
						Class:   logs.ClassAccess,
					},
					true,
				)
			},
		})
		if err == nil {
			s.runInBackground(ctx, "certificates", service.Run)
		}
		return service, err
	}}
	_, err := s.certs.openIfNeeded(true)
	if err != nil && !errors.Is(err, keystore.ErrOff) && !errors.Is(err, keystore.ErrNone) {
		log.Error("the keystores cannot be used; nothing in them was changed", "error", err)
	}
	return nil
}

// certificateTable is the name of the commands of the keystores, as features name them.
const certificateTable = "certificates"

// makeKeystores makes the keystores that are missing once a feature offers what works with them: an operator is
// asked for the password of the keystore, which so is in the settings from the installation on.
func (s *Server) makeKeystores(t feature.Target) {
	if !t.CLI(feature.HostPlugin, certificateTable) && !t.Rest(feature.HostPlugin, certrpc.Module) {
		return
	}
	_, err := s.certs.openIfNeeded(false)
	if err != nil && !errors.Is(err, keystore.ErrOff) {
		s.registry.Logger("org.ctl.keystore").Error(
			"the keystores could not be made; nothing that works with them can be used",
			"error",
			err,
		)
	}
}

// openIfNeeded opens the keystores if they are not yet open. What is wrong with them stays wrong until the
// next start, but for their not being there.
func (c *certificates) openIfNeeded(existing bool) (*keystore.Service, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.service == nil && (c.err == nil || errors.Is(c.err, keystore.ErrNone)) {
		c.service, c.err = c.open(existing)
	}
	return c.service, c.err
}

// ownNames are what users may call this controller.
func (s *Server) ownNames() []string {
	names := []string{"localhost", "127.0.0.1", "::1"}
	if host, err := os.Hostname(); err == nil {
		names = append(names, host)
	}
	host, _, err := net.SplitHostPort(string(s.loaded.Listeners.HTTPS))
	if err == nil && host != "" {
		names = append(names, host)
	}
	return names
}

// ensureKeystores returns the keystores, made if need be.
func (c *certificates) ensureKeystores() (*keystore.Service, error) {
	return c.keystoreService(false)
}

func (c *certificates) keystoreService(existing bool) (*keystore.Service, error) {
	service, err := c.openIfNeeded(existing)
	switch {
	case err == nil:
		return service, nil
	case errors.Is(err, keystore.ErrOff), errors.Is(err, keystore.ErrNone):
		return nil, fault.Wrap(fault.Unavailable, err, "%v", err)
	}
	// Not Unavailable: whoever verifies must not do without the keystore that is broken.
	return nil, fault.Wrap(fault.Internal, err, "the keystores cannot be used: %v", err)
}

func (c *certificates) keystoreCommands() []commands.Command {
	return certshell.Commands(c.ensureKeystores)
}

func (c *certificates) Trust(ctx context.Context) ([]byte, error) {
	k, err := c.keystoreService(true)
	if err != nil {
		return nil, err
	}
	pem, err := k.Trust(ctx)
	if err == nil &&
		len(pem) == 0 { // keystores are made for their own certificate: that says nothing of whom to trust
		return nil, fault.New(fault.Unavailable, "the trust keystore is empty")
	}
	return pem, err
}

func (c *certificates) Identity(ctx context.Context) (certificate, key []byte, err error) {
	k, err := c.keystoreService(true)
	if err != nil {
		return nil, nil, err
	}
	return k.Identity(ctx)
}

// openSecrets opens the encryption service on the store, which everybody else sees through it.
func (s *Server) openSecrets(ctx context.Context) (err error) {
	s.secrets, err = encrypt.Open(ctx, encrypt.Options{
		Dir:       s.home,
		Store:     s.store,
		Shared:    s.loaded.Datastore.Shared,
		Documents: tree.ConfigNamespace,
		Log:       s.registry.Logger("org.ctl.encrypt"),
	})
	if err != nil {
		return fmt.Errorf("encryption service: %w", err)
	}
	s.runInBackground(ctx, "encryption service", s.secrets.Run)
	s.store = s.secrets.Documents()
	return nil
}

// openRealm is a configuration of a realm with its sealed settings opened.
func (s *Server) openRealm(c realm.Config) (realm.Config, error) {
	c.Properties = maps.Clone(c.Properties)
	for name, p := range c.Properties {
		plain, err := s.secrets.OpenText(p.Value)
		if err != nil {
			return c, fmt.Errorf("%s: %s.%s: %w", p.Origin, c.Name, name, err)
		}
		if plain != p.Value {
			c.Properties[name] = realm.Property{
				Value:  plain,
				List:   []string{plain},
				Origin: p.Origin,
			}
		}
	}
	return c, nil
}
