package aaa_test

import (
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/password"
)

// The faults of the old system that no other test is about; which test is about
// which fault is reported in test/aaatest/FAULTS.md.

// A field of its realm held the user of the last login.
func TestRightsAreNotMixedUpBetweenRequests(t *testing.T) {
	l := open(t, defaultINI)
	l.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = 64
	for i := range 8 {
		role := fmt.Sprint("r", i)
		l.want(201, "POST", "/auth/v1/roles", adm, `{"name":"`+role+`","domainid":"sdn"}`)
		l.user(fmt.Sprint("u", i), role)
	}
	var wg sync.WaitGroup
	for c := range 64 {
		wg.Go(func() {
			for i := range 20 {
				n := (c + i) % 8
				r, _ := http.NewRequest("GET", l.URL+"/x", nil)
				r.SetBasicAuth(fmt.Sprint("u", n), "password1")
				if a := l.send(r); a.status != 200 || a.body != fmt.Sprintf("u%d@sdn r%d", n, n) {
					t.Errorf("u%d is answered as %d %q", n, a.status, a.body)
					return
				}
			}
		})
	}
	wg.Wait()
}

// One token in nine was read as a user name and a password.
func TestEveryTokenIsAccepted(t *testing.T) {
	l := open(t, defaultINI)
	for range 200 {
		l.want(200, "GET", "/x", l.token("admin", "admin"), "")
	}
}

// Passwords were cut at a colon, and names of more than 128 characters answered 500.
func TestLongNamesAndAnyPasswordLogIn(t *testing.T) {
	l := open(t, defaultINI)
	name := strings.Repeat("n", 256)
	for i, pw := range []string{"with:colons:in:it", ":::::::::", strings.Repeat("p", 256), "pässwörter ☃", `quotes"and\slashes`, "admin@sdn:x"} {
		user := fmt.Sprintf("%s%d", name[:255], i)
		l.want(201, "POST", "/auth/v1/users", adm, fmt.Sprintf(`{"name":%q,"domainid":"sdn","password":%q}`, user, pw))
		l.want(201, "POST", "/auth/v1/domains/sdn/users/"+user+"@sdn/roles", adm, `{"roleid":"user@sdn"}`)
		r, _ := http.NewRequest("GET", l.URL+"/x", nil)
		r.SetBasicAuth(user, pw)
		if a := l.send(r); a.status != 200 {
			t.Errorf("password %q by Basic: %d %s", pw, a.status, a.body)
		}
		l.want(200, "POST", "/oauth2/token", "", passwordForm+url.QueryEscape(user)+"&password="+url.QueryEscape(pw))
	}
}

// A password changed at the console left the old one valid (CVE-2017-1000406).
func TestOldPasswordEndsWithAChangeAtTheConsole(t *testing.T) {
	l := open(t, defaultINI)
	l.user("bob", "user")
	l.want(200, "GET", "/x", "bob:password1", "")
	fresh := "password2"
	_, err := l.Identity().UpdateUser(ctx, "bob@sdn", identity.UserChange{Password: &fresh}) // what the command does
	must(t, err)
	l.want(401, "GET", "/x", "bob:password1", "")
	l.want(200, "GET", "/x", "bob:password2", "")
}

// An unknown user was refused sooner than a wrong password. The work is measured by
// the memory of a hash.
func TestUnknownAndDisabledUsersCostTheSameWork(t *testing.T) {
	const kib = 4096
	l := open(t, defaultINI, func(o *aaa.Options) { o.Passwords = password.Params{MemoryKiB: kib, Time: 1, Threads: 1} })
	l.user("off", "user")
	l.user("rightless")
	l.want(200, "PUT", "/auth/v1/users/off@sdn", adm, `{"enabled":false}`)
	for _, name := range []string{"admin", "nobody", "off", "rightless", strings.Repeat("x", 300)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if p, err := l.Identity().Verify(ctx, name, "sdn", "wrong password"); p != nil || err != nil {
			t.Fatal(p, err)
		}
		runtime.ReadMemStats(&after)
		if used := (after.TotalAlloc - before.TotalAlloc) >> 10; used < kib {
			t.Errorf("%.10s: %d KiB were used, a hash takes %d", name, used, kib)
		}
	}
}

// A rule with roles and without a login redirected to a page; and everything was
// open to scripts of any origin.
func TestNoRedirectsAndNoForeignOrigins(t *testing.T) {
	l := open(t, "[urls]\n/x/** = roles[admin]\n/** = authcBasic\n")
	a := l.want(401, "GET", "/x", "", "")
	if a.header.Get("Location") != "" {
		t.Errorf("redirected to %s", a.header.Get("Location"))
	}
	r, _ := http.NewRequest("GET", l.URL+"/auth/v1/users", nil)
	r.SetBasicAuth("admin", "admin")
	r.Header.Set("Origin", "http://elsewhere.example")
	for name := range l.send(r).header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s is set", name)
		}
	}
}
