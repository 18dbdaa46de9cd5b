package netconf_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/internal/netconf"
)

func TestHostKey(t *testing.T) {
	r := start(t, simrouter.Options{})
	to := target(r)
	to.HostKey = ""
	s, err := netconf.Dial(within(t, time.Minute), to)
	if err != nil {
		t.Fatal(err)
	}
	if s.HostKey() != r.HostKey() {
		t.Errorf("the first key is reported as %q", s.HostKey())
	}
	if err := s.Close(within(t, time.Minute)); err != nil {
		t.Error(err)
	}
	to.HostKey = s.HostKey()
	if err := r.NewHostKey(); err != nil {
		t.Fatal(err)
	}
	_, err = netconf.Dial(within(t, time.Minute), to)
	var other *netconf.HostKeyError
	if !errors.As(err, &other) || other.Pinned != to.HostKey || other.Shown != r.HostKey() || !strings.Contains(err.Error(), "SHA256:") {
		t.Errorf("another key: %v", err)
	}
	if err := r.OtherKindOfHostKey(); err != nil {
		t.Fatal(err)
	}
	_, err = netconf.Dial(within(t, time.Minute), to)
	if !errors.As(err, &other) || other.Pinned != to.HostKey || other.Shown != "" || !strings.Contains(err.Error(), "ecdsa-sha2-nistp256") {
		t.Errorf("a key of another kind: %v", err)
	}
	to.HostKey = "rubbish"
	if _, err := netconf.Dial(within(t, time.Minute), to); err == nil {
		t.Error("an invalid key was accepted")
	}
}

func TestLogin(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	authorized := string(ssh.MarshalAuthorizedKey(key))
	r, strict := start(t, simrouter.Options{AuthorizedTo: authorized}), start(t, simrouter.Options{AuthorizedTo: authorized, Both: true})
	to := func(r *simrouter.Router) func(*netconf.Target) {
		return func(t *netconf.Target) { *t = target(r); t.PrivateKey = pem.EncodeToMemory(block) }
	}
	for name, c := range map[string]struct {
		change func(*netconf.Target)
		ok     bool
		login  bool // ErrLogin
	}{
		"key and password, both needed":       {to(strict), true, false},
		"key and wrong password, both needed": {func(t *netconf.Target) { to(strict)(t); t.Password = "secret-word" }, false, true},
		"key only, both needed":               {func(t *netconf.Target) { to(strict)(t); t.Password = "" }, false, true},
		"password":                            {func(*netconf.Target) {}, true, false},
		"key":                                 {func(t *netconf.Target) { t.Password, t.PrivateKey = "", pem.EncodeToMemory(block) }, true, false},
		"key and wrong":                       {func(t *netconf.Target) { t.Password, t.PrivateKey = "wrong", pem.EncodeToMemory(block) }, true, false},
		"wrong password":                      {func(t *netconf.Target) { t.Password = "secret-word" }, false, true},
		"wrong user":                          {func(t *netconf.Target) { t.User = "other" }, false, true},
		"nothing":                             {func(t *netconf.Target) { t.Password = "" }, false, false},
		"a broken key":                        {func(t *netconf.Target) { t.PrivateKey = []byte("secret-word") }, false, false},
	} {
		to := target(r)
		c.change(&to)
		s, err := netconf.Dial(within(t, time.Minute), to)
		if s != nil {
			_ = s.Close(within(t, time.Minute))
		}
		if (err == nil) != c.ok || errors.Is(err, netconf.ErrLogin) != c.login {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret-word") {
			t.Errorf("%s: the error holds a secret: %v", name, err)
		}
	}
}

func TestNotReached(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	mute := netconf.Target{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, User: "lab", Password: "lab"}
	if _, err := netconf.Dial(within(t, 100*time.Millisecond), mute); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a port that never speaks: %v", err)
	}
	r := start(t, simrouter.Options{})
	r.Set(simrouter.Faults{NoHello: true})
	if _, err := netconf.Dial(within(t, 300*time.Millisecond), target(r)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no hello: %v", err)
	}
	r.Set(simrouter.Faults{Hello: "<hello/>]]>]]>"})
	if _, err := netconf.Dial(within(t, time.Minute), target(r)); err == nil || !strings.Contains(err.Error(), "hello") {
		t.Errorf("a bad hello: %v", err)
	}
	r.Down()
	if _, err := netconf.Dial(within(t, time.Minute), target(r)); err == nil {
		t.Error("a router that is off was reached")
	}
}
