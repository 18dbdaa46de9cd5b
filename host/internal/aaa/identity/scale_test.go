package identity_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/badger"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/sdk/fault"
)

// counting counts the entries that are read.
type counting struct {
	datastore.Store
	read atomic.Int64
}

type countingSnapshot struct {
	datastore.Snapshot
	read *atomic.Int64
}

func (c *counting) View(ctx context.Context, f func(datastore.Snapshot) error) error {
	return c.Store.View(ctx, func(sn datastore.Snapshot) error { return f(countingSnapshot{sn, &c.read}) })
}

func (s countingSnapshot) Get(ns, key string) (datastore.Entry, error) {
	s.read.Add(1)
	return s.Snapshot.Get(ns, key)
}

func (s countingSnapshot) Range(ns string, o datastore.RangeOptions) iter.Seq2[datastore.Entry, error] {
	return func(yield func(datastore.Entry, error) bool) {
		for e, err := range s.Snapshot.Range(ns, o) {
			s.read.Add(1)
			if !yield(e, err) {
				return
			}
		}
	}
}

// crowd makes n users who hold three roles each; all have the password "secret".
func crowd(t testing.TB, h *harness, n int) {
	t.Helper()
	for _, r := range []string{"r1", "r2"} {
		must(t, h.CreateRole(ctx, identity.Role{Name: r, Domain: "sdn"}))
	}
	list := make([]identity.User, n)
	for i := range list {
		list[i] = identity.User{Name: fmt.Sprintf("u%06d", i), Domain: "sdn", Enabled: true}
	}
	must(t, h.Crowd(ctx, list, "secret", "user@sdn", "r1@sdn", "r2@sdn"))
}

// TestNothingScansAllUsers counts what operations on one user read among 2,000.
func TestNothingScansAllUsers(t *testing.T) {
	store := &counting{Store: storetest.New(storetest.Options{})}
	defer store.Close()
	h := open(t, identity.Options{Store: store})
	crowd(t, h, 2000)
	const one = "u001000@sdn"
	for name, f := range map[string]func() error{
		"principal":   func() error { _, err := h.Principal(ctx, one); return err },
		"login":       func() error { _, err := h.Verify(ctx, "u001000", "sdn", "secret"); return err },
		"disable":     func() error { _, err := h.UpdateUser(ctx, one, identity.UserChange{Enabled: ptr(false)}); return err },
		"grant":       func() error { return h.CreateGrant(ctx, identity.Grant{User: one, Role: "admin@sdn", Domain: "sdn"}) },
		"roles":       func() error { _, err := h.GrantedRoles(ctx, "sdn", one); return err },
		"page":        func() error { _, err := h.Users(ctx, identity.Page{After: one, Limit: 10}); return err },
		"delete":      func() error { return h.DeleteUser(ctx, "u001001@sdn") },
		"all admins":  func() error { _, err := h.Admins(ctx); return err },
		"create user": func() error { return h.CreateUser(ctx, identity.User{Name: "new", Domain: "sdn"}, "password1") },
	} {
		before := store.read.Load()
		must(t, f())
		if n := store.read.Load() - before; n > 40 {
			t.Errorf("%s reads %d entries", name, n)
		}
	}
}

func TestALoginMakesAHashWithOtherParametersAgain(t *testing.T) {
	h := open(t, identity.Options{})
	must(t, h.CreateUser(ctx, identity.User{Name: "old", Domain: "sdn", Enabled: true}, "password1"))
	must(t, h.CreateGrant(ctx, identity.Grant{User: "old@sdn", Role: "user@sdn", Domain: "sdn"}))
	p, err := h.Principal(ctx, "old@sdn")
	must(t, err)
	stored := func() string {
		e, err := datastore.Get(ctx, h.store, "aaa-identity", "user/sdn/old")
		must(t, err)
		return string(e.Value)
	}
	before := stored()
	hasher, err := password.New(password.Params{MemoryKiB: 64, Time: 2, Threads: 1}, 2)
	must(t, err)
	h.Service = identity.New(identity.Options{Store: h.store, Hasher: hasher})
	if h.logsIn(t, "old", "wrong") || stored() != before {
		t.Fatal("a wrong password is accepted, or changes the hash")
	}
	if !h.logsIn(t, "old", "password1") || stored() == before {
		t.Error("the login did not make the hash again")
	}
	if again, _ := h.Principal(ctx, "old@sdn"); again.Epoch != p.Epoch || !h.logsIn(t, "old", "password1") {
		t.Error("making the hash again ended logins")
	}
}

// xor is a Sealer that only shows that sealing happens and is bound to the user.
type xor struct{}

func (xor) Seal(plain, purpose []byte) ([]byte, error) {
	return append(append([]byte(nil), purpose...), flip(plain)...), nil
}

func (xor) Open(sealed, purpose []byte) ([]byte, error) {
	rest, ok := strings.CutPrefix(string(sealed), string(purpose))
	if !ok {
		return nil, fmt.Errorf("sealed for another purpose")
	}
	return flip([]byte(rest)), nil
}

func flip(b []byte) []byte {
	out := make([]byte, len(b))
	for i := range b {
		out[i] = b[i] ^ 0x5a
	}
	return out
}

func TestHashesAreSealedAndBoundToTheirUser(t *testing.T) {
	h := open(t, identity.Options{Sealer: xor{}})
	h.user(t, "bob", "user")
	if !h.logsIn(t, "bob", "password1") {
		t.Error("a sealed hash does not log in")
	}
	e, err := datastore.Get(ctx, h.store, "aaa-identity", "user/sdn/bob")
	must(t, err)
	if strings.Contains(string(e.Value), base64.StdEncoding.EncodeToString([]byte("$argon2id"))[:8]) {
		t.Error("the hash is not sealed")
	}
	_, err = h.store.Commit(ctx, datastore.Txn{Ops: []datastore.Op{datastore.Put("aaa-identity", "user/sdn/admin", e.Value)}})
	must(t, err)
	if p, err := h.Verify(ctx, "admin", "sdn", "password1"); p != nil || err == nil {
		t.Errorf("a record moved to another user logs in: %v, %v", p, err)
	}
}

// BenchmarkCrowd reports lookups and lists among 100,000 users with 300,000 grants,
// in memory and on disk. A login here is all but its hash (package password).
func BenchmarkCrowd(b *testing.B) {
	for _, engine := range []string{"memory", "badger"} {
		b.Run(engine, func(b *testing.B) {
			o := identity.Options{}
			if engine == "badger" {
				store, err := badger.Open(badger.Options{Dir: b.TempDir()})
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { store.Close() })
				o.Store = store
			}
			h := open(b, o)
			crowd(b, h, 100_000)
			benchmarkCrowd(b, h)
		})
	}
}

func benchmarkCrowd(b *testing.B, h *harness) {
	b.Run("principal", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, err := h.Principal(ctx, fmt.Sprintf("u%06d@sdn", i*7919%100_000)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("login", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if p, err := h.Verify(ctx, fmt.Sprintf("u%06d", i*7919%100_000), "sdn", "wrong"); p != nil || err != nil {
				b.Fatal(p, err)
			}
		}
	})
	b.Run("page", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			after := fmt.Sprintf("u%06d@sdn", i*7919%99_000)
			if list, err := h.Users(ctx, identity.Page{After: after, Limit: 100}); len(list) != 100 || err != nil {
				b.Fatal(len(list), err)
			}
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if list, err := h.Users(ctx, identity.Page{}); len(list) < 100_000 || err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("grant", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			g := identity.Grant{User: fmt.Sprintf("u%06d@sdn", i%100_000), Role: "admin@sdn", Domain: "sdn"}
			if err := h.CreateGrant(ctx, g); err != nil && fault.KindOf(err) != fault.Exists {
				b.Fatal(err)
			}
		}
	})
}
