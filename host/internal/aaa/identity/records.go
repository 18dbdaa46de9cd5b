package identity

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// The layout of the namespace. Names hold no slash, so keys cannot be confused.
//
//	user/DOMAIN/NAME                                 userRecord
//	role/DOMAIN/NAME                                 roleRecord
//	domain/NAME                                      domainRecord
//	grant/UDOMAIN/UNAME/RDOMAIN/RNAME/DOMAIN         by user: the grant itself
//	granted/RDOMAIN/RNAME/UDOMAIN/UNAME/DOMAIN       the same by role
//	within/DOMAIN/UDOMAIN/UNAME/RDOMAIN/RNAME        the same by domain
//	key/DOMAIN/NAME/FINGERPRINT                      keyRecord
//	guard                                            rewritten by every transaction
const (
	namespace = "aaa-identity"
	guardKey  = "guard"
)

type userRecord struct {
	Profile
	Enabled bool   `json:"enabled"`
	Epoch   string `json:"epoch"`
	Hash    []byte `json:"hash"` // sealed

	Changed time.Time `json:"changed,omitzero"` // the password
	First   bool      `json:"first,omitempty"`  // the password was made at random

	Created time.Time `json:"created,omitzero"` // zero of users of earlier releases
}

type roleRecord struct {
	Description string `json:"description,omitempty"`
}

type domainRecord struct {
	Description string `json:"description,omitempty"`
	Enabled     bool   `json:"enabled"`
}

func join(parts ...string) string { return strings.Join(parts, "/") }

func userKey(domain, name string) string { return join("user", domain, name) }
func roleKey(domain, name string) string { return join("role", domain, name) }
func domainKey(name string) string       { return join("domain", name) }

// grantKeys are the three keys of one grant.
type grantKeys struct{ userDomain, user, roleDomain, role, domain string }

func (g grantKeys) byUser() string {
	return join("grant", g.userDomain, g.user, g.roleDomain, g.role, g.domain)
}

func (g grantKeys) byRole() string {
	return join("granted", g.roleDomain, g.role, g.userDomain, g.user, g.domain)
}

func (g grantKeys) byDomain() string {
	return join("within", g.domain, g.userDomain, g.user, g.roleDomain, g.role)
}

func (g grantKeys) put() []datastore.Op {
	return []datastore.Op{put(g.byUser(), nil), put(g.byRole(), nil), put(g.byDomain(), nil)}
}

func (g grantKeys) remove() []datastore.Op {
	return []datastore.Op{remove(g.byUser()), remove(g.byRole()), remove(g.byDomain())}
}

// parseGrant reads any of the three keys.
func parseGrant(key string) grantKeys {
	p := strings.Split(key, "/")
	if len(p) != 6 {
		return grantKeys{}
	}
	switch p[0] {
	case "grant":
		return grantKeys{p[1], p[2], p[3], p[4], p[5]}
	case "granted":
		return grantKeys{p[3], p[4], p[1], p[2], p[5]}
	}
	return grantKeys{p[2], p[3], p[4], p[5], p[1]}
}

func put(key string, record any) datastore.Op {
	if record == nil {
		return datastore.Put(namespace, key, nil)
	}
	data, err := json.Marshal(record)
	if err != nil {
		panic(err) // records are plain structs: it cannot fail
	}
	return datastore.Put(namespace, key, data)
}

func remove(key string) datastore.Op { return datastore.Delete(namespace, key) }

// view reads records of one snapshot.
type view struct{ sn datastore.Snapshot }

func get[T any](v view, key string) (T, error) {
	e, err := v.sn.Get(namespace, key)
	if err != nil {
		var none T
		return none, err
	}
	return decode[T](e)
}

func decode[T any](e datastore.Entry) (r T, err error) {
	if err := json.Unmarshal(e.Value, &r); err != nil {
		return r, fault.Wrap(fault.Internal, err, "an identity record is damaged")
	}
	return r, nil
}

// find is get with a NotFound fault that names the thing.
func find[T any](v view, key, what, id string) (T, error) {
	r, err := get[T](v, key)
	if errors.Is(err, datastore.ErrNotFound) {
		return r, fault.New(fault.NotFound, "%s %s does not exist", what, id)
	}
	return r, err
}

// revision is that of a record, 0 if there is none.
func (v view) revision(key string) (datastore.Revision, error) {
	e, err := v.sn.Get(namespace, key)
	if errors.Is(err, datastore.ErrNotFound) {
		return 0, nil
	}
	return e.Revision, err
}

func (v view) has(key string) (bool, error) {
	r, err := v.revision(key)
	return r > 0, err
}

// absent is an Exists fault when the key of a new thing is there already.
func (v view) absent(key, what, id string) error {
	exists, err := v.has(key)
	if exists {
		return fault.New(fault.Exists, "%s %s exists already", what, id)
	}
	return err
}

// grants lists the grants under a prefix of any of the three indexes.
func (v view) grants(prefix string) ([]grantKeys, error) {
	var out []grantKeys
	for e, err := range v.sn.Range(namespace, datastore.RangeOptions{Prefix: prefix}) {
		if err != nil {
			return nil, err
		}
		out = append(out, parseGrant(e.Key))
	}
	return out, nil
}

// list reads one page of the records of a kind, in the order of keys.
func list[R, T any](ctx context.Context, s *Service, kind string, p Page, build func(parts []string, r R) T) ([]T, error) {
	return reading(ctx, s, func(v view) ([]T, error) {
		out := []T{}
		for e, err := range v.sn.Range(namespace, datastore.RangeOptions{Prefix: kind + "/", After: afterKey(kind, p.After), Limit: p.Limit}) {
			if err != nil {
				return nil, err
			}
			r, err := decode[R](e)
			if err != nil {
				return nil, err
			}
			out = append(out, build(strings.Split(e.Key, "/"), r))
		}
		return out, nil
	})
}

// reading returns what f reads.
func reading[T any](ctx context.Context, s *Service, f func(v view) (T, error)) (out T, err error) {
	err = s.read(ctx, func(v view) error {
		out, err = f(v)
		return err
	})
	return out, err
}
