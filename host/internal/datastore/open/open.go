// Package open opens the datastore that the settings of a home name. Rooms that
// use a store take a datastore.Store; only the server and offline tools open one.
package open

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/badger"
	"ctl.internal/host/internal/datastore/etcd"
	"ctl.internal/host/internal/home"
)

// Store opens the store of a home. With etcd every controller of the cluster
// needs the key of package encrypt, or it cannot open what the others sealed.
func Store(ctx context.Context, dir home.Dir, c home.Datastore, log *slog.Logger) (datastore.Store, error) {
	return store(ctx, dir, c, 0, log)
}

// Empty opens a store that has no data yet, for a snapshot to be restored into. Its
// revisions go on after first, that of the snapshot.
func Empty(ctx context.Context, dir home.Dir, c home.Datastore, first datastore.Revision, log *slog.Logger) (datastore.Store, error) {
	s, err := store(ctx, dir, c, first, log)
	if err != nil {
		return nil, err
	}
	err = s.View(ctx, func(sn datastore.Snapshot) error {
		for ns, err := range sn.Namespaces() {
			if err != nil {
				return err
			}
			return fmt.Errorf("the datastore is not empty: it has the namespace %q", ns)
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func store(ctx context.Context, dir home.Dir, c home.Datastore, first datastore.Revision, log *slog.Logger) (datastore.Store, error) {
	switch c.Engine {
	case "badger":
		return badger.Open(badger.Options{Dir: dir.Store(), History: c.History, First: first, Log: log})
	case "etcd":
		t, err := clientTLS(dir, c.Etcd)
		if err != nil {
			return nil, err
		}
		return etcd.Open(ctx, etcd.Options{Endpoints: c.Etcd.Endpoints, Prefix: c.Etcd.Prefix, Timeout: c.Etcd.Timeout,
			Username: c.Etcd.Username, Password: c.Etcd.Password, TLS: t, History: c.History, First: first, Log: log})
	}
	return nil, fmt.Errorf("datastore.engine: %q is neither badger nor etcd", c.Engine)
}

// Check looks for damage of a home's store and changes nothing; a store that a
// controller is using, or that is not on this disk, is not looked at.
func Check(dir home.Dir, c home.Datastore) error {
	if c.Engine != "badger" {
		return nil
	}
	if err := badger.Check(dir.Store()); !errors.Is(err, datastore.ErrLocked) {
		return err
	}
	return nil
}

// clientTLS is nil when nothing about TLS is set; https endpoints are then
// checked against the system's authorities.
func clientTLS(dir home.Dir, c home.Etcd) (*tls.Config, error) {
	if c.CA == "" && c.Certificate == "" {
		return nil, nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CA != "" {
		pem, err := os.ReadFile(dir.Path(c.CA))
		if err != nil {
			return nil, fmt.Errorf("datastore.etcd.ca: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("datastore.etcd.ca: %s contains no certificate in PEM form", dir.Path(c.CA))
		}
	}
	if c.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(dir.Path(c.Certificate), dir.Path(c.Key))
		if err != nil {
			return nil, fmt.Errorf("datastore.etcd.certificate: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}
