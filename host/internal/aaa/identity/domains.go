package identity

import (
	"context"
	"strings"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// Domains lists domains by name.
func (s *Service) Domains(ctx context.Context, p Page) ([]Domain, error) {
	return listRecords(ctx, s, "domain", p, func(parts []string, r domainRecord) Domain {
		return Domain{
			Name:        parts[1],
			Description: r.Description,
			Enabled:     r.Enabled,
		}
	})
}

// Domain returns one domain; NotFound if the id does not exist.
func (s *Service) Domain(ctx context.Context, id string) (Domain, error) {
	return readValue(ctx, s, func(v view) (Domain, error) { return v.findDomain(id) })
}

func (v view) findDomain(id string) (Domain, error) {
	if strings.Contains(id, "/") {
		return Domain{}, fault.New(fault.NotFound, "domain %s does not exist", id)
	}
	r, err := findRecord[domainRecord](v, domainKey(id), "domain", id)
	return Domain{
		Name:        id,
		Description: r.Description,
		Enabled:     r.Enabled,
	}, err
}

// CreateDomain adds a domain.
func (s *Service) CreateDomain(ctx context.Context, d Domain) error {
	if err := checkNew("name", d.Name); err != nil {
		return err
	}
	if err := checkText("description", d.Description); err != nil {
		return err
	}
	if why := s.o.NoDomain(d.Name); why != "" {
		return invalidField("name", "%s", why)
	}
	err := s.updateRecords(ctx, func(v view) ([]datastore.Op, error) {
		return []datastore.Op{putRecord(
			domainKey(d.Name),
			domainRecord{d.Description, d.Enabled},
		)}, v.checkAbsent(domainKey(d.Name), "domain", d.Name)
	})
	return s.auditChange(ctx, err, "create domain", d.Name)
}

// DomainChange is an update; nil members stay as they are.
type DomainChange struct {
	Description *string
	Enabled     *bool
}

// UpdateDomain changes a domain. Users of a disabled one cannot log in, at once.
func (s *Service) UpdateDomain(
	ctx context.Context,
	id string,
	c DomainChange,
) (d Domain, err error) {
	if c.Description != nil {
		if err := checkText("description", *c.Description); err != nil {
			return d, err
		}
	}
	err = s.updateRecords(ctx, func(v view) ([]datastore.Op, error) {
		if d, err = v.findDomain(id); err != nil {
			return nil, err
		}
		if d.Enabled && c.Enabled != nil && !*c.Enabled {
			if err := v.keepAdmin(change{withoutDomain: id}); err != nil {
				return nil, err
			}
		}
		setIfGiven(&d.Description, c.Description)
		setIfGiven(&d.Enabled, c.Enabled)
		return []datastore.Op{putRecord(domainKey(id), domainRecord{d.Description, d.Enabled})}, nil
	})
	return d, s.auditChange(ctx, err, "update domain", id)
}

// DeleteDomain removes a domain with its users, its roles and every grant that
// names one of them.
func (s *Service) DeleteDomain(ctx context.Context, id string) error {
	err := s.updateRecords(ctx, func(v view) ([]datastore.Op, error) {
		if _, err := v.findDomain(id); err != nil {
			return nil, err
		}
		if err := v.keepAdmin(change{withoutDomain: id}); err != nil {
			return nil, err
		}
		ops := []datastore.Op{removeRecord(domainKey(id)), datastore.DeletePrefix(namespace, joinKey("role", id)+"/")}
		for e, err := range v.sn.Range(
			namespace,
			datastore.RangeOptions{Prefix: joinKey("user", id) + "/"},
		) {
			if err != nil {
				return nil, err
			}
			more, err := s.removeUser(v, id, e.Key[strings.LastIndex(e.Key, "/")+1:])
			if err != nil {
				return nil, err
			}
			ops = append(ops, more...)
		}
		for _, prefix := range []string{joinKey("granted", id), joinKey("within", id)} {
			grants, err := v.listGrants(prefix + "/")
			if err != nil {
				return nil, err
			}
			for _, g := range grants {
				ops = append(ops, g.removeOps()...)
			}
		}
		return ops, nil
	})
	return s.auditChange(ctx, err, "delete domain", id)
}
