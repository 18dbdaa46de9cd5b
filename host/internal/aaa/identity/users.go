package identity

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"strings"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

func userOf(parts []string, r userRecord) User {
	return User{
		Name:    parts[2],
		Domain:  parts[1],
		Profile: r.Profile,
		Enabled: r.Enabled,
	}
}

// afterKey turns the id a page begins after into its key.
func afterKey(kind, id string) string {
	if id == "" {
		return ""
	}
	if name, domain, ok := SplitID(id); ok {
		return joinKey(kind, domain, name)
	}
	return joinKey(kind, id)
}

// Users lists users, by domain and name.
func (s *Service) Users(ctx context.Context, p Page) ([]User, error) {
	return listRecords(ctx, s, "user", p, userOf)
}

// User returns one user; NotFound if the id does not exist.
func (s *Service) User(ctx context.Context, id string) (User, error) {
	return readValue(ctx, s, func(v view) (User, error) {
		u, _, err := v.findUser(id)
		return u, err
	})
}

func (v view) findUser(id string) (User, userRecord, error) {
	name, domain, ok := SplitID(id)
	if !ok {
		return User{}, userRecord{}, fault.New(fault.NotFound, "user %s does not exist", id)
	}
	r, err := findRecord[userRecord](v, userKey(domain, name), "user", id)
	return User{
		Name:    name,
		Domain:  domain,
		Profile: r.Profile,
		Enabled: r.Enabled,
	}, r, err
}

// CreateUser adds a user with a password.
func (s *Service) CreateUser(ctx context.Context, u User, password string) error {
	if err := s.checkUser(u); err != nil {
		return err
	}
	if err := s.checkPassword(password); err != nil {
		return err
	}
	record := userRecord{
		Profile: u.Profile,
		Enabled: u.Enabled,
		Epoch:   rand.Text(),
		Given:   true,
		Changed: s.now(),
		Created: s.o.Now().UTC(),
	}
	if err := s.readSnapshot(ctx, func(v view) error {
		return v.mayCreate(u)
	}); err != nil {
		return err // before the costly hash
	}
	var err error
	if record.Hash, err = s.hashPassword(ctx, u.ID(), password); err != nil {
		return err
	}
	err = s.updateRecords(ctx, func(v view) ([]datastore.Op, error) {
		return []datastore.Op{putRecord(userKey(u.Domain, u.Name), record)}, v.mayCreate(u)
	})
	return s.auditChange(ctx, err, "create user", u.ID())
}

func (v view) mayCreate(u User) error {
	if _, err := v.findDomain(u.Domain); err != nil {
		return err
	}
	return v.checkAbsent(userKey(u.Domain, u.Name), "user", u.ID())
}

func (s *Service) checkUser(u User) error {
	if err := checkNew("name", u.Name); err != nil {
		return err
	}
	if err := checkName("domainid", u.Domain); err != nil {
		return err
	}
	return u.Profile.checkFields()
}

func (s *Service) hashPassword(ctx context.Context, id, password string) ([]byte, error) {
	h, err := s.o.Hasher.Hash(ctx, password)
	if err != nil {
		return nil, err
	}
	return s.sealHash(id, h)
}

func (s *Service) sealHash(id, encoded string) ([]byte, error) {
	if s.o.Sealer == nil {
		return []byte(encoded), nil
	}
	return s.o.Sealer.Seal([]byte(encoded), sealPurpose(id))
}

func (s *Service) openHash(id string, sealed []byte) (string, error) {
	if s.o.Sealer == nil {
		return string(sealed), nil
	}
	plain, err := s.o.Sealer.Open(sealed, sealPurpose(id))
	return string(plain), err
}

// sealPurpose binds a sealed hash to its user, so that it cannot be moved to another.
func sealPurpose(id string) []byte {
	return []byte("aaa/password/" + id)
}

// UserChange is an update; nil members stay as they are.
type UserChange struct {
	Password *string
	Own      bool // the user chose the password, and knew the one before
	Enabled  *bool
	Profile  map[string]string // by name, see ProfileFields
}

// UpdateUser changes a user. A new password and disabling end all logins.
func (s *Service) UpdateUser(ctx context.Context, id string, c UserChange) (u User, err error) {
	var hash []byte
	var changed Profile
	changed.Set(c.Profile)
	if err := changed.checkFields(); err != nil {
		return u, err
	}
	if c.Password != nil {
		if err := s.checkPassword(*c.Password); err != nil {
			return u, err
		}
		if _, err := s.User(ctx, id); err != nil {
			return u, err
		}
		if err := s.checkPast(ctx, id, *c.Password); err != nil {
			return u, err
		}
		if hash, err = s.hashPassword(ctx, id, *c.Password); err != nil {
			return u, err
		}
	}
	err = s.updateRecords(ctx, func(v view) ([]datastore.Op, error) {
		var r userRecord
		if u, r, err = v.findUser(id); err != nil {
			return nil, err
		}
		r.Profile.Set(c.Profile)
		disabling := r.Enabled && c.Enabled != nil && !*c.Enabled
		setIfGiven(&r.Enabled, c.Enabled)
		var ops []datastore.Op
		if disabling {
			if err := v.keepAdmin(change{withoutUser: u.ID()}); err != nil {
				return nil, err
			}
		}
		if hash != nil {
			r.Past = r.lastHashes(max(s.o.History-1, 0))
			r.Hash, r.Changed, r.First, r.Given = hash, s.now(), false, !c.Own
		}
		if disabling || hash != nil {
			r.Epoch = rand.Text()
			if ops, err = s.dependentOps(v, u.ID()); err != nil {
				return nil, err
			}
		}
		u.Profile, u.Enabled = r.Profile, r.Enabled
		return append(ops, putRecord(userKey(u.Domain, u.Name), r)), nil
	})
	return u, s.auditChange(ctx, err, "update user", id+c.describeChange())
}

// describeChange names what an update changes, without the values.
func (c UserChange) describeChange() string {
	names := slices.Sorted(maps.Keys(c.Profile))
	if c.Password != nil {
		names = append(names, "password")
	}
	if c.Enabled != nil {
		names = append(names, map[bool]string{
			true:  "enabled",
			false: "disabled",
		}[*c.Enabled])
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return ": " + strings.Join(names, ", ")
}

func setIfGiven[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// DeleteUser removes a user with its grants, the requests that wait, and all that Dependents and Deleted name.
func (s *Service) DeleteUser(ctx context.Context, id string) error {
	err := s.updateRecords(ctx, func(v view) ([]datastore.Op, error) {
		u, _, err := v.findUser(id)
		if err != nil {
			return nil, err
		}
		if err := v.keepAdmin(change{withoutUser: id}); err != nil {
			return nil, err
		}
		return s.removeUser(v, u.Domain, u.Name)
	})
	return s.auditChange(ctx, err, "delete user", id)
}

func (s *Service) removeUser(v view, domain, name string) ([]datastore.Op, error) {
	ops, err := s.dependentOps(v, name+"@"+domain)
	if err != nil {
		return nil, err
	}
	if s.o.Deleted != nil {
		ops = append(ops, s.o.Deleted(name+"@"+domain)...)
	}
	requests, err := v.listRequests()
	if err != nil {
		return nil, err
	}
	for _, r := range requests { // those that were decided are kept, to be read
		if r.User == name+"@"+domain && r.State == RequestWaits {
			ops = append(ops, removeRecord(requestKey(r.ID)))
		}
	}
	grants, err := v.listGrants(joinKey("grant", domain, name) + "/")
	for _, g := range grants {
		ops = append(ops, g.removeOps()...)
	}
	return append(
		ops,
		datastore.DeletePrefix(namespace, keyPrefix(domain, name)),
		datastore.DeletePrefix(namespace, lentPrefix(domain, name)),
		removeRecord(userKey(domain, name)),
	), err
}

func (s *Service) dependentOps(v view, id string) ([]datastore.Op, error) {
	var ops []datastore.Op
	for _, d := range s.o.Dependents {
		more, err := d(v.sn, id)
		if err != nil {
			return nil, err
		}
		ops = slices.Concat(ops, more)
	}
	return ops, nil
}

// auditChange reports a committed change to the audit.
func (s *Service) auditChange(ctx context.Context, err error, action, object string) error {
	if err == nil {
		s.o.Audit(ctx, action, object)
	}
	return err
}
