package identity_test

import (
	"context"
	"testing"

	"ctl.internal/host/internal/aaa/identity"
)

// TestChangesOfAnotherNodeArrive has two services on one store, as two nodes.
func TestChangesOfAnotherNodeArrive(t *testing.T) {
	h := open(t, identity.Options{})
	other := open(t, identity.Options{Store: h.store})
	id := h.user(t, "bob", "user")
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- other.Run(ctx) }()
	defer func() {
		stop()
		must(t, <-done)
	}()
	if p, err := other.Principal(ctx, id); err != nil || !p.MayLogIn() {
		t.Fatal(p, err) // now it is in the other's cache
	}
	no := false
	_, err := h.UpdateUser(ctx, id, identity.UserChange{Enabled: &no})
	must(t, err)
	// The watch may not have begun yet: send word until it comes through.
	for {
		p, err := other.Principal(ctx, id)
		must(t, err)
		if !p.MayLogIn() {
			return
		}
		_, err = h.UpdateUser(ctx, id, identity.UserChange{Profile: map[string]string{"description": id}})
		must(t, err)
	}
}
