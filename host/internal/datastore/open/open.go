// Package open opens the datastore that the settings of a home name. Rooms that
// use a store take a datastore.Store; only the server and offline tools open one.
package open

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/badger"
	"ctl.internal/host/internal/datastore/etcd"
	"ctl.internal/host/internal/datastore/large"
	"ctl.internal/host/internal/home"
)

// Store opens the store of a home. With etcd every controller of the cluster
// needs the key of package encrypt, or it cannot open what the others sealed. back is
// called when a cluster lost what it had acknowledged; nil = nobody is notified.
func Store(
	ctx context.Context,
	dir home.Dir,
	c home.Datastore,
	log *slog.Logger,
	back func(datastore.Back),
) (datastore.Store, error) {
	return openEngine(ctx, place{dir, c, 0, log, back})
}

// Empty opens a store that has no data yet, for a snapshot to be restored into. Its
// revisions go on after first, that of the snapshot.
func Empty(
	ctx context.Context,
	dir home.Dir,
	c home.Datastore,
	first datastore.Revision,
	log *slog.Logger,
) (datastore.Store, error) {
	s, err := openEngine(ctx, place{dir, c, first, log, nil})
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

// engine is what a value of datastore.engine means. ctl.schema.yaml of package home lists the same names, and the settings.
type engine struct {
	open  func(context.Context, place) (datastore.Store, error)
	check func(dir string) error // looks for damage; nil: the store is not on this disk
}

// place is what an engine opens a store with.
type place struct {
	dir      home.Dir
	settings home.Datastore
	first    datastore.Revision // of an empty store
	log      *slog.Logger
	back     func(datastore.Back)
}

var engines = map[string]engine{
	"badger": {openBadger, badger.Check},
	"etcd":   {openEtcd, nil},
}

func openEngine(ctx context.Context, p place) (datastore.Store, error) {
	e, ok := engines[p.settings.Engine]
	if !ok {
		return nil, fmt.Errorf(
			"datastore.engine: %q is not one of %v",
			p.settings.Engine,
			slices.Sorted(maps.Keys(engines)),
		)
	}
	s, err := e.open(ctx, p)
	if err != nil {
		return nil, err
	}
	return large.Of(s, p.log), nil
}

func openBadger(_ context.Context, p place) (datastore.Store, error) {
	return badger.Open(badger.Options{
		Dir:     p.dir.Store(),
		History: p.settings.History,
		First:   p.first,
		Log:     p.log,
	})
}

func openEtcd(ctx context.Context, p place) (datastore.Store, error) {
	c := p.settings.Etcd
	t, err := clientTLS(p.dir, c)
	if err != nil {
		return nil, err
	}
	return etcd.Open(ctx, etcd.Options{
		Endpoints: c.Endpoints,
		Prefix:    c.Prefix,
		Timeout:   c.Timeout,
		Username:  c.Username,
		Password:  c.Password,
		TLS:       t,
		History:   p.settings.History,
		First:     p.first,
		Log:       p.log,
		Back:      p.back,
	})
}

// Check looks for damage of a home's store and changes nothing; a store that a
// controller is using, or that is not on this disk, is not looked at.
func Check(dir home.Dir, c home.Datastore) error {
	check := engines[c.Engine].check
	if check == nil {
		return nil
	}
	if err := check(dir.Store()); !errors.Is(err, datastore.ErrLocked) {
		return err
	}
	return nil
}

// Lost reports whether the files of a store that is open were removed. A store that is not on this disk has none.
func Lost(dir home.Dir, c home.Datastore) bool {
	_, err := os.Stat(dir.Store())
	return engines[c.Engine].check != nil && errors.Is(err, fs.ErrNotExist)
}

// clientTLS is nil when nothing about TLS is set; https endpoints are then
// checked against the system's authorities.
func clientTLS(dir home.Dir, c home.Etcd) (*tls.Config, error) {
	if c.CA == "" && c.Certificate == "" {
		return nil, nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CA != "" {
		pem, err := home.ReadRegular(dir.Path(c.CA))
		if err != nil {
			return nil, fmt.Errorf("datastore.etcd.ca: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf(
				"datastore.etcd.ca: %s contains no certificate in PEM form",
				dir.Path(c.CA),
			)
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
