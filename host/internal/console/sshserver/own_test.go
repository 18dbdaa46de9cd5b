package sshserver_test

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"ctl.internal/host/internal/console/engine"
	"ctl.internal/host/internal/console/sshserver"
	"ctl.internal/sdk/commands"
)

// A user without the role gets in for its own account only.
func TestUsersWithoutTheRoleHaveTheirOwnAccountOnly(t *testing.T) {
	own := engine.New(engine.Config{Sources: []engine.Source{engine.Static([]commands.Command{{Name: "aaa:own", Summary: "about oneself",
		Run: func(_ context.Context, in *commands.Invocation) error { in.Printf("%s\n", in.Caller.User); return nil }}})}})
	s := start(t, func(c *sshserver.Config) { c.Own = own })
	c, err := s.remote(t, "user", ssh.Password("user-secret"))
	if err != nil {
		t.Fatal(err)
	}
	if out, _, code := execute(t, c, "aaa:own", ""); code != 0 || out != "user\n" {
		t.Errorf("code %d, out %q", code, out)
	}
	for _, line := range []string{"feature:list", "path:read import/x", "system:shutdown", "test:login --user x"} {
		if _, errs, code := execute(t, c, line, ""); code != 3 {
			t.Errorf("%s: code %d, %s", line, code, errs)
		}
	}
	if out, _, _ := execute(t, c, "help", ""); strings.Contains(out, "feature:") {
		t.Errorf("help shows\n%s", out)
	}
	admin, err := s.remote(t, "admin", ssh.Password("admin-secret"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, code := execute(t, admin, "feature:list", ""); code != 0 {
		t.Errorf("admin: code %d", code)
	}
	if _, err := s.remote(t, "user", ssh.Password("wrong")); err == nil {
		t.Error("a wrong password gets in")
	}
}
