package token

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

type record struct {
	User    string    `json:"user"` // id; of an outside user REALM/NAME@DOMAIN
	Epoch   string    `json:"epoch,omitempty"`
	Issued  time.Time `json:"issued"`
	Expires time.Time `json:"expires"`

	Outside *Outside `json:"outside,omitempty"`

	// Of the tokens of one login that can be refreshed.
	Family  string    `json:"family,omitempty"`
	Refresh bool      `json:"refresh,omitempty"` // it is exchanged for new tokens, and good for nothing else
	Used    bool      `json:"used,omitempty"`    // it was exchanged: whoever sends it again is a thief, or was robbed
	Ends    time.Time `json:"ends,omitzero"`     // of the family or session, however often it is refreshed or used

	Session *session `json:"session,omitempty"` // of a browser session
}

// isLive reports whether a token or session may still be used. One that was made in the
// future is from a node with a wrong clock, and would live for as long as that was wrong.
func (r *record) isLive(now time.Time) bool {
	return now.Before(r.Expires) && !r.Issued.After(now.Add(maxAhead))
}

// Outside is a user of an outside realm, who is looked up there at each use.
type Outside struct {
	Realm  string `json:"realm"`
	User   string `json:"user"`
	Domain string `json:"domain,omitempty"` // as it was typed

	Principal string `json:"principal,omitempty"` // the user as the realm names it; "" = User

	// Held says that the realm cannot look the user up: Roles, one a line, are those of the login, and hold for HeldFor at most.
	Held  bool   `json:"held,omitempty"`
	Roles string `json:"roles,omitempty"`
}

// Names are the name and the domain of the user here: the domain is the realm, so that nobody of the controller's own domains is
// taken for the user. A domain of the realm is a part of the name, as users of several may be called the same.
func (o *Outside) Names() (user, domain string) {
	user = cmp.Or(o.Principal, o.User)
	if o.Domain != "" { // also after a name that ends in it: a@lab of lab is another than a of lab
		user += "@" + o.Domain
	}
	return user, o.Realm
}

func (o *Outside) outsideID() string {
	return o.Realm + "/" + o.User + "@" + o.Domain
}

func digestOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func tokenKey(d string) string { return "token/" + d }

func userKey(user, d string) string {
	return "user/" + user + "/" + d
}

func removeTokenOps(user, d string) []datastore.Op {
	return []datastore.Op{datastore.Delete(namespace, tokenKey(d)), datastore.Delete(namespace, userKey(user, d))}
}

// newTokenOps makes a token with a record, 128 random bits in the form the documents show, and the writes
// that keep it.
func (r record) newTokenOps() (token string, ops []datastore.Op, err error) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	h := hex.EncodeToString(b[:])
	token = h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
	data, err := json.Marshal(r)
	d := digestOf(token)
	return token, []datastore.Op{datastore.Put(namespace, tokenKey(d), data), datastore.Put(namespace, userKey(r.User, d), nil)}, err
}

// readByDigest reads the record of a digest with the revision that wrote it; nil if it does not exist.
func (s *Service) readByDigest(
	ctx context.Context,
	d string,
) (r *record, rev datastore.Revision, err error) {
	err = datastore.Read(ctx, s.o.Store, func(sn datastore.Snapshot) (err error) {
		r, rev, err = readRecord(sn, d)
		return err
	})
	return r, rev, err
}

func readRecord(sn datastore.Snapshot, d string) (*record, datastore.Revision, error) {
	e, err := sn.Get(namespace, tokenKey(d))
	if errors.Is(err, datastore.ErrNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	r, err := decodeRecord(e)
	return r, e.Revision, err
}

func decodeRecord(e datastore.Entry) (*record, error) {
	r := &record{}
	if err := json.Unmarshal(e.Value, r); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "a token record is damaged")
	}
	return r, nil
}

// Kept is a token or session, without its text.
type Kept struct {
	ID             string // names it to End; no secret
	User           string // id; of an outside user REALM/NAME@DOMAIN
	Kind           string // access token, refresh token or session
	From           string // the address that a session was begun from
	Began, Expires time.Time
}

// eachRecord calls f with the records whose keys begin with prefix, and their digests, by user.
func (s *Service) eachRecord(
	ctx context.Context,
	prefix string,
	f func(digest string, r *record),
) error {
	return datastore.Read(ctx, s.o.Store, func(sn datastore.Snapshot) error {
		for e, err := range sn.Range(namespace, datastore.RangeOptions{Prefix: prefix}) {
			if err != nil {
				return err
			}
			d := digestIn(e.Key)
			r, _, err := readRecord(sn, d)
			if err != nil {
				return err
			}
			if r != nil {
				f(d, r)
			}
		}
		return nil
	})
}

// digestIn is the digest at the end of a key.
func digestIn(key string) string {
	return key[strings.LastIndex(key, "/")+1:]
}

// All lists what is not over by its time, by user.
func (s *Service) All(ctx context.Context) (out []Kept, err error) {
	err = s.eachRecord(ctx, "user/", func(d string, r *record) {
		if r.Used || !s.o.Now().Before(r.Expires) {
			return
		}
		k := Kept{
			ID:      r.displayID(d),
			User:    r.User,
			Kind:    "access token",
			Began:   r.Issued,
			Expires: r.Expires,
		}
		if r.Session != nil {
			k.Kind, k.From = "session", r.Session.Address
		} else if r.Refresh {
			k.Kind = "refresh token"
		}
		out = append(out, k)
	})
	return out, err
}

// displayID names the record of a digest to users: that of its session, or the beginning of the digest.
func (r *record) displayID(d string) string {
	if r.Session != nil {
		return r.Session.ID
	}
	return d[:16]
}
