// Package act carries what is found out about a request that may change something to the recorder that writes it down.
package act

import (
	"context"
	"slices"
	"sync"
)

// Act is a request that may change something, while it is carried out. Who sends it and what it changes is found out
// on the way, by the rooms that know; the recorder writes it down before it is answered. A nil Act takes everything
// and keeps nothing, so nobody has to ask whether there is one.
type Act struct {
	mu      sync.Mutex
	sender  Sender
	changes []Done
	notices []string
}

// Sender is who sends a request.
type Sender struct {
	User       string // NAME@DOMAIN
	Realm      string
	Credential string // id of the token or session; empty for a password
}

// Done is a change that was committed.
type Done struct{ Action, Object string }

// maxDone bounds the changes of one request that are named.
const maxDone = 64

type actKey struct{}

// With returns a context of an act.
func With(ctx context.Context, a *Act) context.Context {
	return context.WithValue(ctx, actKey{}, a)
}

// Of returns the act of a context, nil if there is none.
func Of(ctx context.Context) *Act {
	a, _ := ctx.Value(actKey{}).(*Act)
	return a
}

// SentBy says who sends the request.
func (a *Act) SentBy(s Sender) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sender = s
}

// Changed notes a committed change.
func (a *Act) Changed(action, object string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.changes) < maxDone {
		a.changes = append(a.changes, Done{action, object})
	}
}

// Notify has the answer say something that who sent the request should know.
func (a *Act) Notify(text string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.notices) < maxDone && !slices.Contains(a.notices, text) {
		a.notices = append(a.notices, text)
	}
}

// Notices are what the answer is to say.
func (a *Act) Notices() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.notices)
}

// Known returns what is known of the act so far.
func (a *Act) Known() (Sender, []Done) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sender, slices.Clone(a.changes)
}
