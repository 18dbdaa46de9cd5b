package plugin

import (
	"context"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin/hostsvc"
	"ctl.internal/host/internal/plugin/relay"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/host"
)

// relayInFlight is how many calls to others one plugin may have under way.
const relayInFlight = 512

// servicesFor returns what a plugin's socket leads to.
func (m *Manager) servicesFor(s *supervisor) hostsvc.Services {
	r := &relay.Relay{
		Caller:      s.name,
		Uses:        s.mayCall,
		Find:        m.findProvider,
		FirstAnswer: m.limits.CallTimeout,
		InFlight:    relayInFlight,
	}
	return hostsvc.Services{
		Store:        m.options.Store,
		Trees:        m.options.Trees,
		Roles:        m.options.Roles,
		Fence:        s.commitCondition,
		Exports:      m.exportedPrefixes,
		Bus:          m.bus,
		Secrets:      m.options.Secrets,
		Certificates: m.options.Certificates,
		Operations:   m.options.Operations,
		Troubles:     m.options.Troubles,
		Serving:      s.callers.servedContext,
		Directory:    m,
		Relay:        r.Handle,
		RelayUnary:   r.Unary,
		Spans:        m.options.Spans,
		Quotas:       m.limits.Quotas,
		Refused:      s.noteRefused,
		CallTimeout:  m.limits.CallTimeout,
		Log:          s.log,
	}
}

// mayCall lists the capabilities whose providers the plugin may call.
func (s *supervisor) mayCall() []string {
	permit := s.services.Permit()
	return slices.DeleteFunc(slices.Clone(s.services.Manifest().GetUses()), func(c string) bool {
		return !permit.Allows(grant.Plugins, c)
	})
}

// noteRefused notes that the plugin tried what it was not granted.
func (s *supervisor) noteRefused(g grant.Grant) {
	s.stats.denied.Add(1)
	s.m.options.Refused(s.name, g)
}

// Permitted returns an error when a plugin was not granted something.
func (m *Manager) Permitted(name, kind, value string) error {
	s, err := m.findSupervisor(name)
	if err != nil {
		return err
	}
	return s.services.Allowed(kind, value)
}

// Reports reports whether the process of a plugin that reported its troubles last runs still.
func (m *Manager) Reports(name string) bool {
	s, err := m.findSupervisor(name)
	return err == nil && s.services.Reports()
}

// AwaitsReport reports whether a plugin that is meant to run has not reported its troubles since this host started.
func (m *Manager) AwaitsReport(name string) bool {
	s, err := m.findSupervisor(name)
	if err != nil || s.services.HasReported() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.machine.state.Serving() || s.machine.state == Starting || s.machine.state == Backoff
}

// Grant puts decisions about a plugin's grants into force, at once for what the host serves; for files and network
// at the next start of its process. A plugin that is not there is no error.
func (m *Manager) Grant(name string, held grant.Held) {
	if s, err := m.findSupervisor(name); err == nil {
		s.services.SetHeld(held)
		m.changed.Fire()
	}
}

// findProvider returns a connection to a provider and what it serves.
func (m *Manager) findProvider(name string) (grpc.ClientConnInterface, []string, error) {
	s, err := m.findSupervisor(name)
	if err != nil {
		return nil, nil, err
	}
	return conn{s: s}, s.manifest.Load().GetCapabilities(), nil
}

// Providers lists the plugins that serve a capability, also those that are down.
func (m *Manager) Providers(capability string) []host.Provider {
	var out []host.Provider
	for _, s := range m.index.Load().plugins {
		mf := s.manifest.Load()
		if mf == nil || !slices.Contains(mf.Capabilities, capability) {
			continue
		}
		p := host.Provider{
			Name:       s.name,
			Version:    mf.Version,
			Labels:     mf.Labels,
			Generation: s.generation.Load(),
			Ready:      s.cur.Load() != nil || s.standby.Load(),
		}
		if !p.Ready {
			s.mu.Lock()
			if s.machine.state == Backoff {
				p.RestartIn = max(time.Until(s.machine.next), 0)
			}
			s.mu.Unlock()
		}
		out = append(out, p)
	}
	return out
}

// Ordered returns a number that changes whenever somebody has a plugin stopped, started
// or replaced, and never comes back; a process that dies and is started again changes
// nothing. It is 0 for a plugin that is not there.
func (m *Manager) Ordered(name string) uint64 {
	s, err := m.findSupervisor(name)
	if err != nil {
		return 0
	}
	return s.ordered.Load()
}

// Changed returns a channel that is closed at the next change of any plugin's state.
func (m *Manager) Changed() <-chan struct{} {
	return m.changed.Wait()
}

// exportedPrefixes lists the prefixes of private keys that a plugin lets others read; false when
// the plugin is not installed, so that nothing is known of it.
func (m *Manager) exportedPrefixes(name string) ([]string, bool) {
	s, err := m.findSupervisor(name)
	if err != nil {
		return nil, false
	}
	mf := s.manifest.Load()
	return mf.GetExports(), mf != nil
}

// clearPublished removes the operational data of a plugin that is uninstalled.
func (m *Manager) clearPublished(ctx context.Context, mf *pluginv1.Manifest) error {
	store := m.options.Store
	if store == nil || len(mf.GetPublishes()) == 0 {
		return nil
	}
	t := datastore.Txn{Volatile: true}
	for _, tree := range mf.Publishes {
		tree = hostsvc.TreeKey(tree)
		t.Ops = append(t.Ops, datastore.Delete(hostsvc.NamespaceOperational, tree),
			datastore.DeletePrefix(hostsvc.NamespaceOperational, tree+"/"), datastore.DeletePrefix(hostsvc.NamespaceOperational, tree+"="))
	}
	_, err := store.Commit(context.WithoutCancel(ctx), t)
	return err
}

// callers are the people on whose behalf a plugin is working now. A plugin may act
// for one of them only while it serves that one's call.
type callers struct {
	mu sync.Mutex
	m  map[string]callerEntry
}

type callerEntry struct {
	call  context.Context // that the plugin serves; only its values count
	calls int
}

// enterCaller notes the caller of ctx and returns its request id, empty if there is no caller.
func (c *callers) enterCaller(ctx context.Context) string {
	who, ok := caller.From(ctx)
	if !ok || who.RequestID == "" {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = map[string]callerEntry{}
	}
	c.m[who.RequestID] = callerEntry{context.WithoutCancel(ctx), c.m[who.RequestID].calls + 1}
	return who.RequestID
}

func (c *callers) leaveCaller(id string) {
	if id == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.m[id]
	if e.calls--; e.calls > 0 {
		c.m[id] = e
		return
	}
	delete(c.m, id)
}

// servedContext returns the context of a call that the plugin is serving, by its request.
func (c *callers) servedContext(requestID string) (context.Context, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.m[requestID]
	return e.call, ok
}
