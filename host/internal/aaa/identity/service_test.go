package identity_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/sdk/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

type harness struct {
	*identity.Service
	store datastore.Store
	audit []string
}

func open(t testing.TB, o identity.Options) *harness {
	t.Helper()
	h := &harness{}
	if o.Store == nil {
		o.Store = storetest.New(storetest.Options{})
		t.Cleanup(func() { o.Store.Close() })
	}
	h.store = o.Store
	var err error
	if o.Hasher, err = password.New(password.Params{MemoryKiB: 64, Time: 1, Threads: 1}, 2); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	o.Audit = func(_ context.Context, action, object string) {
		mu.Lock()
		defer mu.Unlock()
		h.audit = append(h.audit, action+" "+object)
	}
	h.Service = identity.New(o)
	if _, err := h.Bootstrap(ctx, identity.First{Admin: "admin", User: "user"}); err != nil {
		t.Fatal(err)
	}
	return h
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantKind(t testing.TB, what string, err error, k fault.Kind) {
	t.Helper()
	if err == nil || fault.KindOf(err) != k {
		t.Errorf("%s: got %v, want a fault of kind %v", what, err, k)
	}
}

func (h *harness) user(t testing.TB, name string, roles ...string) string {
	t.Helper()
	must(t, h.CreateUser(ctx, identity.User{Name: name, Domain: "sdn", Enabled: true}, "password1"))
	for _, r := range roles {
		must(t, h.CreateGrant(ctx, identity.Grant{User: name + "@sdn", Role: r + "@sdn", Domain: "sdn"}))
	}
	return name + "@sdn"
}

func (h *harness) logsIn(t testing.TB, name, password string) bool {
	t.Helper()
	p, err := h.Verify(ctx, name, "sdn", password)
	must(t, err)
	return p != nil
}

func ptr[T any](v T) *T { return &v }

func TestBuiltins(t *testing.T) {
	h := open(t, identity.Options{})
	p, err := h.Principal(ctx, "admin@sdn")
	must(t, err)
	if !slices.Equal(p.Roles, []string{"admin", "user"}) || !p.MayLogIn() {
		t.Errorf("admin is %+v", p)
	}
	if !h.logsIn(t, "admin", "admin") || !h.logsIn(t, "user", "user") || h.logsIn(t, "admin", "user") || h.logsIn(t, "nobody", "x") {
		t.Error("the first passwords do not decide")
	}
	if made, err := h.Bootstrap(ctx, identity.First{Admin: "other", User: "other"}); made || err != nil {
		t.Errorf("a second start made the users again: %v, %v", made, err)
	}
}

func TestRandomFirstPasswordsAreWrittenOnceForTheOwnerOnly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "etc", "initial-passwords")
	hasher, err := password.New(password.Params{MemoryKiB: 64, Time: 1, Threads: 1}, 1)
	must(t, err)
	store := storetest.New(storetest.Options{})
	defer store.Close()
	s := identity.New(identity.Options{Store: store, Hasher: hasher})
	made, err := s.Bootstrap(ctx, identity.First{User: "user", File: file})
	if !made || err != nil {
		t.Fatal(made, err)
	}
	text, err := os.ReadFile(file)
	must(t, err)
	info, _ := os.Stat(file)
	name, secret, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	if info.Mode().Perm() != 0o600 || name != "admin" || len(secret) < 20 {
		t.Errorf("mode %v, content %q", info.Mode(), text)
	}
	if p, err := s.Verify(ctx, "admin", "sdn", secret); p == nil || err != nil {
		t.Errorf("the written password does not log in: %v", err)
	}
}

func TestValidation(t *testing.T) {
	h := open(t, identity.Options{})
	long := strings.Repeat("x", 257)
	for what, c := range map[string]struct {
		u    identity.User
		pw   string
		kind fault.Kind
	}{
		"no name":         {identity.User{Domain: "sdn"}, "password1", fault.Missing},
		"at":              {identity.User{Name: "a@b", Domain: "sdn"}, "password1", fault.Invalid},
		"slash":           {identity.User{Name: "a/b", Domain: "sdn"}, "password1", fault.Invalid},
		"control":         {identity.User{Name: "a\nb", Domain: "sdn"}, "password1", fault.Invalid},
		"dots":            {identity.User{Name: "..", Domain: "sdn"}, "password1", fault.Invalid},
		"encoded":         {identity.User{Name: "a%41", Domain: "sdn"}, "password1", fault.Invalid},
		"long name":       {identity.User{Name: long, Domain: "sdn"}, "password1", fault.Invalid},
		"long text":       {identity.User{Name: "a", Domain: "sdn", Profile: identity.Profile{Description: long}}, "password1", fault.Invalid},
		"email":           {identity.User{Name: "a", Domain: "sdn", Profile: identity.Profile{Email: "nobody"}}, "password1", fault.Invalid},
		"no password":     {identity.User{Name: "a", Domain: "sdn"}, "", fault.Missing},
		"short password":  {identity.User{Name: "a", Domain: "sdn"}, "seven77", fault.Invalid},
		"long password":   {identity.User{Name: "a", Domain: "sdn"}, long, fault.Invalid},
		"unknown domain":  {identity.User{Name: "a", Domain: "lab"}, "password1", fault.NotFound},
		"duplicate":       {identity.User{Name: "admin", Domain: "sdn"}, "password1", fault.Exists},
		"no domain given": {identity.User{Name: "a"}, "password1", fault.Missing},
	} {
		wantKind(t, what, h.CreateUser(ctx, c.u, c.pw), c.kind)
	}
	odd := `x' OR '1'='1 & <b> ; ü`
	id := h.user(t, odd, "user")
	if !h.logsIn(t, odd, "password1") {
		t.Error("a user with odd characters cannot log in")
	}
	must(t, h.DeleteUser(ctx, id))
	if users, _ := h.Users(ctx, identity.Page{}); len(users) != 2 {
		t.Errorf("deleting one user left %d of 2 others", len(users))
	}
}

func TestUpdateKeepsWhatIsNotNamed(t *testing.T) {
	h := open(t, identity.Options{})
	id := h.user(t, "bob", "user")
	_, err := h.UpdateUser(ctx, id, identity.UserChange{Enabled: ptr(false)})
	must(t, err)
	u, err := h.UpdateUser(ctx, id, identity.UserChange{Profile: map[string]string{"description": "x"}})
	if err != nil || u.Enabled || u.Description != "x" {
		t.Errorf("got %+v, %v: an update without `enabled` must not enable", u, err)
	}
	if h.logsIn(t, "bob", "password1") {
		t.Error("a disabled user logs in")
	}
}

func TestEpochEndsOldLogins(t *testing.T) {
	h := open(t, identity.Options{})
	id := h.user(t, "bob", "user")
	epoch := func() string { p, err := h.Principal(ctx, id); must(t, err); return p.Epoch }
	first := epoch()
	_, err := h.UpdateUser(ctx, id, identity.UserChange{Profile: map[string]string{"description": "x", "email": "b@x.org"}})
	must(t, err)
	if epoch() != first {
		t.Error("a new description ends logins")
	}
	_, err = h.UpdateUser(ctx, id, identity.UserChange{Password: ptr("password2")})
	must(t, err)
	second := epoch()
	_, err = h.UpdateUser(ctx, id, identity.UserChange{Enabled: ptr(false)})
	must(t, err)
	third := epoch()
	must(t, h.DeleteUser(ctx, id))
	h.user(t, "bob", "user")
	if fourth := epoch(); first == second || second == third || third == fourth {
		t.Errorf("epochs %s %s %s %s: each must differ", first, second, third, fourth)
	}
	if h.logsIn(t, "bob", "password2") {
		t.Error("the password of a deleted user still logs in")
	}
}

func TestDeletingTakesGrantsAlong(t *testing.T) {
	h := open(t, identity.Options{})
	id := h.user(t, "bob", "user", "admin")
	must(t, h.DeleteUser(ctx, id))
	h.user(t, "bob")
	if p, _ := h.Principal(ctx, id); len(p.Roles) != 0 || p.MayLogIn() {
		t.Errorf("a user who was created again has the roles %v of the old one", p.Roles)
	}
	must(t, h.CreateRole(ctx, identity.Role{Name: "ops", Domain: "sdn"}))
	must(t, h.CreateGrant(ctx, identity.Grant{User: id, Role: "ops@sdn", Domain: "sdn"}))
	must(t, h.DeleteRole(ctx, "ops@sdn"))
	if roles, err := h.GrantedRoles(ctx, "sdn", id); len(roles) != 0 || err != nil {
		t.Errorf("after deleting the role the user holds %v, %v", roles, err)
	}
	must(t, h.CreateDomain(ctx, identity.Domain{Name: "lab", Enabled: true}))
	must(t, h.CreateUser(ctx, identity.User{Name: "eve", Domain: "lab", Enabled: true}, "password1"))
	must(t, h.CreateRole(ctx, identity.Role{Name: "r", Domain: "lab"}))
	must(t, h.CreateGrant(ctx, identity.Grant{User: "eve@lab", Role: "user@sdn", Domain: "sdn"}))
	must(t, h.CreateGrant(ctx, identity.Grant{User: id, Role: "r@lab", Domain: "sdn"}))
	must(t, h.CreateGrant(ctx, identity.Grant{User: id, Role: "user@sdn", Domain: "lab"}))
	must(t, h.DeleteDomain(ctx, "lab"))
	if n := grantCount(t, h.store); n != 3*3 {
		t.Errorf("%d index entries are left, want those of the three built-in grants", n)
	}
	_, err := h.User(ctx, "eve@lab")
	wantKind(t, "user of a deleted domain", err, fault.NotFound)
}

func grantCount(t *testing.T, s datastore.Store) (n int) {
	t.Helper()
	must(t, s.View(ctx, func(sn datastore.Snapshot) error {
		for _, prefix := range []string{"grant/", "granted/", "within/"} {
			for _, err := range sn.Range("aaa-identity", datastore.RangeOptions{Prefix: prefix}) {
				must(t, err)
				n++
			}
		}
		return nil
	}))
	return n
}

func TestLastAdministratorStays(t *testing.T) {
	h := open(t, identity.Options{})
	grant := identity.Grant{User: "admin@sdn", Role: "admin@sdn", Domain: "sdn"}
	all := map[string]func() error{
		"delete": func() error { return h.DeleteUser(ctx, "admin@sdn") },
		"disable": func() error {
			_, err := h.UpdateUser(ctx, "admin@sdn", identity.UserChange{Enabled: ptr(false)})
			return err
		},
		"take role":     func() error { return h.DeleteGrant(ctx, grant) },
		"delete role":   func() error { return h.DeleteRole(ctx, "admin@sdn") },
		"delete domain": func() error { return h.DeleteDomain(ctx, "sdn") },
		"disable domain": func() error {
			_, err := h.UpdateDomain(ctx, "sdn", identity.DomainChange{Enabled: ptr(false)})
			return err
		},
	}
	for what, f := range all {
		wantKind(t, what, f(), fault.InUse)
	}
	root := h.user(t, "root", "admin")
	must(t, h.DeleteUser(ctx, "admin@sdn"))
	wantKind(t, "delete the other", h.DeleteUser(ctx, root), fault.InUse)

	// Two administrators who delete each other at the same moment: one must stay.
	h.user(t, "second", "admin")
	var wg sync.WaitGroup
	for _, id := range []string{root, "second@sdn"} {
		wg.Go(func() { _ = h.DeleteUser(ctx, id) })
	}
	wg.Wait()
	if admins, err := h.Admins(ctx); err != nil || len(admins) != 1 {
		t.Errorf("administrators left: %v, %v", admins, err)
	}
}

func TestOnlySDNGivesRights(t *testing.T) {
	h := open(t, identity.Options{})
	must(t, h.CreateDomain(ctx, identity.Domain{Name: "lab", Enabled: true}))
	must(t, h.CreateRole(ctx, identity.Role{Name: "admin", Domain: "lab"}))
	id := h.user(t, "bob")
	must(t, h.CreateGrant(ctx, identity.Grant{User: id, Role: "admin@sdn", Domain: "lab"}))
	must(t, h.CreateGrant(ctx, identity.Grant{User: id, Role: "admin@lab", Domain: "sdn"}))
	if p, _ := h.Principal(ctx, id); p.MayLogIn() {
		t.Errorf("roles %v come from another domain", p.Roles)
	}
	must(t, h.CreateUser(ctx, identity.User{Name: "eve", Domain: "lab", Enabled: true}, "password1"))
	must(t, h.CreateGrant(ctx, identity.Grant{User: "eve@lab", Role: "user@sdn", Domain: "sdn"}))
	if p, _ := h.Principal(ctx, "eve@lab"); !p.MayLogIn() {
		t.Error("a user of another domain with a grant in sdn cannot log in")
	}
	_, err := h.UpdateDomain(ctx, "lab", identity.DomainChange{Enabled: ptr(false)})
	must(t, err)
	if p, _ := h.Principal(ctx, "eve@lab"); p.MayLogIn() {
		t.Error("a user of a disabled domain may log in")
	}
}

func TestPages(t *testing.T) {
	h := open(t, identity.Options{})
	for i := range 5 {
		h.user(t, fmt.Sprint("u", i))
	}
	var seen []string
	for after := ""; ; {
		page, err := h.Users(ctx, identity.Page{After: after, Limit: 3})
		must(t, err)
		for _, u := range page {
			seen = append(seen, u.Name)
		}
		if len(page) < 3 {
			break
		}
		after = page[2].ID()
	}
	if got := strings.Join(seen, " "); got != "admin u0 u1 u2 u3 u4 user" {
		t.Errorf("pages give %s", got)
	}
}

func TestAuditNamesEveryChange(t *testing.T) {
	h := open(t, identity.Options{})
	id := h.user(t, "bob", "user")
	_ = h.CreateUser(ctx, identity.User{Name: "bob", Domain: "sdn"}, "password1")
	must(t, h.DeleteUser(ctx, id))
	want := "[create user bob@sdn create grant bob@sdn@user@sdn@sdn delete user bob@sdn]"
	if got := fmt.Sprint(h.audit); got != want {
		t.Errorf("audit %s, want %s", got, want)
	}
}
