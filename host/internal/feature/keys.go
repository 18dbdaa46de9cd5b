package feature

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"ctl.internal/internal/nearest"
	"ctl.internal/sdk/fault"
)

// Keys lists the public keys that were trusted or revoked, by ID.
func (m *Manager) Keys() []KeyInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []KeyInfo
	for _, id := range slices.Sorted(maps.Keys(m.added.keys)) {
		r := m.added.keys[id]
		k, err := parseKey(r.Key)
		if err != nil {
			continue
		}
		i := KeyInfo{
			Signer:  signerOf(k),
			Revoked: r.Revoked,
			By:      r.By,
			At:      r.At,
		}
		for _, name := range slices.Sorted(maps.Keys(m.added.repos)) {
			if m.added.repos[name].Key == r.Key {
				i.Repositories = append(i.Repositories, name)
			}
		}
		out = append(out, i)
	}
	return out
}

// KeyInfo is a public key as feature:key-list shows it.
type KeyInfo struct {
	Signer
	Revoked      bool      `json:"revoked"`
	By           string    `json:"by"` // who trusted it, or revoked it
	At           time.Time `json:"at"`
	Repositories []string  `json:"repositories"`
}

// RevokeKey ends the trust in a public key on all nodes: what only its catalogues have does not run any more.
func (m *Manager) RevokeKey(ctx context.Context, id, by string) (Change, error) {
	var signer Signer
	c, err := m.runChange(ctx, func() (Change, error) {
		r, ok := m.added.keys[wholeID(id)]
		if !ok {
			return Change{}, fault.New(
				fault.NotFound,
				"no trusted public key %q%s",
				id,
				nearest.Hint(strings.ToUpper(id), slices.Collect(maps.Keys(m.added.keys))),
			)
		}
		k, err := parseKey(r.Key)
		if err != nil {
			return Change{}, err
		}
		signer = signerOf(k)
		next := m.added.clone()
		next.keys[signer.ID] = keyRecord{
			Key:     r.Key,
			By:      by,
			At:      time.Now().UTC(),
			Revoked: true,
		}
		return m.changeCatalogue(ctx, next, true, func(*state) {}, putJSON(keyPrefix+signer.ID, next.keys[signer.ID]))
	})
	if err == nil && m.o.Trusted != nil {
		m.o.Trusted(signer, by, false)
	}
	return c, err
}

// Verified is what feature:verify, or ctl features verify, found out about one plugin.
type Verified struct {
	Feature string `json:"feature"`
	Plugin  string `json:"plugin"`
	Origin  string `json:"origin,omitempty"` // of one that is installed
	Path    string `json:"path,omitempty"`   // of one that is only looked up
	SHA256  string `json:"sha256"`           // that the catalogue, or SHA256SUMS, demands; empty = neither does
	Fault   string `json:"fault,omitempty"`  // empty = all is as it should be
}

// Verify checks what is installed once more: signatures and keys of catalogues, the checksum of each file, and that
// what runs is that file. names are features; none = all that are started.
func (m *Manager) Verify(names []string) ([]Verified, error) {
	m.mu.Lock()
	target, repos := m.Active(), m.added
	m.mu.Unlock()
	for _, n := range names {
		if !target.Has(n) {
			return nil, fault.New(fault.NotFound, "feature %q is not started", n)
		}
	}
	var out []Verified
	for _, f := range target.Features {
		if len(names) > 0 && !slices.Contains(names, f.Name) {
			continue
		}
		for _, ref := range f.Plugins {
			p := target.Plugins[slices.IndexFunc(target.Plugins, func(p PluginSpec) bool {
				return p.Name == ref.Name
			})]
			v := Verified{
				Feature: f.Name,
				Plugin:  p.Name,
				Origin:  p.Origin,
				SHA256:  p.SHA256,
			}
			err := repos.repos[p.Repository].verifySignature(repos.keys)
			if err == nil {
				err = m.o.Plugins.Verify(p.Name)
			}
			if err != nil {
				v.Fault = err.Error()
			}
			out = append(out, v)
		}
	}
	return out, nil
}
