package authn

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"regexp"

	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/aaa/secini"
	"ctl.internal/sdk/realm"
)

// iniRealm holds the users that [users] of sec.ini lists: `name = password, role, role`.
type iniRealm struct {
	users  map[string]iniUser
	hasher *password.Hasher
	decoy  *password.Stored // computed for those whose password is not hashed; nil: no password is
}

// iniUser has a password as it is written, or in a stored form.
type iniUser struct {
	plain  [sha256.Size]byte
	stored *password.Stored
	roles  []string
}

// INIRealm returns the realm of the file's [users] section; hasher verifies passwords that are stored as hashes.
func INIRealm(f *secini.File, hasher *password.Hasher) (realm.Realm, error) {
	r := iniRealm{users: map[string]iniUser{}, hasher: hasher}
	var errs []error
	for _, entry := range f.Users {
		u, err := readUser(f, entry)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		r.users[entry.Key] = u
		if r.decoy == nil {
			r.decoy = u.stored
		}
	}
	return r, errors.Join(errs...)
}

// INIWarnings calls warn for each password of [users] that should be stored in a better form.
func INIWarnings(f *secini.File, warn func(line int, format string, args ...any)) {
	const better = "store it as argon2id, such as the program argon2 writes it: printf %%s PASSWORD | argon2 \"$(openssl rand -hex 8)\" -id -t 2 -m 15 -e"
	for _, entry := range f.Users {
		switch u, err := readUser(f, entry); {
		case err != nil:
		case u.stored == nil:
			warn(
				entry.Value.Line,
				"the password of %q can be read in this file; "+better,
				entry.Key,
			)
		case u.stored.Weak():
			warn(entry.Value.Line, "the hash of the password of %q is weak; "+better, entry.Key)
		}
	}
}

// parameter is a part of an argon2 hash that is cut off at the commas between its parameters.
var parameter = regexp.MustCompile(`^[mtp]=\d+(\$|$)`)

func readUser(f *secini.File, entry secini.Entry) (u iniUser, err error) {
	line := entry.Value.Line
	words, err := f.Words(entry.Value)
	if err != nil {
		return u, err
	}
	if words[0] == "" {
		return u, f.Errorf(
			line,
			"user %q has no password; write `name = password, role`",
			entry.Key,
		)
	}
	text, roles := words[0], words[1:]
	if !password.IsStored(text) {
		u.plain, u.roles = sha256.Sum256([]byte(text)), roles
		return u, nil
	}
	for len(roles) > 0 && parameter.MatchString(roles[0]) {
		text, roles = text+","+roles[0], roles[1:]
	}
	stored, err := password.ParseStored(text)
	if err != nil {
		return u, f.Errorf(line, "user %q: %v", entry.Key, err)
	}
	u.stored, u.roles = &stored, roles
	return u, nil
}

// Authenticate takes a time that does not tell whether there is a user of the name.
func (r iniRealm) Authenticate(ctx context.Context, c realm.Credentials) (realm.Result, error) {
	u := r.users[c.User]
	stored := u.stored
	if stored == nil {
		stored = r.decoy
	}
	var ok bool
	if stored != nil {
		var err error
		if ok, err = r.hasher.Matches(ctx, c.Password, *stored); err != nil {
			return realm.Result{}, err
		}
	}
	if u.stored == nil {
		sum := sha256.Sum256([]byte(c.Password))
		ok = subtle.ConstantTimeCompare(sum[:], u.plain[:]) == 1
	}
	if !ok || (c.Domain != "" && c.Domain != "sdn") {
		return realm.Result{Outcome: realm.Unknown}, nil
	}
	return realm.Result{
		Outcome:   realm.Authenticated,
		Principal: c.User,
		Roles:     u.roles,
	}, nil
}

// Find implements realm.Finder: the users are in the file.
func (r iniRealm) Find(_ context.Context, user, domain string) (realm.Result, error) {
	u, ok := r.users[user]
	if !ok || domain != "" && domain != "sdn" {
		return realm.Result{Outcome: realm.Unknown}, nil
	}
	return realm.Result{
		Outcome:   realm.Authenticated,
		Principal: user,
		Roles:     u.roles,
	}, nil
}

// Close does nothing.
func (r iniRealm) Close() error { return nil }
