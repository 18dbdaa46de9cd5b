package identity

import (
	"context"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// Roles lists roles, by domain and name.
func (s *Service) Roles(ctx context.Context, p Page) ([]Role, error) {
	return listRecords(ctx, s, "role", p, func(parts []string, r roleRecord) Role {
		return Role{
			Name:        parts[2],
			Domain:      parts[1],
			Description: r.Description,
		}
	})
}

// Role returns one role; NotFound if the id does not exist.
func (s *Service) Role(ctx context.Context, id string) (Role, error) {
	return readValue(ctx, s, func(v view) (Role, error) { return v.findRole(id) })
}

// HasRole reports whether SDN has a role, by what this node knows: each decision of access control may ask it for many names, and is made
// also while the store does not answer. It says no of one that cannot be looked up.
func (s *Service) HasRole(name string) (there bool) {
	_, err := s.o.Store.Local(func(sn datastore.Snapshot) (err error) {
		there, err = s.viewOf(sn).hasRecord(roleKey(SDN, name))
		return err
	})
	return there && err == nil
}

func (v view) findRole(id string) (Role, error) {
	name, domain, ok := SplitID(id)
	if !ok {
		return Role{}, fault.New(fault.NotFound, "role %s does not exist", id)
	}
	r, err := findRecord[roleRecord](v, roleKey(domain, name), "role", id)
	return Role{
		Name:        name,
		Domain:      domain,
		Description: r.Description,
	}, err
}

// CreateRole adds a role.
func (s *Service) CreateRole(ctx context.Context, r Role) error {
	if err := checkNew("name", r.Name); err != nil {
		return err
	}
	if err := checkName("domainid", r.Domain); err != nil {
		return err
	}
	if err := checkText("description", r.Description); err != nil {
		return err
	}
	err := s.updateRecords(ctx, func(v view) ([]datastore.Op, error) {
		if _, err := v.findDomain(r.Domain); err != nil {
			return nil, err
		}
		return []datastore.Op{putRecord(
			roleKey(r.Domain, r.Name),
			roleRecord{r.Description},
		)}, v.checkAbsent(roleKey(r.Domain, r.Name), "role", r.ID())
	})
	return s.auditChange(ctx, err, "create role", r.ID())
}

// UpdateRole changes a role's description; nil leaves it.
func (s *Service) UpdateRole(
	ctx context.Context,
	id string,
	description *string,
) (r Role, err error) {
	if description != nil {
		if err := checkText("description", *description); err != nil {
			return r, err
		}
	}
	err = s.updateRecords(ctx, func(v view) ([]datastore.Op, error) {
		if r, err = v.findRole(id); err != nil {
			return nil, err
		}
		setIfGiven(&r.Description, description)
		return []datastore.Op{putRecord(roleKey(r.Domain, r.Name), roleRecord{r.Description})}, nil
	})
	return r, s.auditChange(ctx, err, "update role", id)
}

// DeleteRole removes a role and takes it from all who hold it.
func (s *Service) DeleteRole(ctx context.Context, id string) error {
	err := s.updateRecords(ctx, func(v view) ([]datastore.Op, error) {
		r, err := v.findRole(id)
		if err != nil {
			return nil, err
		}
		if r.Name == AdminRole && r.Domain == SDN {
			return nil, fault.New(
				fault.InUse,
				"the role %s cannot be deleted: without it no user could administer the controller",
				id,
			)
		}
		grants, err := v.listGrants(joinKey("granted", r.Domain, r.Name) + "/")
		ops := []datastore.Op{removeRecord(roleKey(r.Domain, r.Name))}
		for _, g := range grants {
			ops = append(ops, g.removeOps()...)
		}
		return ops, err
	})
	return s.auditChange(ctx, err, "delete role", id)
}
