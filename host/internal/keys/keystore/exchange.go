package keystore

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/fault"
)

// Export writes the two keystores to files under configuration/ssl and returns
// their paths. Their passwords stay as they are.
func (s *Service) Export() ([]string, error) {
	st := s.now.Load()
	var out []string
	for _, p := range []struct {
		name string
		b    []byte
	}{{"_ctlKeystore.jks", st.Ctl}, {"_trustKeystore.jks", st.Trust}} {
		path := s.o.Dir.SSL(s.config.Bundle + p.name)
		if err := home.WriteFile(path, p.b, 0o600); err != nil {
			return nil, err
		}
		out = append(out, path)
	}
	return out, nil
}

// Import names keystores under configuration/ssl; both are needed.
type Import struct {
	Ctl, CtlPassword, Alias string
	Trust, TrustPassword    string
	Protocols, Suites       string // comma-separated, empty = no restriction
}

// Import puts keystores from files into the datastore, instead of those there.
// Without <use-mdsal> the fault is Unsupported.
func (s *Service) Import(ctx context.Context, i Import) error {
	if !s.config.UseMDSAL {
		return fault.New(
			fault.Unsupported,
			"the keystores are the files in configuration/ssl, so nothing can be imported; with <use-mdsal> true they are in the datastore",
		)
	}
	next := saved{
		CtlPassword:   i.CtlPassword,
		TrustPassword: i.TrustPassword,
		Alias:         i.Alias,
		Protocols:     splitList(i.Protocols),
		Suites:        splitList(i.Suites),
	}
	next.Alias = cmp.Or(next.Alias, s.config.Alias)
	for _, p := range []struct {
		name, password string
		to             *[]byte
	}{{i.Ctl, i.CtlPassword, &next.Ctl}, {i.Trust, i.TrustPassword, &next.Trust}} {
		b, err := s.readForImport(p.name, p.password, next.Alias)
		if err != nil {
			return fault.Wrap(fault.Invalid, err, "%s: %v; nothing was imported", p.name, err)
		}
		*p.to = b
	}
	if _, err := s.parseSaved(next); err != nil {
		return fault.Wrap(fault.Invalid, err, "%v; nothing was imported", err)
	}
	s.changes.Lock()
	defer s.changes.Unlock()
	err := s.replaceKeystores(ctx, next)
	if errors.Is(err, datastore.ErrConflict) { // what another node made meanwhile is replaced, too
		if _, err = s.storage.loadSaved(ctx); err == nil {
			err = s.replaceKeystores(ctx, next)
		}
	}
	return err
}

// readForImport reads a keystore file and returns it as JKS.
func (s *Service) readForImport(name, password, alias string) ([]byte, error) {
	if err := checkFileName(name); err != nil {
		return nil, err
	}
	if err := checkPassword(password); err != nil {
		return nil, err
	}
	b, err := home.ReadBounded(s.o.Dir.SSL(name), maxStore)
	if err != nil {
		return nil, fmt.Errorf("not readable under configuration/ssl: %w", err)
	}
	ks, err := decodeKeystore(b, password, alias)
	if err != nil {
		return nil, err
	}
	return encodeJKS(ks, password)
}
