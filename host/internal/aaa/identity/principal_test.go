package identity_test

import (
	"fmt"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa/identity"
)

func TestWhoWasNotThereIsSeenAsSoonAsMade(t *testing.T) {
	h := open(t, identity.Options{})
	absent := func(name string) {
		t.Helper()
		if p, worked, err := h.Match(ctx, name, "sdn", "password1"); p != nil || worked || err != nil {
			t.Errorf("%.20s: %v %v %v", name, p, worked, err)
		}
	}
	for range 2 { // found out, then remembered
		absent("bob")
		absent(strings.Repeat("x", 1000))
	}
	h.user(t, "bob", "user")
	if !h.logsIn(t, "bob", "password1") {
		t.Error("bob was made and is still taken for absent")
	}
	absent("eve")
	must(t, h.DeleteUser(ctx, "bob@sdn"))
	absent("bob")
	for i := range 16_500 { // more than are remembered
		absent(fmt.Sprint("guess", i))
	}
	if !h.logsIn(t, "admin", "admin") {
		t.Error("admin is taken for absent")
	}
}
