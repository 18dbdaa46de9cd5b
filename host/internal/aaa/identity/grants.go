package identity

import (
	"context"
	"slices"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// checkGrant checks that domain, user and role exist, in this order.
func (v view) checkGrant(g Grant) (grantKeys, error) {
	if _, err := v.findDomain(g.Domain); err != nil {
		return grantKeys{}, err
	}
	u, _, err := v.findUser(g.User)
	if err != nil {
		return grantKeys{}, err
	}
	r, err := v.findRole(g.Role)
	return grantKeys{u.Domain, u.Name, r.Domain, r.Name, g.Domain}, err
}

// CreateGrant gives a user a role in a domain.
func (s *Service) CreateGrant(ctx context.Context, g Grant) error {
	err := s.updateRecords(ctx, func(v view) ([]datastore.Op, error) {
		k, err := v.checkGrant(g)
		if err != nil {
			return nil, err
		}
		return k.putOps(), v.checkAbsent(k.byUser(), "grant", g.ID())
	})
	return s.auditChange(ctx, err, "create grant", g.ID())
}

// GrantedRoles lists the roles a user holds in a domain.
func (s *Service) GrantedRoles(ctx context.Context, domain, user string) ([]Role, error) {
	return readValue(ctx, s, func(v view) ([]Role, error) {
		if _, err := v.findDomain(domain); err != nil {
			return nil, err
		}
		u, _, err := v.findUser(user)
		if err != nil {
			return nil, err
		}
		grants, err := v.listGrants(joinKey("grant", u.Domain, u.Name) + "/")
		if err != nil {
			return nil, err
		}
		out := []Role{}
		for _, g := range grants {
			if g.domain != domain {
				continue
			}
			r, err := v.findRole(g.role + "@" + g.roleDomain)
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
		return out, nil
	})
}

// DeleteGrant takes a role from a user.
func (s *Service) DeleteGrant(ctx context.Context, g Grant) error {
	err := s.updateRecords(ctx, func(v view) ([]datastore.Op, error) {
		k, err := v.checkGrant(g)
		if err != nil {
			return nil, err
		}
		exists, err := v.hasRecord(k.byUser())
		if err == nil && !exists {
			err = fault.New(fault.NotFound, "grant %s does not exist", g.ID())
		}
		if err == nil && k.roleDomain == SDN && k.role == AdminRole && k.domain == SDN {
			err = v.keepAdmin(change{withoutUser: g.User})
		}
		return k.removeOps(), err
	})
	return s.auditChange(ctx, err, "delete grant", g.ID())
}

// Holders are the ids of the users who have a role of SDN in any domain, or for a while.
func (s *Service) Holders(ctx context.Context, role string) ([]string, error) {
	return readValue(ctx, s, func(v view) (ids []string, err error) {
		if ids, err = v.lentTo(role); err != nil {
			return nil, err
		}
		grants, err := v.listGrants(joinKey("granted", SDN, role) + "/")
		for _, g := range grants {
			if id := g.user + "@" + g.userDomain; !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		return ids, err
	})
}
