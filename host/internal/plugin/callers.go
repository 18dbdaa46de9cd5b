package plugin

import (
	"context"
	"sync"

	"ctl.internal/sdk/caller"
)

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

// enter notes the caller of ctx and returns its request id, empty when there is none.
func (c *callers) enter(ctx context.Context) string {
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

func (c *callers) leave(id string) {
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

// Served returns the context of a call that the plugin is serving, by its request.
func (c *callers) Served(requestID string) (context.Context, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.m[requestID]
	return e.call, ok
}
