// Package keystore is the certificate service: the controller keystore with its
// key and chain, the trust keystore with the certificates of nodes, and what TLS
// needs of them. Keystores are JKS files of configuration/ssl, or sealed in the
// datastore. Sealing itself is package crypt's; the RPCs and commands on top are
// in rpc and shell.
package keystore

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	jks "github.com/pavlo-v-chernykh/keystore-go/v4"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/home/xmlfile"
)

// ErrNone says that there are no keystores yet: the first who needs them has them made.
var ErrNone = errors.New("no keystores exist yet")

// ErrOff says that the settings keep the certificate service off.
var ErrOff = errors.New("the certificate service is off: set <use-config> to true in etc/ctl/datastore/initial/config/aaa-cert-config.xml and start again")

// Options are what a Service works with.
type Options struct {
	Existing bool // do not make what is not there: ErrNone
	Dir      home.Dir
	Store    datastore.Store // for use-mdsal
	Sealer   Sealer
	Names    []string // host names and addresses of this controller, for new certificates
	Now      func() time.Time
	Made     func(text string) // is called with what was made; nil = it is only logged
	Log      *slog.Logger
}

// Service holds the keystores. It is safe for concurrent use.
type Service struct {
	o       Options
	config  Config
	storage storage
	changes sync.Mutex
	now     atomic.Pointer[state]
}

// state is one version of the keystores, never changed.
type state struct {
	saved
	key    crypto.Signer
	chain  []*x509.Certificate
	nodes  map[string]*x509.Certificate
	policy policy

	once sync.Once
	all  *x509.CertPool
}

// certPool are the nodes as what a connection is verified against.
func (st *state) certPool() *x509.CertPool {
	st.once.Do(func() {
		st.all = x509.NewCertPool()
		for _, c := range st.nodes {
			st.all.AddCert(c)
		}
	})
	return st.all
}

// Open reads the keystores, and makes them at the first start: ErrOff when the
// settings want none. What does not open is an error and stays as it is.
func Open(ctx context.Context, o Options) (*Service, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	path := ConfigFile(o.Dir)
	c, f, err := readConfig(path)
	if err != nil {
		return nil, err
	}
	if !c.UseConfig {
		return nil, ErrOff
	}
	s := &Service{o: o, config: c}
	if c.UseMDSAL {
		s.storage = &sealedStorage{
			store:  o.Store,
			sealer: o.Sealer,
			bundle: c.Bundle,
		}
	} else {
		s.storage = &fileStorage{dir: o.Dir, config: c}
	}
	have, err := s.storage.loadSaved(ctx)
	if errors.Is(err, ErrNone) && !o.Existing {
		have, err = s.createMissing(ctx, f, have)
	}
	if err != nil {
		return nil, err
	}
	st, err := s.parseSaved(have)
	if err != nil {
		return nil, err
	}
	for _, n := range st.policy.unknown {
		o.Log.Warn(
			"a cipher suite of the settings is not one of the runtime and is not offered",
			"suite",
			n,
		)
	}
	s.now.Store(st)
	return s, nil
}

// createMissing makes what is missing. The passwords are on the disk before anything is
// protected with them.
func (s *Service) createMissing(ctx context.Context, f *xmlfile.File, have saved) (saved, error) {
	c := &s.config
	if (have.Ctl != nil && c.Password == "") || (have.Trust != nil && c.TrustPassword == "") {
		return have, fmt.Errorf(
			"%s: <store-password> is empty, and there is a keystore in configuration/ssl already; enter its password, or move the keystore away to create a new one",
			ConfigFile(s.o.Dir),
		)
	}
	for path, p := range map[string]*string{
		ctlPasswordPath:   &c.Password,
		trustPasswordPath: &c.TrustPassword,
	} {
		if *p != "" {
			continue
		}
		*p = rand.Text()
		text, err := f.Set(path, *p)
		if err == nil {
			err = home.WriteFile(ConfigFile(s.o.Dir), text, 0o600)
		}
		if err == nil {
			_, f, err = parseConfig(f.Name, text)
		}
		if err != nil {
			return have, err
		}
	}
	now := s.o.Now()
	have.CtlPassword, have.TrustPassword, have.Alias, have.Protocols, have.Suites = c.Password, c.TrustPassword, c.Alias, splitList(c.Protocols), c.suiteNames()
	var err error
	if have.Trust == nil {
		if have.Trust, err = encodeJKS(newJKS(), c.TrustPassword); err != nil {
			return have, err
		}
	}
	if have.Ctl == nil {
		key, der, err := c.selfSigned(now, s.o.Names)
		if err != nil {
			return have, err
		}
		ks := newJKS()
		if err := putKey(ks, c.Alias, c.Password, key, [][]byte{der}, now); err != nil {
			return have, err
		}
		if have.Ctl, err = encodeJKS(ks, c.Password); err != nil {
			return have, err
		}
	}
	if fs, ok := s.storage.(*fileStorage); ok {
		fs.config = *c
	}
	// What was there must open before anything is written beside it.
	if _, err := s.parseSaved(have); err != nil {
		return have, err
	}
	err = s.storage.storeSaved(ctx, have)
	if errors.Is(err, datastore.ErrConflict) {
		return s.storage.loadSaved(ctx) // another node was first
	}
	if err == nil {
		s.made(have)
	}
	return have, err
}

// made logs and reports what create has kept.
func (s *Service) made(v saved) {
	c := &s.config
	s.o.Log.Info(
		"keystores made",
		"controller",
		c.Name,
		"trust",
		c.TrustName,
		"datastore",
		c.UseMDSAL,
	)
	if s.o.Made == nil {
		return
	}
	where := "configuration/ssl"
	if c.UseMDSAL {
		where = "the datastore, bundle " + c.Bundle
	}
	text := fmt.Sprintf("keystores %s and %s in %s", c.Name, c.TrustName, where)
	if st, err := s.parseSaved(v); err == nil {
		text += fmt.Sprintf(
			", certificate SHA256:%X of %s",
			sha256.Sum256(st.chain[0].Raw),
			st.chain[0].Subject,
		)
	}
	s.o.Made(text)
}

// describeKeystore names a keystore in errors.
func (s *Service) describeKeystore(name string) string {
	if s.config.UseMDSAL {
		return "keystore " + name + " of bundle " + s.config.Bundle + " in the datastore"
	}
	return s.o.Dir.SSL(name)
}

// parseSaved makes a state of what is kept.
func (s *Service) parseSaved(v saved) (*state, error) {
	st := &state{saved: v}
	ctl, err := decodeKeystore(v.Ctl, v.CtlPassword, v.Alias)
	if err == nil {
		st.key, st.chain, err = getKey(ctl, v.Alias, v.CtlPassword)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.describeKeystore(s.config.Name), err)
	}
	trust, err := decodeKeystore(v.Trust, v.TrustPassword, v.Alias)
	if err == nil {
		st.nodes, err = trustedCerts(trust)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.describeKeystore(s.config.TrustName), err)
	}
	st.policy, err = newPolicy(v.Protocols, v.Suites)
	return st, err
}

// which says which keystore a change is of.
type which func(*saved) (store *[]byte, password string)

func ctlStore(s *saved) (*[]byte, string) {
	return &s.Ctl, s.CtlPassword
}
func trustStore(s *saved) (*[]byte, string) {
	return &s.Trust, s.TrustPassword
}

// changeKeystore applies f to a keystore, keeps the result and then lets it count. When
// another node of the cluster was faster, it is done once more on what that one made.
func (s *Service) changeKeystore(
	ctx context.Context,
	w which,
	f func(*state, jks.KeyStore) error,
) error {
	s.changes.Lock()
	defer s.changes.Unlock()
	err := s.changeLocked(ctx, w, f)
	if errors.Is(err, datastore.ErrConflict) {
		if err = s.reloadLocked(ctx); err == nil {
			err = s.changeLocked(ctx, w, f)
		}
	}
	return err
}

func (s *Service) changeLocked(
	ctx context.Context,
	w which,
	f func(*state, jks.KeyStore) error,
) error {
	old := s.now.Load()
	next := old.saved
	b, password := w(&next)
	ks, err := decodeKeystore(*b, password, old.Alias)
	if err != nil {
		return err
	}
	if err := f(old, ks); err != nil {
		return err
	}
	if *b, err = encodeJKS(ks, password); err != nil {
		return err
	}
	return s.replaceKeystores(ctx, next)
}

// replaceKeystores keeps and shows new keystores; the caller holds s.changes.
func (s *Service) replaceKeystores(ctx context.Context, next saved) error {
	st, err := s.parseSaved(next)
	if err != nil {
		return err
	}
	if err := s.storage.storeSaved(ctx, next); err != nil {
		return err
	}
	s.now.Store(st)
	return nil
}

// reloadKeystores takes what another node of the cluster has kept at a revision. Our own
// changes come back here, too, and are known.
func (s *Service) reloadKeystores(ctx context.Context, r datastore.Revision) {
	s.changes.Lock()
	defer s.changes.Unlock()
	if s.storage.isCurrent(r) {
		return
	}
	if err := s.reloadLocked(ctx); err != nil {
		s.o.Log.Error(
			"keystores changed by another node cannot be used; the earlier ones stay",
			"error",
			err,
		)
	}
}

func (s *Service) reloadLocked(ctx context.Context) error {
	have, err := s.storage.loadSaved(ctx)
	if err != nil {
		return err
	}
	if reflect.DeepEqual(have, s.now.Load().saved) {
		return nil
	}
	st, err := s.parseSaved(have)
	if err == nil {
		s.now.Store(st)
	}
	return err
}
