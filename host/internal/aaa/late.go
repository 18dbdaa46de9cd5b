package aaa

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ctl.internal/sdk/realm"
)

// repeatAfter is how often a realm that stays unavailable is logged again.
const repeatAfter = time.Minute

// late asks for the realm's instance at each login: plugins come and go. It logs
// when the realm becomes unavailable, and when it is back.
type late struct {
	config   realm.Config
	source   Realms
	log      *slog.Logger
	now      func() time.Time
	declared []realm.Kind // what its plugin takes by its manifest; nil = the manifest does not say

	patience patience

	mu     sync.Mutex
	down   bool
	logged time.Time
	takes  []realm.Kind // of the instance that was asked last
	epoch  uint64       // in which it was asked: what is installed since may take something else
}

// Takes implements realm.Taker. A realm that was not asked since its plugin was replaced, or that took nothing that is known here, may
// take everything: its answer says what it takes.
func (l *late) Takes() []realm.Kind {
	epoch := l.epochNow()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case len(l.takes) > 0 && l.epoch == epoch:
		return l.takes
	case l.declared != nil:
		return l.declared
	}
	return []realm.Kind{realm.Password, realm.Bearer}
}

func (l *late) epochNow() uint64 {
	if l.source == nil {
		return 0
	}
	return l.source.Epoch(l.config.Kind)
}

// noteTaken remembers what an instance of an epoch takes, and reports whether a kind is among it.
func (l *late) noteTaken(r realm.Realm, epoch uint64, k realm.Kind) bool {
	taken := []realm.Kind{}
	for _, one := range []realm.Kind{realm.Password, realm.Bearer} {
		if realm.Takes(r, one) {
			taken = append(taken, one)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.takes, l.epoch = taken, epoch
	return slices.Contains(taken, k)
}

// currentRealm is the one of the moment.
func (l *late) currentRealm(ctx context.Context) (realm.Realm, error) {
	if l.source == nil {
		return nil, errors.New("no feature serves realms of class " + l.config.Kind)
	}
	return l.source.Realm(ctx, l.config)
}

// Authenticate passes the credentials to the instance of the moment.
func (l *late) Authenticate(
	ctx context.Context,
	c realm.Credentials,
) (res realm.Result, err error) {
	if !l.patience.mayAskRealm(l.now()) {
		return realm.Result{
			Outcome: realm.Unavailable,
			Reason:  "it has not answered in time lately, and is not waited for; it is tried again soon",
		}, nil
	}
	began, epoch := time.Now(), l.epochNow()
	r, err := l.currentRealm(ctx)
	if err == nil && l.noteTaken(r, epoch, c.Kind()) {
		res, err = r.Authenticate(ctx, c)
	}
	if err != nil {
		res = realm.Result{
			Outcome: realm.Unavailable,
			Reason:  err.Error(),
		}
	}
	// An answer that used up half of the time allowed, and then was none, is late.
	deadline, limited := ctx.Deadline()
	l.patience.noteAnswer(
		l.now(),
		limited && res.Outcome == realm.Unavailable && time.Since(began) > deadline.Sub(began)/2,
	)
	l.noteResult(res)
	return res, nil
}

// Find looks a user up at the instance of the moment.
func (l *late) Find(ctx context.Context, user, domain string) (realm.Result, error) {
	if l.source == nil {
		return realm.Result{}, realm.ErrNoFinder
	}
	r, err := l.currentRealm(ctx)
	if err != nil {
		return realm.Result{}, err
	}
	finder, ok := r.(realm.Finder)
	if !ok {
		return realm.Result{}, realm.ErrNoFinder
	}
	return finder.Find(ctx, user, domain)
}

func (l *late) noteResult(res realm.Result) {
	down, now := res.Outcome == realm.Unavailable, l.now()
	l.mu.Lock()
	changed := down != l.down
	report := changed || down && now.Sub(l.logged) >= repeatAfter
	if l.down = down; report {
		l.logged = now
	}
	l.mu.Unlock()
	switch {
	case report && down:
		l.log.Warn(
			"a realm cannot be asked; the next one is",
			"realm",
			l.config.Name,
			"reason",
			res.Reason,
		)
	case report:
		l.log.Info("the realm answers again", "realm", l.config.Name)
	}
}

// Close does nothing: the instance belongs to its source.
func (l *late) Close() error { return nil }

// After maxSlow answers in a row that came too late, or never, a realm is no longer
// waited for, and left alone for slowPause between tries.
const (
	maxSlow   = 3
	slowPause = time.Second
)

// patience keeps a realm that hangs from delaying the users of the realms after it.
// Once it is lost, one login at a time tries whether the realm answers again, and
// all others go on to the next realm at once.
type patience struct {
	mu     sync.Mutex
	slow   int       // too late in a row
	until  time.Time // time of the next attempt, while the realm is late
	trying bool
}

// mayAskRealm reports whether to ask the realm now.
func (p *patience) mayAskRealm(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.slow < maxSlow {
		return true
	}
	if p.trying || now.Before(p.until) {
		return false
	}
	p.trying = true
	return true
}

// noteAnswer records an answer.
func (p *patience) noteAnswer(now time.Time, late bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trying = false
	if !late {
		p.slow = 0
		return
	}
	p.slow++
	p.until = now.Add(slowPause)
}
