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
//	request/ID                                       Request
//	lent/DOMAIN/NAME/ROLE                            lentRecord
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
	Given   bool      `json:"given,omitempty"`  // another than the user chose the password
	Past    [][]byte  `json:"past,omitempty"`   // earlier hashes, sealed, the latest first

	Created time.Time `json:"created,omitzero"` // zero of users of earlier releases
}

type roleRecord struct {
	Description string `json:"description,omitempty"`
}

type domainRecord struct {
	Description string `json:"description,omitempty"`
	Enabled     bool   `json:"enabled"`
}

func joinKey(parts ...string) string {
	return strings.Join(parts, "/")
}

func userKey(domain, name string) string {
	return joinKey("user", domain, name)
}
func roleKey(domain, name string) string {
	return joinKey("role", domain, name)
}
func domainKey(name string) string {
	return joinKey("domain", name)
}

// grantKeys are the three keys of one grant.
type grantKeys struct{ userDomain, user, roleDomain, role, domain string }

func (g grantKeys) byUser() string {
	return joinKey("grant", g.userDomain, g.user, g.roleDomain, g.role, g.domain)
}

func (g grantKeys) byRole() string {
	return joinKey("granted", g.roleDomain, g.role, g.userDomain, g.user, g.domain)
}

func (g grantKeys) byDomain() string {
	return joinKey("within", g.domain, g.userDomain, g.user, g.roleDomain, g.role)
}

func (g grantKeys) putOps() []datastore.Op {
	return []datastore.Op{putRecord(g.byUser(), nil), putRecord(g.byRole(), nil), putRecord(g.byDomain(), nil)}
}

func (g grantKeys) removeOps() []datastore.Op {
	return []datastore.Op{removeRecord(g.byUser()), removeRecord(g.byRole()), removeRecord(g.byDomain())}
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

func putRecord(key string, record any) datastore.Op {
	if record == nil {
		return datastore.Put(namespace, key, nil)
	}
	data, err := json.Marshal(record)
	if err != nil {
		panic(err) // records are plain structs: it cannot fail
	}
	return datastore.Put(namespace, key, data)
}

func removeRecord(key string) datastore.Op {
	return datastore.Delete(namespace, key)
}

// view reads records of one snapshot.
type view struct {
	sn  datastore.Snapshot
	now time.Time
}

func getRecord[T any](v view, key string) (T, error) {
	e, err := v.sn.Get(namespace, key)
	if err != nil {
		var none T
		return none, err
	}
	return decodeRecord[T](e)
}

func decodeRecord[T any](e datastore.Entry) (r T, err error) {
	if err := json.Unmarshal(e.Value, &r); err != nil {
		return r, fault.Wrap(fault.Internal, err, "an identity record is damaged")
	}
	return r, nil
}

// findRecord is get with a NotFound fault that names the thing.
func findRecord[T any](v view, key, what, id string) (T, error) {
	r, err := getRecord[T](v, key)
	if errors.Is(err, datastore.ErrNotFound) {
		return r, fault.New(fault.NotFound, "%s %s does not exist", what, id)
	}
	return r, err
}

// recordRevision is that of a record, 0 if there is none.
func (v view) recordRevision(key string) (datastore.Revision, error) {
	e, err := v.sn.Get(namespace, key)
	if errors.Is(err, datastore.ErrNotFound) {
		return 0, nil
	}
	return e.Revision, err
}

func (v view) hasRecord(key string) (bool, error) {
	r, err := v.recordRevision(key)
	return r > 0, err
}

// checkAbsent is an Exists fault when the key of a new thing is there already.
func (v view) checkAbsent(key, what, id string) error {
	exists, err := v.hasRecord(key)
	if exists {
		return fault.New(fault.Exists, "%s %s exists already", what, id)
	}
	return err
}

// listGrants lists the grants under a prefix of any of the three indexes.
func (v view) listGrants(prefix string) ([]grantKeys, error) {
	var out []grantKeys
	for e, err := range v.sn.Range(namespace, datastore.RangeOptions{Prefix: prefix}) {
		if err != nil {
			return nil, err
		}
		out = append(out, parseGrant(e.Key))
	}
	return out, nil
}

// listRecords reads one page of the records of a kind, in the order of keys.
func listRecords[R, T any](
	ctx context.Context,
	s *Service,
	kind string,
	p Page,
	build func(parts []string, r R) T,
) ([]T, error) {
	return readValue(ctx, s, func(v view) ([]T, error) {
		out := []T{}
		for e, err := range v.sn.Range(
			namespace,
			datastore.RangeOptions{
				Prefix: kind + "/",
				After:  afterKey(kind, p.After),
				Limit:  p.Limit,
			},
		) {
			if err != nil {
				return nil, err
			}
			r, err := decodeRecord[R](e)
			if err != nil {
				return nil, err
			}
			out = append(out, build(strings.Split(e.Key, "/"), r))
		}
		return out, nil
	})
}

// readValue returns what f reads.
func readValue[T any](
	ctx context.Context,
	s *Service,
	f func(v view) (T, error),
) (out T, err error) {
	err = s.readSnapshot(ctx, func(v view) error {
		out, err = f(v)
		return err
	})
	return out, err
}
