package sshserver_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"ctl.internal/host/internal/console/consoletest"
	"ctl.internal/host/internal/console/sshserver"
)

func TestPasswordLogin(t *testing.T) {
	s := start(t, nil)
	for _, x := range []struct {
		user, password string
		ok             bool
	}{
		{"admin", "admin-secret", true},
		{"admin@sdn", "admin-secret", true},
		{"admin", "wrong", false},
		{"admin", "", false},
		{"user", "user-secret", false}, // not of role admin
		{"nobody", "nobody-secret", false},
		{"local", "", false},
	} {
		c, err := s.remote(t, x.user, ssh.Password(x.password))
		if (err == nil) != x.ok {
			t.Errorf("%s %s: %v", x.user, x.password, err)
		}
		if err == nil {
			if out, _, code := execute(t, c, "test:fail denied", ""); code != 4 || out != "" {
				t.Errorf("code %d, out %q", code, out)
			}
		}
	}
	for _, a := range s.Audited() {
		if a.Caller.User != "admin" || !strings.HasPrefix(a.Caller.Address, "127.0.0.1:") {
			t.Errorf("audited %+v", a.Caller)
		}
	}
	if _, err := s.remote(t, "admin"); err == nil {
		t.Error("came in over TCP without authentication")
	}
}

func TestAttemptsAreLimited(t *testing.T) {
	s := start(t, nil)
	n := 0
	_, err := s.remote(t, "admin", ssh.RetryableAuthMethod(ssh.PasswordCallback(func() (string, error) { n++; return "wrong", nil }), 100))
	if err == nil || n > 4 {
		t.Errorf("%d attempts, %v", n, err)
	}
}

func newKey(t *testing.T) ssh.Signer {
	t.Helper()
	_, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	k, err := ssh.NewSignerFromKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestKeyLogin(t *testing.T) {
	s := start(t, nil)
	good, other := newKey(t), newKey(t)
	s.Users.Trust("admin", good.PublicKey())
	s.Users.Trust("user", good.PublicKey())
	for _, x := range []struct {
		name, user string
		key        ssh.Signer
		ok         bool
	}{{"good", "admin", good, true}, {"with its domain", "admin@sdn", good, true}, {"other key", "admin", other, false}, {"no user", "someone", good, false}, {"not an admin", "user", good, false}} {
		if _, err := s.remote(t, x.user, ssh.PublicKeys(x.key)); (err == nil) != x.ok {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}

// What was begun with a key does nothing more when the key has been taken away.
func TestAKeyThatIsTakenAwayEndsItsConnection(t *testing.T) {
	s := start(t, nil)
	key := newKey(t)
	s.Users.Trust("admin", key.PublicKey())
	c, err := s.remote(t, "admin", ssh.PublicKeys(key))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, code := execute(t, c, "echo a", ""); code != 0 {
		t.Fatalf("code %d", code)
	}
	s.Users.Trust("admin", nil)
	if ses, err := c.NewSession(); err == nil && ses.Run("echo a") == nil {
		t.Error("a connection goes on with a key that was taken away")
	}
}

func TestRightsAreLookedUpBeforeEachCommand(t *testing.T) {
	s := start(t, nil)
	c, err := s.remote(t, "admin", ssh.Password("admin-secret"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, code := execute(t, c, "echo a", ""); code != 0 {
		t.Fatalf("code %d", code)
	}
	s.Users.Remove("admin")
	ses, err := c.NewSession()
	if err == nil && ses.Run("echo a") == nil {
		t.Error("a removed user runs commands")
	}
	if n := len(s.Audited()); n != 1 {
		t.Errorf("%d commands ran", n)
	}
}

func TestHostKeyIsMadeOnce(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "data", "ssh_host_key")
	var first []byte
	for range 2 {
		if _, err := consoletest.New(home, nil, nil); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(file)
		if err != nil || first != nil && string(first) != string(b) {
			t.Fatalf("the key changed, or %v", err)
		}
		first = b
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	os.WriteFile(file, first[:40], 0o600)
	if _, err := consoletest.New(home, nil, nil); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("a damaged key: %v", err)
	}
}

func TestIdleConnectionsEnd(t *testing.T) {
	s := start(t, func(c *sshserver.Config) { c.Idle = 20 * time.Millisecond })
	c, err := s.remote(t, "admin", ssh.Password("admin-secret"))
	if err != nil {
		t.Fatal(err)
	}
	c.Wait() // returns because the server ends it
}

func TestSilentClientsEnd(t *testing.T) {
	s := start(t, func(c *sshserver.Config) { c.LoginTime = 20 * time.Millisecond; c.MaxConnections = 1 })
	raw, err := net.Dial("tcp", s.tcp)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	b := make([]byte, 256)
	for err == nil { // the greeting, then the end
		_, err = raw.Read(b)
	}
}

func TestConnectionsAreLimited(t *testing.T) {
	s := start(t, func(c *sshserver.Config) { c.MaxConnections = 1 })
	if _, err := s.remote(t, "admin", ssh.Password("admin-secret")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.remote(t, "admin", ssh.Password("admin-secret")); err == nil {
		t.Error("a second connection came in")
	}
	if out, _, _ := execute(t, s.local(t, nil), "echo still here", ""); out != "still here\n" {
		t.Errorf("the local console: %q", out)
	}
}

// Whoever connects and does not log in makes room for one who comes.
func TestSilentClientsLockNobodyOut(t *testing.T) {
	s := start(t, func(c *sshserver.Config) { c.MaxConnections = 2 })
	var silent []net.Conn
	b := make([]byte, 256)
	for range 3 {
		raw, err := net.Dial("tcp", s.tcp)
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		if _, err := raw.Read(b); err != nil { // the greeting: it is in
			t.Fatal(err)
		}
		silent = append(silent, raw)
	}
	for range 2 {
		c, err := s.remote(t, "admin", ssh.Password("admin-secret"))
		if err != nil {
			t.Fatalf("beside silent clients: %v", err)
		}
		if out, _, _ := execute(t, c, "echo in", ""); out != "in\n" {
			t.Errorf("got %q", out)
		}
	}
	for _, raw := range silent {
		var err error
		for err == nil {
			_, err = raw.Read(b)
		}
	}
	if _, err := s.remote(t, "admin", ssh.Password("admin-secret")); err == nil {
		t.Error("who is logged in made room")
	}
}

func TestOneControllerASocket(t *testing.T) {
	s := start(t, nil)
	other, err := consoletest.New(s.Home, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Server.ListenLocal(s.Socket()); err == nil || !strings.Contains(err.Error(), "another controller answers") {
		t.Errorf("got %v", err)
	}
	if err := other.Server.ListenLocal("/" + strings.Repeat("x", 120)); err == nil || !strings.Contains(err.Error(), "choose a home with a shorter path") {
		t.Errorf("got %v", err)
	}
	if info, _ := os.Stat(s.Socket()); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if info, _ := os.Stat(filepath.Dir(s.Socket())); info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", info.Mode())
	}
}
