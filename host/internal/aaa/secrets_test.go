package aaa_test

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/datastore/badger"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/keys/encrypt/encrypttest"
)

// allLoggers is a logger that writes each record of every logger and level down.
func allLoggers(into *bytes.Buffer) func(string) *slog.Logger {
	h := slog.NewTextHandler(into, &slog.HandlerOptions{Level: slog.Level(-100)})
	return func(name string) *slog.Logger { return slog.New(h).With("logger", name) }
}

// TestNoSecretIsLeftAnywhere uses passwords and tokens in every way there is, on
// the engine that writes files, with all logging on, and then looks for them.
func TestNoSecretIsLeftAnywhere(t *testing.T) {
	dir := t.TempDir()
	store, err := badger.Open(badger.Options{Dir: filepath.Join(dir, "store")})
	must(t, err)
	sealer := encrypttest.Ring(t, "key")
	var logged bytes.Buffer
	first := identity.First{Admin: "first-admin-secret", User: "first-user-secret"}
	same := func(o *aaa.Options) {
		o.Store, o.Sealer, o.First = store, sealer, first
		o.Logger = allLoggers(&logged)
	}
	l := open(t, defaultINI, same)
	admin := "admin:" + first.Admin
	var bodies strings.Builder
	note := func(a answer) answer { bodies.WriteString(a.body); return a }
	note(l.want(201, "POST", "/auth/v1/users", admin, `{"name":"bob","domainid":"sdn","password":"bobs-secret-one"}`))
	note(l.want(201, "POST", "/auth/v1/domains/sdn/users/bob@sdn/roles", admin, `{"roleid":"user@sdn"}`))
	note(l.want(400, "POST", "/auth/v1/users", admin, `{"name":"b@d","domainid":"sdn","password":"never-stored-secret"}`))
	note(l.want(400, "POST", "/auth/v1/users", admin, `{"password":"never-stored-secret"`))
	note(l.want(401, "GET", "/x", "bob:wrong-guess-secret", ""))
	note(l.want(400, "POST", "/oauth2/token", "", passwordForm+"bob&password=wrong-guess-secret"))
	token := l.token("bob", "bobs-secret-one")
	note(l.want(200, "GET", "/x", token, ""))
	note(l.want(200, "PUT", "/auth/v1/users/bob@sdn", admin, `{"password":"bobs-secret-two"}`))
	note(l.want(401, "GET", "/x", token, ""))
	second := l.token("bob", "bobs-secret-two")
	note(l.want(200, "POST", "/oauth2/introspect", second, "token="+second[7:]))
	note(l.want(204, "POST", "/oauth2/revoke", "", second[7:]))
	note(l.want(200, "GET", "/auth/v1/users", admin, ""))

	places := map[string]string{"the log": logged.String(), "the answers": bodies.String(), "the environment": strings.Join(os.Environ(), "\n")}
	must(t, store.Close())
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		places[path] = string(b)
		return err
	}))
	if len(places) < 5 {
		t.Fatalf("only %d places to look at", len(places))
	}
	for _, s := range []string{
		first.Admin, first.User, "bobs-secret-one", "bobs-secret-two", "never-stored-secret", "wrong-guess-secret", token[7:], second[7:], "$argon2id",
	} {
		for place, text := range places {
			for _, form := range []string{s, base64.StdEncoding.EncodeToString([]byte(s))} {
				if strings.Contains(text, form) {
					t.Errorf("%q stands in %s", s, place)
				}
			}
		}
	}
	if !strings.Contains(logged.String(), "Unsuccessful authentication") {
		t.Error("the log was not on")
	}
}

func TestStateSurvivesARestartOnDisk(t *testing.T) {
	dir := t.TempDir()
	start := func() (*lab, func()) {
		store, err := badger.Open(badger.Options{Dir: dir})
		must(t, err)
		l := open(t, defaultINI, func(o *aaa.Options) { o.Store = store })
		return l, func() { must(t, store.Close()) }
	}
	l, stop := start()
	l.user("bob", "user")
	keep, revoked := l.token("bob", "password1"), l.token("bob", "password1")
	l.want(204, "POST", "/oauth2/revoke", "", revoked[7:])
	stop()
	l, stop = start()
	defer stop()
	l.want(200, "GET", "/x", keep, "")
	l.want(401, "GET", "/x", revoked, "")
	l.want(200, "GET", "/x", "bob:password1", "")
}

// TestManyLoginsTakeBoundedMemory lets 24 users log in at once at the default
// cost, 19 MiB each: only a few may be hashed at a time.
func TestManyLoginsTakeBoundedMemory(t *testing.T) {
	h, err := password.New(password.Default, 2)
	must(t, err)
	store := storetest.New(storetest.Options{})
	defer store.Close()
	s := identity.New(identity.Options{Store: store, Hasher: h})
	_, err = s.Bootstrap(ctx, identity.First{Admin: "admin", User: "user"})
	must(t, err)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var wg sync.WaitGroup
	for range 24 {
		wg.Go(func() {
			if p, err := s.Verify(ctx, "admin", "sdn", "admin"); p == nil || err != nil {
				t.Error(p, err)
			}
		})
	}
	wg.Wait()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 150<<20 {
		t.Errorf("the heap grew by %d MiB; all at once would take 456", grown>>20)
	}
}
