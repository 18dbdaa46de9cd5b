package identity

import (
	"context"
	"strings"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// Domains lists domains by name.
func (s *Service) Domains(ctx context.Context, p Page) ([]Domain, error) {
	return list(ctx, s, "domain", p, func(parts []string, r domainRecord) Domain {
		return Domain{Name: parts[1], Description: r.Description, Enabled: r.Enabled}
	})
}

// Domain returns one domain; NotFound if the id does not exist.
func (s *Service) Domain(ctx context.Context, id string) (Domain, error) {
	return reading(ctx, s, func(v view) (Domain, error) { return v.domain(id) })
}

func (v view) domain(id string) (Domain, error) {
	if strings.Contains(id, "/") {
		return Domain{}, fault.New(fault.NotFound, "domain %s does not exist", id)
	}
	r, err := find[domainRecord](v, domainKey(id), "domain", id)
	return Domain{Name: id, Description: r.Description, Enabled: r.Enabled}, err
}

// CreateDomain adds a domain.
func (s *Service) CreateDomain(ctx context.Context, d Domain) error {
	if err := checkNew("name", d.Name); err != nil {
		return err
	}
	if err := checkText("description", d.Description); err != nil {
		return err
	}
	err := s.update(ctx, func(v view) ([]datastore.Op, error) {
		return []datastore.Op{put(domainKey(d.Name), domainRecord{d.Description, d.Enabled})}, v.absent(domainKey(d.Name), "domain", d.Name)
	})
	return s.done(ctx, err, "create domain", d.Name)
}

// DomainChange is an update; nil members stay as they are.
type DomainChange struct {
	Description *string
	Enabled     *bool
}

// UpdateDomain changes a domain. Users of a disabled one cannot log in, at once.
func (s *Service) UpdateDomain(ctx context.Context, id string, c DomainChange) (d Domain, err error) {
	if c.Description != nil {
		if err := checkText("description", *c.Description); err != nil {
			return d, err
		}
	}
	err = s.update(ctx, func(v view) ([]datastore.Op, error) {
		if d, err = v.domain(id); err != nil {
			return nil, err
		}
		if d.Enabled && c.Enabled != nil && !*c.Enabled {
			if err := v.keepAdmin(change{withoutDomain: id}); err != nil {
				return nil, err
			}
		}
		set(&d.Description, c.Description)
		set(&d.Enabled, c.Enabled)
		return []datastore.Op{put(domainKey(id), domainRecord{d.Description, d.Enabled})}, nil
	})
	return d, s.done(ctx, err, "update domain", id)
}

// DeleteDomain removes a domain with its users, its roles and every grant that
// names one of them.
func (s *Service) DeleteDomain(ctx context.Context, id string) error {
	err := s.update(ctx, func(v view) ([]datastore.Op, error) {
		if _, err := v.domain(id); err != nil {
			return nil, err
		}
		if err := v.keepAdmin(change{withoutDomain: id}); err != nil {
			return nil, err
		}
		ops := []datastore.Op{remove(domainKey(id)), datastore.DeletePrefix(namespace, join("role", id)+"/")}
		for e, err := range v.sn.Range(namespace, datastore.RangeOptions{Prefix: join("user", id) + "/"}) {
			if err != nil {
				return nil, err
			}
			more, err := s.removeUser(v, id, e.Key[strings.LastIndex(e.Key, "/")+1:])
			if err != nil {
				return nil, err
			}
			ops = append(ops, more...)
		}
		for _, prefix := range []string{join("granted", id), join("within", id)} {
			grants, err := v.grants(prefix + "/")
			if err != nil {
				return nil, err
			}
			for _, g := range grants {
				ops = append(ops, g.remove()...)
			}
		}
		return ops, nil
	})
	return s.done(ctx, err, "delete domain", id)
}
