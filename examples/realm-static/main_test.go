package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/realm"
)

// digest is that of "pw".
const digest = "30c952fab122c3f9759f02a6d95c3758b246b4fee239957b2d4fee46e26170c4"

func TestLogins(t *testing.T) {
	c := realm.NewClient(plugintest.Start(t, options()).Conn)
	conf := realm.Config{Name: "s", Kind: "StaticRealm", Properties: map[string]realm.Property{
		"users": {Value: "x", Map: map[string]string{"alice": digest}}, "roles": {Value: "admin user"}}}
	if _, err := c.Configure(t.Context(), conf); err != nil {
		t.Fatal(err)
	}
	if r := c.Authenticate(t.Context(), "s", realm.Credentials{User: "alice", Password: "pw"}); r.Outcome != realm.Authenticated || len(r.Roles) != 2 {
		t.Errorf("%+v", r)
	}
	for _, bad := range []realm.Credentials{{User: "alice", Password: "x"}, {User: "eve", Password: "pw"}, {User: "alice", Domain: "d", Password: "pw"}} {
		if r := c.Authenticate(t.Context(), "s", bad); r.Outcome != realm.Unknown {
			t.Errorf("%+v", r)
		}
	}
	conf.Properties["users"] = realm.Property{Value: "x", Map: map[string]string{"alice": "pw"}, Origin: "etc/sec.ini:5"}
	if _, err := c.Configure(t.Context(), conf); err == nil || !strings.Contains(err.Error(), "etc/sec.ini:5") {
		t.Errorf("%v", err)
	}
}

// The guide, docs/realms.md, shows this program and says how short it is.
func TestItIsShort(t *testing.T) {
	b, err := os.ReadFile("main.go")
	if n := strings.Count(string(b), "\n"); err != nil || n > 60 {
		t.Errorf("%v; main.go has %d lines; the guide promises 60", err, n)
	}
}

func TestConformance(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "realm-static")
	if out, err := exec.CommandContext(within(t), "go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	plugintest.Run(t, bin)
}

// within bounds a process of the test.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
