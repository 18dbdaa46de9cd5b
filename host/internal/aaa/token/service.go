// Package token issues opaque bearer tokens. The store holds a digest only; what
// a token allows is looked up at each use from the user's principal, so it ends
// with the password, with disabling and with deletion, and survives a restart.
//
// The HTTP services that issue and revoke are package idm's.
package token

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ctl.internal/host/internal/aaa/cache"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// The layout of the namespace:
//
//	token/DIGEST             record
//	user/USERID/DIGEST       for all that is of one user
//	clock/PROCESS            what the clock of a process said at its last sweep
const namespace = "aaa-token"

// maxAhead is how far the clocks of nodes may differ.
const maxAhead = 5 * time.Minute

// HeldFor is how long the roles of a login are believed at most where its realm cannot look the user up.
const HeldFor = 30 * time.Minute

// Holder is whose a token is: one of the two is set.
type Holder struct {
	Principal *identity.Principal
	Outside   *Outside
}

// Known reports whether it is anybody.
func (h Holder) Known() bool {
	return h.Principal != nil || h.Outside != nil
}

// ID is the id of the user.
func (h Holder) ID() string {
	if h.Outside != nil {
		return h.Outside.outsideID()
	}
	return h.Principal.ID()
}

// How long a refresh token may stay unused, and how long a login can be refreshed at all.
const (
	refreshIdle = 7 * 24 * time.Hour
	refreshLife = 30 * 24 * time.Hour
)

// Options are what a Service needs. Store and Lifetime are required.
type Options struct {
	Store    datastore.Store
	Lifetime time.Duration
	MaxLive  int           // live access tokens of a user, sessions and refresh tokens not counted; 0 = 1000
	CacheFor time.Duration // how long a token is believed without asking the store; 0 = 6 minutes
	Now      func() time.Time
}

// maxCached bounds the tokens that are believed without asking the store.
const maxCached = 131_072

type kept struct {
	r     *record
	until time.Time
}

// Service issues and looks up tokens. It is safe for concurrent use.
type Service struct {
	o          Options
	identities *identity.Service
	cache      *cache.Map[[sha256.Size]byte, kept]
	generation atomic.Uint64 // counts revocations
	process    string        // random

	sweeping sync.Mutex
	stamps   map[string]seen // of other processes, by key
}

// New returns a service. Bind must be called before its first use.
func New(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.MaxLive = cmp.Or(o.MaxLive, 1000)
	o.CacheFor = cmp.Or(o.CacheFor, 6*time.Minute)
	return &Service{
		o:       o,
		cache:   cache.New[[sha256.Size]byte, kept](maxCached),
		process: rand.Text(),
	}
}

// Bind gives the service the identities, which in turn are made with its Dependents.
func (s *Service) Bind(i *identity.Service) { s.identities = i }

// Info is what is known of a live token.
type Info struct {
	Holder
	Issued, Expires time.Time
}

// Pair is what a login, or a refresh, is answered with.
type Pair struct {
	Access, Refresh string // Refresh is empty where new credentials are needed
	Life            time.Duration
}

// TooManyError refuses a token to a user who has as many as a user may have.
type TooManyError struct {
	Max  int
	Wait time.Duration
}

// Error says what to do.
func (e *TooManyError) Error() string {
	return fmt.Sprintf(
		"the user has %d live tokens, the most (aaa.tokensPerUser); use one, revoke one, or wait until one ends",
		e.Max,
	)
}

// RetryAfter is when the next of the tokens ends.
func (e *TooManyError) RetryAfter() time.Duration {
	return e.Wait
}

// checkTokenRoom is a *TooManyError if a user may have no further access token. Two at once may both see the last room; that the
// bound is passed by what is under way at the same moment does no harm.
func (s *Service) checkTokenRoom(ctx context.Context, user string) error {
	now := s.o.Now()
	live, first := 0, now.Add(s.o.Lifetime)
	var refresh []refreshable
	err := s.eachRecord(ctx, userKey(user, ""), func(d string, r *record) {
		switch {
		case r.Session != nil, !now.Before(r.Expires):
		case r.Refresh:
			refresh = append(refresh, refreshable{d, r.Issued})
		default:
			if live++; r.Expires.Before(first) {
				first = r.Expires
			}
		}
	})
	switch {
	case err != nil:
		return err
	case live >= s.o.MaxLive:
		return &TooManyError{s.o.MaxLive, first.Sub(now)}
	}
	return s.trimRefreshTokens(ctx, user, refresh)
}

// refreshable is a refresh token, by its digest.
type refreshable struct {
	digest string
	issued time.Time
}

// trimRefreshTokens ends the oldest refresh tokens of a user who has more than a user may have access tokens: they live longer, and
// nobody uses so many.
func (s *Service) trimRefreshTokens(ctx context.Context, user string, all []refreshable) error {
	if len(all) < s.o.MaxLive {
		return nil
	}
	slices.SortFunc(all, func(a, b refreshable) int { return a.issued.Compare(b.issued) })
	var ops []datastore.Op
	for _, r := range all[:len(all)-s.o.MaxLive+1] {
		ops = append(ops, removeTokenOps(user, r.digest)...)
	}
	_, err := s.o.Store.Commit(ctx, datastore.Txn{Ops: ops})
	return err
}

// Grant makes the tokens of a login.
func (s *Service) Grant(ctx context.Context, h Holder) (Pair, error) {
	if err := s.checkTokenRoom(ctx, h.ID()); err != nil {
		return Pair{}, err
	}
	r := record{
		User:    h.ID(),
		Outside: h.Outside,
		Family:  rand.Text(),
		Ends:    s.o.Now().Add(refreshLife),
	}
	if h.isHeldOutside() {
		return s.grantHeld(ctx, r)
	}
	if h.Principal != nil {
		r.Epoch = h.Principal.Epoch
	}
	pair, ops, err := s.newTokenPair(r)
	if err == nil {
		_, err = s.o.Store.Commit(ctx, datastore.Txn{Ops: ops})
	}
	return pair, err
}

// isHeldOutside reports whether the realm of the user cannot look the user up.
func (h Holder) isHeldOutside() bool {
	return h.Outside != nil && h.Outside.Held
}

// grantHeld makes an access token that is never refreshed without credentials.
func (s *Service) grantHeld(ctx context.Context, r record) (Pair, error) {
	life := min(s.o.Lifetime, HeldFor)
	r.Issued = s.o.Now()
	r.Expires, r.Ends = r.Issued.Add(life), r.Issued.Add(life)
	access, ops, err := r.newTokenOps()
	if err == nil {
		_, err = s.o.Store.Commit(ctx, datastore.Txn{Ops: ops})
	}
	return Pair{Access: access, Life: life}, err
}

func (s *Service) newTokenPair(r record) (p Pair, ops []datastore.Op, err error) {
	r.Issued, r.Used = s.o.Now(), false
	p.Life = s.o.Lifetime
	access, refresh := r, r
	access.Refresh, access.Expires = false, r.Issued.Add(s.o.Lifetime)
	refresh.Refresh, refresh.Expires = true, r.Issued.Add(refreshIdle)
	if refresh.Expires.After(r.Ends) {
		refresh.Expires = r.Ends
	}
	var more []datastore.Op
	if p.Access, ops, err = access.newTokenOps(); err == nil {
		p.Refresh, more, err = refresh.newTokenOps()
	}
	return p, append(ops, more...), err
}

// Exchange takes a refresh token for new tokens, once (RFC 6749 section 6, RFC 9700 section 4.14.2). One
// that was exchanged before ends all tokens of its login. allowed is asked about the holder before
// anything is written. Without an error a pair without tokens is the refusal.
func (s *Service) Exchange(
	ctx context.Context,
	token string,
	allowed func(Holder) error,
) (Pair, Holder, error) {
	if !WellFormed(token) {
		return Pair{}, Holder{}, nil
	}
	d := digestOf(token)
	for {
		r, rev, err := s.readByDigest(ctx, d)
		if err != nil || r == nil || !r.Refresh || !r.isLive(s.o.Now()) {
			return Pair{}, Holder{}, err
		}
		if r.Used {
			return Pair{}, Holder{}, s.endFamily(ctx, r)
		}
		h, err := s.findHolder(ctx, r)
		if err != nil || !h.Known() {
			return Pair{}, Holder{}, err
		}
		if err := allowed(h); err != nil {
			return Pair{}, Holder{}, err
		}
		if err := s.checkTokenRoom(ctx, r.User); err != nil {
			return Pair{}, Holder{}, err
		}
		pair, ops, err := s.newTokenPair(*r)
		if err != nil {
			return Pair{}, Holder{}, err
		}
		r.Used = true
		err = s.replaceRecord(ctx, d, rev, r, ops...)
		if errors.Is(err, datastore.ErrConflict) {
			continue // another has exchanged it meanwhile
		}
		return pair, h, err
	}
}

// replaceRecord writes a record that was read at a revision, together with more; datastore.ErrConflict if another has
// written it since.
func (s *Service) replaceRecord(
	ctx context.Context,
	d string,
	rev datastore.Revision,
	r *record,
	more ...datastore.Op,
) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = s.o.Store.Commit(ctx, datastore.Txn{
		Compares: []datastore.Compare{{
			Namespace: namespace,
			Key:       tokenKey(d),
			Revision:  rev,
		}},
		Ops: append(more, datastore.Put(namespace, tokenKey(d), data)),
	})
	return err
}

// endFamily removes all tokens of the login that a refresh token is of.
func (s *Service) endFamily(ctx context.Context, of *record) error {
	var ops []datastore.Op
	err := s.eachRecord(ctx, userKey(of.User, ""), func(d string, r *record) {
		if r.Family == of.Family {
			ops = append(ops, removeTokenOps(r.User, d)...)
		}
	})
	if err != nil {
		return err
	}
	return s.removeRecords(ctx, ops)
}

// removeRecords removes records; none that was read before is believed after it.
func (s *Service) removeRecords(ctx context.Context, ops []datastore.Op) (err error) {
	if len(ops) > 0 {
		_, err = s.o.Store.Commit(ctx, datastore.Txn{Ops: ops})
	}
	s.clearCache()
	return err
}

// clearCache empties the cache; a lookup under way will not fill it with what it read.
func (s *Service) clearCache() {
	s.generation.Add(1)
	s.cache.Clear()
}

// WellFormed reports whether a text has the form of a token.
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
	h, r, err := s.findLiveToken(ctx, token, false)
	if !h.Known() {
		return nil, err
	}
	return &Info{
		Holder:  h,
		Issued:  r.Issued,
		Expires: r.Expires,
	}, nil
}

// findLiveToken returns the holder and the record of a live access token, or of a live session; any other text has none.
func (s *Service) findLiveToken(
	ctx context.Context,
	token string,
	session bool,
) (Holder, *record, error) {
	if !WellFormed(token) {
		return Holder{}, nil, nil
	}
	now := s.o.Now()
	var buf [48]byte // on the stack
	sum := sha256.Sum256(append(buf[:0], token...))
	k, ok := s.cache.Get(sum)
	r := k.r
	if !ok ||
		!now.Before(k.until) ||
		session && !now.Before(r.Expires) { // another node may have noted its use
		before := s.generation.Load()
		var err error
		if r, _, err = s.readByDigest(ctx, hex.EncodeToString(sum[:])); r == nil {
			return Holder{}, nil, err
		}
		s.cache.Put(sum, kept{r, now.Add(s.o.CacheFor)}, func() bool {
			return s.generation.Load() == before
		})
	}
	if r.Refresh || (r.Session != nil) != session || !r.isLive(now) {
		return Holder{}, nil, nil
	}
	h, err := s.findHolder(ctx, r)
	return h, r, err
}

// findHolder returns the user of a record, an empty Holder if the user's logins have ended since.
func (s *Service) findHolder(ctx context.Context, r *record) (Holder, error) {
	if r.Outside != nil {
		return Holder{Outside: r.Outside}, nil
	}
	p, err := s.identities.Principal(ctx, r.User)
	if err != nil {
		if fault.KindOf(err) == fault.NotFound {
			return Holder{}, nil
		}
		return Holder{}, err
	}
	if p.Epoch != r.Epoch || !p.MayLogIn() {
		return Holder{}, nil
	}
	return Holder{Principal: p}, nil
}

// Lookup returns the holder of a live access token, or of a live session; any other text has none.
func (s *Service) Lookup(ctx context.Context, token string, session bool) (Holder, error) {
	h, _, err := s.findLiveToken(ctx, token, session)
	return h, err
}

// Revoke ends a token, with a refresh token all tokens of its login, and reports whether it was there.
func (s *Service) Revoke(ctx context.Context, token string) (bool, error) {
	if !WellFormed(token) {
		return false, nil
	}
	d := digestOf(token)
	r, _, err := s.readByDigest(ctx, d)
	if r == nil {
		return false, err
	}
	err = s.revokeRecord(ctx, d, r)
	return err == nil, err
}

func (s *Service) revokeRecord(ctx context.Context, d string, r *record) error {
	if r.Refresh {
		return s.endFamily(ctx, r)
	}
	return s.removeRecords(ctx, removeTokenOps(r.User, d))
}

// End ends the session of a user that has an id; of = "" ends the session or token of any user, with a refresh token all
// tokens of its login. It returns the holder; the zero one without a token.
func (s *Service) End(ctx context.Context, of, id string) (user string, err error) {
	prefix := userKey(of, "")
	if of == "" {
		prefix = "user/"
	}
	var found *record
	var digest string
	err = s.eachRecord(ctx, prefix, func(d string, r *record) {
		if found == nil &&
			r.displayID(d) == id &&
			(of == "" || r.Session != nil && s.o.Now().Before(r.Expires)) {
			found, digest = r, d
		}
	})
	if err != nil || found == nil {
		return "", err
	}
	return found.User, s.revokeRecord(ctx, digest, found)
}
