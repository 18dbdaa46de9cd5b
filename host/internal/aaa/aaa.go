// Package aaa is the access control that comes before everything else: it reads
// a request's path once, finds out who asks, decides by the static rules and the
// policies, and hands on a request whose context carries the caller.
//
// Rooms inside: reqpath (paths), secini and pattern (grammar), rules (static),
// policy (dynamic), broker (services), identity and password (who exists), token,
// authn and throttle (who is asking), idm (the HTTP services), accounting (what
// is written down), shell (the aaa: commands).
package aaa

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/host/internal/aaa/accounting"
	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/broker"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/idm"
	"ctl.internal/host/internal/aaa/labrole"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/aaa/policy"
	"ctl.internal/host/internal/aaa/right"
	"ctl.internal/host/internal/aaa/rules"
	"ctl.internal/host/internal/aaa/secini"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/host/internal/aaa/token"
)

// Modules are the YANG modules, yang/*.yang: the policies (aaa) and the authorization
// broker (authorization-schema).
//
//go:embed yang/*.yang
var Modules embed.FS

// AAA is the whole of access control. It is safe for concurrent use.
type AAA struct {
	o        Options
	log      *slog.Logger
	rules    *rules.Set
	realm    string // of the challenge
	identity *identity.Service
	authn    *authn.Authenticator
	policies *policy.Engine
	compiled compiled
	broker   *broker.Engine
	roles    labrole.Engine
	rights   right.Engine
	tokens   *token.Service
	handler  http.Handler
	recorder *accounting.Recorder
	limiter  *throttle.Limiter
	blocked  blockedSubjects
}

// New compiles the configuration and opens the identity database, filling an
// empty one. Every fault of sec.ini is in the error, with file and line.
func New(ctx context.Context, o Options) (*AAA, error) {
	o.setDefaults()
	hasher, err := password.New(o.Passwords, o.ParallelLogins)
	if err != nil {
		return nil, err
	}
	conf, err := compileConfig(o, hasher)
	if err != nil {
		return nil, err
	}
	for _, w := range Warnings(o) {
		o.Logger("org.ctl.aaa").Warn(
			"the access rules may not mean what they say",
			"problem",
			w.Error(),
		)
	}
	a := &AAA{
		o:        o,
		log:      o.Logger("org.ctl.aaa"),
		rules:    conf.rules,
		realm:    conf.challenge,
		policies: &policy.Engine{},
		broker:   &broker.Engine{},
		recorder: accounting.New(o.Logger, o.Now),
	}
	a.tokens = token.New(token.Options{
		Store:    o.Store,
		Lifetime: o.TokenLifetime,
		MaxLive:  o.TokensPerUser,
		CacheFor: conf.timeToLive,
		Now:      o.Now,
	})
	a.identity = identity.New(identity.Options{
		Store:       o.Store,
		Hasher:      hasher,
		Sealer:      o.Sealer,
		MinPassword: o.MinPassword,
		Blocked:     o.Blocked,
		MaxAge:      o.PasswordMaxAge,
		ChangeFirst: o.ChangeFirst,
		ChangeGiven: o.ChangeGiven,
		Common:      o.Common,
		History:     o.PasswordHistory,
		Now:         o.Now,
		Audit:       a.recorder.Change,
		Dependents:  []identity.Dependent{a.tokens.Dependents},
		Deleted:     o.Deleted,
		NoDomain: func(name string) string {
			return whyNoDomain(conf.realms, name)
		},
	})
	a.tokens.Bind(a.identity)
	if made, err := a.identity.Bootstrap(ctx, o.First); err != nil {
		return nil, fmt.Errorf("make the first users: %w", err)
	} else if made {
		a.log.Info("the users admin and user were made")
	}
	if err := a.checkDomains(ctx, conf); err != nil {
		return nil, err
	}
	a.takeAllKeys(ctx)
	limiter := throttle.New(o.Throttle, o.Now)
	a.limiter = limiter
	if o.LockedOut != nil {
		limiter.OnLockout(o.LockedOut)
	}
	if err := a.keepTrust(ctx, limiter); err != nil {
		return nil, fmt.Errorf("read where users have logged in from: %w", err)
	}
	a.blocked.store = o.Store
	if err := a.blocked.load(ctx); err != nil {
		return nil, fmt.Errorf("read which subjects of other realms are blocked: %w", err)
	}
	a.authn = authn.New(authn.Options{
		Blocked:  a.blocked.has,
		Identity: a.identity,
		Realms:   conf.realms,
		Tokens:   a.tokens,
		Throttle: limiter,
		Attempt:  a.recorder.Login,
		CacheFor: o.LoginCache,
		Now:      o.Now,
		Waiting:  o.Waiting,
	})
	if err := a.policies.Set(nil); err != nil {
		return nil, err
	}
	a.handler = idm.New(idm.Options{
		Identity:    a.identity,
		Tokens:      a.tokens,
		Authn:       a.authn,
		Log:         a.log,
		Change:      a.recorder.Change,
		OwnPassword: a.ownPassword,
		May:         a.Allows,
		Sessions:    o.Sessions,
		Explain: func(ctx context.Context, user, method, path string) (any, error) {
			return a.Explain(ctx, user, method, path)
		},
	})
	return a, nil
}

// Handler serves /auth and /oauth2; it comes after Filter like all others.
func (a *AAA) Handler() http.Handler { return a.handler }

// Validate reports every fault of a sec.ini without starting anything; it is what
// `ctl config validate` asks.
func Validate(o Options) error {
	o.setDefaults()
	_, err := compileConfig(o, nil)
	return err
}

// Run removes expired tokens and keeps up with changes that other nodes of a
// cluster make, until ctx ends.
func (a *AAA) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return a.identity.Run(ctx) })
	g.Go(func() error { return a.tokens.Run(ctx) })
	g.Go(func() error { return a.blocked.follow(ctx) })
	return g.Wait()
}

// Identity is the identity database, for the shell and for tests.
func (a *AAA) Identity() *identity.Service { return a.identity }

// Policies are the dynamic policies in force.
func (a *AAA) Policies() *policy.Engine { return a.policies }

// Accounting is where others record changes and add listeners.
func (a *AAA) Accounting() *accounting.Recorder {
	return a.recorder
}

type config struct {
	file       *secini.File
	rules      *rules.Set
	realms     []authn.Realm
	challenge  string
	timeToLive time.Duration
}

// compileConfig reads sec.ini; hasher is nil where nobody logs in.
func compileConfig(o Options, hasher *password.Hasher) (config, error) {
	f, parseErr := secini.Parse(o.SecININame, o.SecINI)
	if f == nil {
		return config{}, parseErr
	}
	set, ruleErr := rules.Compile(f)
	realms, realmErr := compileRealms(f, o, hasher)
	c := config{
		file:      f,
		rules:     set,
		realms:    realms,
		challenge: "application",
	}
	var err error
	if v, ok := f.Object("authcBasic").Prop("applicationName"); ok {
		if c.challenge = v.Text(); !plainText(c.challenge) {
			err = f.Errorf(v.Line, "the name of the application must be plain text without quotes")
		}
	}
	if ruleErr == nil {
		ruleErr = servletRule(f, set)
	}
	var ttlErr error
	c.timeToLive, ttlErr = timeToLive("etc/ctl/karaf/08-authn-config.xml", o.AuthnConfig)
	return c, errors.Join(parseErr, ruleErr, realmErr, err, ttlErr)
}

func plainText(s string) bool {
	return s != "" &&
		!strings.ContainsFunc(s, func(r rune) bool {
			return r < ' ' || r > '~' || r == '"' || r == '\\'
		})
}
