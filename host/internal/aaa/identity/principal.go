package identity

import (
	"context"
	"errors"
	"slices"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// cached is a principal, or no principal, as it was found in a generation that was read before it was
// loaded: a change makes all of them stale at once, and a load that a change overtook is never used.
type cached struct {
	generation uint64
	p          *Principal
}

// Bounds of what is remembered; names of absent users are made up by those who guess.
const (
	maxPrincipals = 131_072
	maxAbsent     = 16_384
	maxAbsentName = 256
)

// Principal returns the current state of a user; NotFound if the user does not exist.
func (s *Service) Principal(_ context.Context, id string) (*Principal, error) {
	now := s.generation.Load()
	c, ok := s.principals.Get(id)
	if ok && c.generation == now && (c.p.Until.IsZero() || s.o.Now().Before(c.p.Until)) {
		return c.p, nil
	}
	var p *Principal
	// What this node knows is as new as its generation, and is there without the cluster.
	_, err := s.o.Store.Local(func(sn datastore.Snapshot) (err error) {
		p, _, err = s.viewOf(sn).findPrincipal(id)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.principals.Put(id, cached{now, p}, nil)
	return p, nil
}

func (v view) findPrincipal(id string) (*Principal, userRecord, error) {
	u, r, err := v.findUser(id)
	if err != nil {
		return nil, r, err
	}
	p := &Principal{
		Name:        u.Name,
		Domain:      u.Domain,
		Epoch:       r.Epoch,
		PasswordSet: r.Changed,
		First:       r.First,
		Given:       r.Given,
	}
	own, err := v.enabledDomain(u.Domain, change{})
	if err != nil {
		return nil, r, err
	}
	sdn, err := v.enabledDomain(SDN, change{})
	if err != nil {
		return nil, r, err
	}
	p.Active = r.Enabled && own && sdn
	grants, err := v.listGrants(joinKey("grant", u.Domain, u.Name, SDN) + "/")
	for _, g := range grants {
		if g.domain == SDN {
			p.Roles = append(p.Roles, g.role)
		}
	}
	if err == nil {
		err = v.addLent(p)
	}
	slices.Sort(p.Roles)
	return p, r, err
}

// Admins returns the role sets of all administrators who may log in, each set once.
func (s *Service) Admins(ctx context.Context) ([][]string, error) {
	var out [][]string
	err := s.readSnapshot(ctx, func(v view) error {
		var inner error
		err := v.eachAdmin(change{}, func(id string) bool {
			var p *Principal
			if p, _, inner = v.findPrincipal(id); inner != nil {
				return false
			}
			if !slices.ContainsFunc(out, func(r []string) bool {
				return slices.Equal(r, p.Roles)
			}) {
				out = append(out, p.Roles)
			}
			return true
		})
		return errors.Join(err, inner)
	})
	return out, err
}

// Verify checks a user's password. It does the same work for an unknown or
// disabled user as for a known one; nil without an error means "no".
func (s *Service) Verify(ctx context.Context, name, domain, password string) (*Principal, error) {
	p, worked, err := s.Match(ctx, name, domain, password)
	if err == nil && !worked {
		err = s.Waste(ctx, password)
	}
	return p, err
}

// Match is Verify for a caller that has others to ask: for a user who cannot log in
// here it does no work, says so, and leaves the Waste to the caller, who owes it
// before anybody learns of a refusal.
func (s *Service) Match(
	ctx context.Context,
	name, domain, password string,
) (p *Principal, worked bool, err error) {
	id, now := Typed(name)+"@"+domain, s.generation.Load()
	if a, ok := s.absent.Get(id); ok && a.generation == now {
		return nil, false, nil
	}
	var r userRecord
	err = s.readSnapshot(ctx, func(v view) (err error) {
		p, r, err = v.findPrincipal(id)
		return err
	})
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return nil, false, err
	}
	if err != nil && len(id) <= maxAbsentName {
		s.absent.Put(id, cached{generation: now}, nil)
	}
	if err != nil || !p.MayLogIn() {
		return nil, false, nil
	}
	encoded, err := s.openHash(p.ID(), r.Hash)
	if err != nil {
		return nil, false, err
	}
	ok, outdated, err := s.o.Hasher.Verify(ctx, password, encoded)
	if err != nil || !ok {
		return nil, true, err
	}
	if outdated {
		s.rehashPassword(ctx, p, password)
	}
	return p, true, nil
}

// Waste does the work of verifying a password, for nothing.
func (s *Service) Waste(ctx context.Context, password string) error {
	return s.o.Hasher.Waste(ctx, password)
}

// rehashPassword stores the password's hash again; when that fails the old one stays.
func (s *Service) rehashPassword(ctx context.Context, p *Principal, password string) {
	hash, err := s.hashPassword(ctx, p.ID(), password)
	if err != nil {
		return
	}
	_ = s.updateRecords(ctx, func(v view) ([]datastore.Op, error) {
		u, r, err := v.findUser(p.ID())
		if err != nil || r.Epoch != p.Epoch {
			return nil, err
		}
		r.Hash = hash
		return []datastore.Op{putRecord(userKey(u.Domain, u.Name), r)}, nil
	})
}

// HowToChange names the calls by which users change their own password.
const HowToChange = "change it with POST /auth/password, `idmtool USER change-own-password`, or `aaa:change-own-pwd` over SSH"

// MustChange says why a user has to choose another password before anything else, empty when not.
func (s *Service) MustChange(p *Principal) string {
	switch {
	case p == nil:
		return ""
	case s.o.ChangeFirst && p.First:
		return "the password was made at random for the first login; " + HowToChange
	case s.o.ChangeGiven && p.Given:
		return "the password was chosen by an administrator, and must be changed at the first login; " + HowToChange
	case s.o.MaxAge > 0 && !p.PasswordSet.IsZero() && s.o.Now().Sub(p.PasswordSet) > s.o.MaxAge:
		return "the password has expired; " + HowToChange
	}
	return ""
}

// MayDemand reports whether MustChange can ever say something.
func (s *Service) MayDemand() bool {
	return s.o.ChangeFirst || s.o.ChangeGiven || s.o.MaxAge > 0
}

func (s *Service) now() time.Time {
	return s.o.Now().UTC().Truncate(time.Second)
}
