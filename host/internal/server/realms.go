package server

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/realm"
)

// labelRealmKinds is the manifest label in which a realm plugin lists its kinds.
const labelRealmKinds = "realm-kinds"

// How long an instance may take to accept its settings, and how long after it
// refused them it is not asked again.
const (
	realmConfigureTimeout = 10 * time.Second
	realmRefusedFor       = 2 * time.Second
)

// outsideLogins turns the setting into what access control takes, for which 0 is the
// default.
func outsideLogins(believed time.Duration) time.Duration {
	if believed == 0 {
		return -1
	}
	return believed
}

// realms gives the instances of realms that plugins serve; it implements
// aaa.Realms. An instance is configured once for each process of its plugin.
type realms struct{ s *Server }

func (r realms) Realm(ctx context.Context, c realm.Config) (realm.Realm, error) {
	if r.s.plugins == nil {
		return nil, fault.New(fault.Unavailable, "the controller is starting")
	}
	p, ok := r.realmProvider(c.Kind)
	if !ok {
		return nil, fault.New(
			fault.Unavailable,
			"no installed feature serves realms of kind %s: feature:list shows the features; your own plugin must list the kind in labels.realm-kinds of its manifest",
			c.Kind,
		)
	}
	if !p.Ready {
		return nil, fault.New(
			fault.Unavailable,
			"the plugin %s of realm %s is not running",
			p.Name,
			c.Name,
		)
	}
	return r.s.realmInstances.getRealm(ctx, r.s, p, c)
}

func (r realms) Epoch(kind string) uint64 {
	if r.s.plugins == nil {
		return 0
	}
	p, ok := r.realmProvider(kind)
	if !ok {
		return 0
	}
	return r.s.plugins.Ordered(p.Name)
}

// realmProvider is the plugin that serves realms of a kind.
func (r realms) realmProvider(kind string) (host.Provider, bool) {
	for _, p := range r.s.plugins.Providers("realm") {
		for k := range strings.FieldsSeq(p.Labels[labelRealmKinds]) {
			if k == kind {
				return p, true
			}
		}
	}
	return host.Provider{}, false
}

// realmInstances remembers which process has been given which configuration.
type realmInstances struct {
	mu sync.Mutex
	m  map[string]*realmInstance
}

type realmInstance struct {
	client     *realm.Client
	name       string
	provider   string
	generation uint64

	done  chan struct{} // closed once the settings were taken or refused
	err   error         // valid then
	ended time.Time
}

// isStale reports whether an instance must be configured again: its process is another
// one, or it refused the settings a while ago.
func (i *realmInstance) isStale(p host.Provider) bool {
	if i == nil || i.provider != p.Name || i.generation != p.Generation {
		return true
	}
	select {
	case <-i.done:
		return i.err != nil && time.Since(i.ended) > realmRefusedFor
	default:
		return false
	}
}

func (all *realmInstances) getRealm(
	ctx context.Context,
	s *Server,
	p host.Provider,
	c realm.Config,
) (realm.Realm, error) {
	all.mu.Lock()
	if all.m == nil {
		all.m = map[string]*realmInstance{}
	}
	i := all.m[c.Name]
	if i.isStale(p) {
		conn, err := s.plugins.Conn(p.Name)
		if err != nil {
			all.mu.Unlock()
			return nil, err
		}
		i = &realmInstance{
			client:     realm.NewClient(conn),
			name:       c.Name,
			provider:   p.Name,
			generation: p.Generation,
			done:       make(chan struct{}),
		}
		all.m[c.Name] = i
		go i.configure(context.WithoutCancel(ctx), s, c) // others wait for it too; ends by its timeout
	}
	all.mu.Unlock()
	select {
	case <-i.done:
	case <-ctx.Done():
		return nil, fault.Wrap(
			fault.Timeout,
			ctx.Err(),
			"the plugin %s did not accept the settings of realm %s in time",
			p.Name,
			c.Name,
		)
	}
	if i.err != nil {
		return nil, i.err
	}
	return i, nil
}

func (i *realmInstance) configure(ctx context.Context, s *Server, c realm.Config) {
	defer close(i.done)
	ctx, cancel := context.WithTimeout(ctx, realmConfigureTimeout)
	defer cancel()
	var warnings []string
	c, err := s.openRealm(c)
	if err == nil {
		warnings, err = i.client.Configure(ctx, c)
	}
	if err != nil {
		i.err, i.ended = fmt.Errorf("realm %s: %w", c.Name, err), time.Now()
	}
	for _, w := range warnings {
		s.log.Warn("settings of a realm", "realm", c.Name, "problem", w)
	}
}

func (i *realmInstance) Authenticate(
	ctx context.Context,
	c realm.Credentials,
) (realm.Result, error) {
	return i.client.Authenticate(ctx, i.name, c), nil
}

// Takes implements realm.Taker.
func (i *realmInstance) Takes() []realm.Kind {
	return i.client.Takes(i.name)
}

func (i *realmInstance) Find(ctx context.Context, user, domain string) (realm.Result, error) {
	return i.client.Find(ctx, i.name, user, domain)
}

// Close implements realm.Realm; the instance lives as long as its process.
func (i *realmInstance) Close() error { return nil }
