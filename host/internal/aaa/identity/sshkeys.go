package identity

import (
	"context"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// The bounds of the SSH keys of a user.
const (
	maxKeys       = 32
	maxKeyLine    = 16 << 10 // bytes
	maxKeyComment = 256
	minRSA        = 2048 // bits
)

// SSHKey is a public key by which a user may log in at the console.
type SSHKey struct {
	ID          string    `json:"id"`          // the fingerprint in a form that a URL may have
	Fingerprint string    `json:"fingerprint"` // as ssh-keygen -l shows it
	Type        string    `json:"type"`
	Comment     string    `json:"comment"`
	Added       time.Time `json:"added"`
}

type keyRecord struct {
	Type    string    `json:"type"`
	Comment string    `json:"comment,omitempty"`
	Added   time.Time `json:"added"`
}

func keyPrefix(domain, name string) string {
	return joinKey("key", domain, name) + "/"
}

// keyID is the SHA-256 fingerprint of a key in base64 for URLs; 43 characters.
func keyID(key ssh.PublicKey) string {
	sum, _ := base64.RawStdEncoding.DecodeString(strings.TrimPrefix(ssh.FingerprintSHA256(key), "SHA256:"))
	return base64.RawURLEncoding.EncodeToString(sum)
}

func fingerprintOf(id string) string {
	sum, _ := base64.RawURLEncoding.DecodeString(id)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum)
}

// ParseKey reads a line of OpenSSH's authorized_keys form. A line with options is refused: what they demand would not
// be kept.
func ParseKey(line string) (key ssh.PublicKey, comment string, err error) {
	if len(line) > maxKeyLine {
		return nil, "", fault.New(fault.TooBig, "a public key has at most %d bytes", maxKeyLine)
	}
	key, comment, options, rest, err := ssh.ParseAuthorizedKey([]byte(line))
	switch {
	case err != nil || strings.TrimSpace(string(rest)) != "":
		return nil, "", fault.New(
			fault.Invalid,
			"this is not one public key in OpenSSH's form; send the line of the file that ends in .pub, such as ssh-ed25519 AAAA… name",
		)
	case len(options) > 0:
		return nil, "", fault.New(
			fault.Invalid,
			"options before a key (%s) are not supported; send the key without them",
			strings.Join(options, ","),
		)
	case len(comment) > maxKeyComment:
		return nil, "", fault.New(
			fault.TooBig,
			"the comment of a key has at most %d bytes",
			maxKeyComment,
		)
	}
	if err := checkText("comment", comment); err != nil {
		return nil, "", err
	}
	crypto, ok := key.(ssh.CryptoPublicKey)
	_, certificate := key.(*ssh.Certificate)
	if !ok || certificate || key.Type() == "ssh-dss" {
		return nil, "", fault.New(
			fault.Invalid,
			"keys of type %s are not accepted; make one with ssh-keygen -t ed25519",
			key.Type(),
		)
	}
	if r, ok := crypto.CryptoPublicKey().(*rsa.PublicKey); ok && r.N.BitLen() < minRSA {
		return nil, "", fault.New(
			fault.Invalid,
			"an RSA key of %d bits is too short, %d are needed; make one with ssh-keygen -t ed25519",
			r.N.BitLen(),
			minRSA,
		)
	}
	return key, comment, nil
}

// userWithKeys returns a user and the keys that this user has.
func (v view) userWithKeys(id string) (u User, have []SSHKey, err error) {
	if u, _, err = v.findUser(id); err == nil {
		have, err = v.listSSHKeys(u.Domain, u.Name)
	}
	return u, have, err
}

// AddKey gives a user a key to log in with. One that the user has already changes nothing.
func (s *Service) AddKey(ctx context.Context, id, line string) (k SSHKey, err error) {
	key, comment, err := ParseKey(line)
	if err != nil {
		return k, err
	}
	added := false
	err = s.updateRecords(ctx, func(v view) ([]datastore.Op, error) {
		added = false
		u, have, err := v.userWithKeys(id)
		if err != nil {
			return nil, err
		}
		k = SSHKey{
			ID:          keyID(key),
			Fingerprint: ssh.FingerprintSHA256(key),
			Type:        key.Type(),
			Comment:     comment,
			Added:       s.now().UTC(),
		}
		if at := slices.IndexFunc(have, func(o SSHKey) bool {
			return o.ID == k.ID
		}); at >= 0 {
			k = have[at]
			return nil, nil
		}
		if len(have) >= maxKeys {
			return nil, fault.New(
				fault.InUse,
				"user %s has %d SSH keys, the most; remove one first",
				id,
				maxKeys,
			)
		}
		added = true
		return []datastore.Op{putRecord(
			keyPrefix(u.Domain, u.Name)+k.ID,
			keyRecord{k.Type, k.Comment, k.Added},
		)}, nil
	})
	if err != nil || !added {
		return k, err
	}
	return k, s.auditChange(ctx, nil, "add ssh key", id+" "+k.Fingerprint)
}

// RemoveKey takes a key from a user; it is named by its id or its fingerprint.
func (s *Service) RemoveKey(ctx context.Context, id, key string) error {
	if sum, ok := strings.CutPrefix(key, "SHA256:"); ok {
		key = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(sum, "="))
	}
	err := s.updateRecords(ctx, func(v view) ([]datastore.Op, error) {
		u, have, err := v.userWithKeys(id)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(have, func(o SSHKey) bool { return o.ID == key }) {
			return nil, fault.New(fault.NotFound, "user %s has no SSH key %s", id, key)
		}
		return []datastore.Op{removeRecord(keyPrefix(u.Domain, u.Name) + key)}, nil
	})
	return s.auditChange(ctx, err, "remove ssh key", id+" "+fingerprintOf(key))
}

// Keys lists the keys of a user, the oldest first.
func (s *Service) Keys(ctx context.Context, id string) ([]SSHKey, error) {
	return readValue(ctx, s, func(v view) ([]SSHKey, error) {
		u, _, err := v.findUser(id)
		if err != nil {
			return nil, err
		}
		return v.listSSHKeys(u.Domain, u.Name)
	})
}

// HasKey reports whether a user may log in with a key.
func (s *Service) HasKey(ctx context.Context, id string, key ssh.PublicKey) (bool, error) {
	return readValue(ctx, s, func(v view) (bool, error) {
		u, _, err := v.findUser(id)
		if err != nil {
			return false, err
		}
		return v.hasRecord(keyPrefix(u.Domain, u.Name) + keyID(key))
	})
}

// CreatedAfter reports whether a user was made after a time. Of users of earlier releases that is not known.
func (s *Service) CreatedAfter(ctx context.Context, id string, t time.Time) (bool, error) {
	return readValue(ctx, s, func(v view) (bool, error) {
		_, r, err := v.findUser(id)
		return r.Created.After(t), err
	})
}

func (v view) listSSHKeys(domain, name string) ([]SSHKey, error) {
	prefix := keyPrefix(domain, name)
	out := []SSHKey{}
	for e, err := range v.sn.Range(namespace, datastore.RangeOptions{Prefix: prefix}) {
		if err != nil {
			return nil, err
		}
		r, err := decodeRecord[keyRecord](e)
		if err != nil {
			return nil, err
		}
		id := strings.TrimPrefix(e.Key, prefix)
		out = append(out, SSHKey{id, fingerprintOf(id), r.Type, r.Comment, r.Added})
	}
	slices.SortStableFunc(out, func(a, b SSHKey) int { return a.Added.Compare(b.Added) })
	return out, nil
}

// errNoKey is what a login by a key that the user does not have is refused with.
var errNoKey = errors.New("the key is not one of the user's")

// ByKey returns the user of a login by a key.
func (s *Service) ByKey(ctx context.Context, id string, key ssh.PublicKey) (*Principal, error) {
	ok, err := s.HasKey(ctx, id, key)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.Wrap(fault.Denied, errNoKey, "%v", errNoKey)
	}
	p, err := s.Principal(ctx, id)
	if err == nil && !p.MayLogIn() {
		return nil, fault.New(fault.Denied, "the user is no longer allowed to log in")
	}
	return p, err
}
