package token

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// The layout of the namespace:
//
//	token/DIGEST             record
//	user/USERID/DIGEST       for the cascade when a user's logins end
//	expiry/UNIXHEX/DIGEST    for the sweep
const namespace = "aaa-token"

type record struct {
	User    string    `json:"user"`
	Epoch   string    `json:"epoch"`
	Issued  time.Time `json:"issued"`
	Expires time.Time `json:"expires"`
}

// Options are what a Service needs. Store and Lifetime are required.
type Options struct {
	Store    datastore.Store
	Lifetime time.Duration
	CacheFor time.Duration // how long a token is believed without asking the store; 0 = 6 minutes
	Now      func() time.Time
}

// Service issues and looks up tokens. It is safe for concurrent use.
type Service struct {
	o          Options
	identities *identity.Service
	cache      cache
	generation atomic.Uint64 // counts revocations
}

// New returns a service. Bind must be called before its first use.
func New(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.CacheFor == 0 {
		o.CacheFor = 6 * time.Minute
	}
	return &Service{o: o}
}

// Bind gives the service the identities, which in turn are made with its Dependents.
func (s *Service) Bind(i *identity.Service) { s.identities = i }

// ExpiresIn is the life a client is told: the shorter of a token's own and the
// time it is kept in the cache.
func (s *Service) ExpiresIn() time.Duration { return min(s.o.Lifetime, s.o.CacheFor) }

// Info is what is known of a live token.
type Info struct {
	Principal       *identity.Principal
	Issued, Expires time.Time
}

func digestOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func tokenKey(d string) string      { return "token/" + d }
func userKey(user, d string) string { return "user/" + user + "/" + d }
func expiryKey(t time.Time, d string) string {
	return fmt.Sprintf("expiry/%016x/%s", t.Unix(), d)
}

func (r record) remove(d string) []datastore.Op {
	return []datastore.Op{
		datastore.Delete(namespace, tokenKey(d)),
		datastore.Delete(namespace, userKey(r.User, d)),
		datastore.Delete(namespace, expiryKey(r.Expires, d)),
	}
}

// Issue makes a token for a user as it is now: 128 random bits, in the form the
// documents show.
func (s *Service) Issue(ctx context.Context, p *identity.Principal) (string, error) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	h := hex.EncodeToString(b[:])
	token := h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
	now := s.o.Now()
	r := record{User: p.ID(), Epoch: p.Epoch, Issued: now, Expires: now.Add(s.o.Lifetime)}
	data, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	d := digestOf(token)
	_, err = s.o.Store.Commit(ctx, datastore.Txn{Ops: []datastore.Op{
		datastore.Put(namespace, tokenKey(d), data),
		datastore.Put(namespace, userKey(r.User, d), nil),
		datastore.Put(namespace, expiryKey(r.Expires, d), nil),
	}})
	return token, err
}

// WellFormed tells whether a text has the form of a token.
func WellFormed(token string) bool {
	if len(token) != 36 {
		return false
	}
	for i := range len(token) {
		c := token[i]
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Info returns what is known of a token, nil when it is not live.
func (s *Service) Info(ctx context.Context, token string) (*Info, error) {
	p, r, err := s.live(ctx, token)
	if p == nil {
		return nil, err
	}
	return &Info{Principal: p, Issued: r.Issued, Expires: r.Expires}, nil
}

// live returns the principal and the record of a live token, nil for any other text.
func (s *Service) live(ctx context.Context, token string) (*identity.Principal, *record, error) {
	if !WellFormed(token) {
		return nil, nil, nil
	}
	now := s.o.Now()
	var buf [48]byte // on the stack
	sum := sha256.Sum256(append(buf[:0], token...))
	r, ok := s.cache.get(sum, now)
	if !ok {
		before := s.generation.Load()
		var err error
		if r, err = s.record(ctx, hex.EncodeToString(sum[:])); r == nil {
			return nil, nil, err
		}
		s.cache.put(sum, r, now.Add(s.o.CacheFor), func() bool { return s.generation.Load() == before })
	}
	if !now.Before(r.Expires) {
		return nil, nil, nil
	}
	p, err := s.identities.Principal(ctx, r.User)
	if err != nil {
		if fault.KindOf(err) == fault.NotFound {
			return nil, nil, nil
		}
		return nil, nil, err
	}
	if p.Epoch != r.Epoch || !p.MayLogIn() {
		return nil, nil, nil
	}
	return p, r, nil
}

// Lookup returns the principal of a live token, nil for any other text.
func (s *Service) Lookup(ctx context.Context, token string) (*identity.Principal, error) {
	p, _, err := s.live(ctx, token)
	return p, err
}

// Revoke ends a token and tells whether it was there.
func (s *Service) Revoke(ctx context.Context, token string) (bool, error) {
	if !WellFormed(token) {
		return false, nil
	}
	d := digestOf(token)
	r, err := s.record(ctx, d)
	if r == nil {
		return false, err
	}
	_, err = s.o.Store.Commit(ctx, datastore.Txn{Ops: r.remove(d)})
	s.forget()
	return err == nil, err
}

// forget empties the cache; a lookup under way will not fill it with what it read.
func (s *Service) forget() {
	s.generation.Add(1)
	s.cache.clear()
}

// record reads the record of a digest, nil when there is none.
func (s *Service) record(ctx context.Context, d string) (r *record, err error) {
	err = s.o.Store.View(ctx, func(sn datastore.Snapshot) error {
		r, err = readRecord(sn, d)
		return err
	})
	return r, err
}

func readRecord(sn datastore.Snapshot, d string) (*record, error) {
	e, err := sn.Get(namespace, tokenKey(d))
	if errors.Is(err, datastore.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &record{}
	if err := json.Unmarshal(e.Value, r); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "a token record is damaged")
	}
	return r, nil
}
