package token

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"ctl.internal/host/internal/datastore"
)

// session is what makes a record that of a browser session. Such a token is good in the pages' cookie only,
// and an access token is not good there.
type session struct {
	ID      string        `json:"id"` // names the session to its user; it is no secret
	Address string        `json:"address"`
	Agent   string        `json:"agent"`
	Idle    time.Duration `json:"idle"`
}

// Session is a browser session as its user sees it.
type Session struct {
	ID      string    `json:"id"`
	Address string    `json:"address"` // it was begun from
	Agent   string    `json:"agent"`   // the browser, as it names itself
	Began   time.Time `json:"began"`
	Seen    time.Time `json:"seen"`    // the last use, to within a minute
	Expires time.Time `json:"expires"` // if it is not used
	Ends    time.Time `json:"ends"`    // however much it is used
	Current bool      `json:"current"` // it is the one that asks
}

// seenEvery is how often the use of a session is written down.
const seenEvery = time.Minute

func (r *record) sessionView() Session {
	return Session{
		ID:      r.Session.ID,
		Address: r.Session.Address,
		Agent:   r.Session.Agent,
		Began:   r.Issued,
		Seen:    r.Expires.Add(-r.Session.Idle),
		Expires: r.Expires,
		Ends:    r.Ends,
	}
}

// Begin makes a session that ends when it is unused for idle, and after life in any case.
func (s *Service) Begin(
	ctx context.Context,
	h Holder,
	address, agent string,
	idle, life time.Duration,
) (string, error) {
	now := s.o.Now()
	if h.isHeldOutside() {
		life = min(life, HeldFor)
	}
	r := record{
		User:    h.ID(),
		Outside: h.Outside,
		Issued:  now,
		Expires: now.Add(min(idle, life)),
		Ends:    now.Add(life),
		Session: &session{
			ID:      rand.Text()[:12],
			Address: address,
			Agent:   agent,
			Idle:    idle,
		},
	}
	if h.Principal != nil {
		r.Epoch = h.Principal.Epoch
	}
	token, ops, err := r.newTokenOps()
	if err == nil {
		_, err = s.o.Store.Commit(ctx, datastore.Txn{Ops: ops})
	}
	return token, err
}

// SessionInfo returns a live session, nil when it is not.
func (s *Service) SessionInfo(ctx context.Context, token string) (*Session, error) {
	h, r, err := s.findLiveToken(ctx, token, true)
	if !h.Known() {
		return nil, err
	}
	shown := r.sessionView()
	shown.Current = true
	return &shown, err
}

// IDOf is the id by which users and the audit name a live token or session; empty if it is not live.
func (s *Service) IDOf(ctx context.Context, token string, session bool) string {
	h, r, _ := s.findLiveToken(ctx, token, session)
	if !h.Known() {
		return ""
	}
	return r.displayID(digestOf(token))
}

// Used notes that a user has used a session.
func (s *Service) Used(ctx context.Context, token string) error {
	h, r, err := s.findLiveToken(ctx, token, true)
	now := s.o.Now()
	if err != nil || !h.Known() || now.Sub(r.Expires.Add(-r.Session.Idle)) < seenEvery {
		return err
	}
	d := digestOf(token)
	kept, rev, err := s.readByDigest(ctx, d)
	if err != nil || kept == nil {
		return err
	}
	kept.Expires = now.Add(kept.Session.Idle)
	if kept.Expires.After(kept.Ends) {
		kept.Expires = kept.Ends
	}
	err = s.replaceRecord(ctx, d, rev, kept)
	if errors.Is(err, datastore.ErrConflict) {
		return nil // another request has noted it, or the session was ended
	}
	s.clearCache() // the record that is believed has the old time
	return err
}

// Sessions lists the live sessions of the holder of one; current is its token.
func (s *Service) Sessions(ctx context.Context, user, current string) ([]Session, error) {
	out := []Session{}
	err := s.eachRecord(ctx, userKey(user, ""), func(d string, r *record) {
		if r.Session != nil && s.o.Now().Before(r.Expires) {
			one := r.sessionView()
			one.Current = d == digestOf(current)
			out = append(out, one)
		}
	})
	return out, err
}
