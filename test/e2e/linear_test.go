package e2e

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

// configure makes a home, then changes a file of its etc.
func configure(t *testing.T, file string, change func(shipped string) string) string {
	t.Helper()
	home := harness.NewHome(t)
	c := start(t, home)
	c.Stop()
	path := filepath.Join(home, "etc", file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(change(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// crowd are 64 clients that ask for the same as fast as they can, each on a
// connection of its own.
const crowd = 64

// ask is a request and what it must be answered while the thing asked about is open.
type ask struct {
	path       string
	auth       func() string
	open, shut int
}

// settle asks with 64 clients while open and shut run in turn, open first and last. Each client reads the
// state before and after its request; when both are the same and no change ran
// between, the answer must be the one that the state demands.
func settle(t *testing.T, c *controller, asks []ask, open, shut func()) {
	t.Helper()
	client := &http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: crowd}}
	defer client.CloseIdleConnections()
	status := func(a ask) (int, error) {
		r, err := http.NewRequest("GET", c.HTTP+a.path, nil)
		if err != nil {
			return 0, err
		}
		if user, password, ok := strings.Cut(a.auth(), ":"); ok {
			r.SetBasicAuth(user, password)
		} else {
			r.Header.Set("Authorization", "Bearer "+a.auth())
		}
		res, err := client.Do(r)
		if err != nil {
			return 0, err
		}
		defer res.Body.Close()
		_, err = io.Copy(io.Discard, res.Body)
		return res.StatusCode, err
	}
	var state atomic.Int64 // even while nothing changes; state/2 reports which was done last
	open()
	var decided [8]atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range crowd {
		wg.Go(func() {
			n := i % len(asks)
			for {
				select {
				case <-stop:
					return
				default:
				}
				before := state.Load()
				got, err := status(asks[n])
				if err != nil {
					t.Error(err)
					return
				}
				if before != state.Load() || before%2 == 1 {
					continue // a change ran beside it: either answer is right
				}
				want := asks[n].open
				if before/2%2 == 1 {
					want = asks[n].shut
				}
				if got != want {
					t.Errorf("state %d: %s answered %d, want %d", before, asks[n].path, got, want)
					return
				}
				decided[n].Add(1)
			}
		})
	}
	for i := range 8 {
		for n := range asks { // let every state be seen by every kind of request
			for from := decided[n].Load(); decided[n].Load() < from+crowd/2 && !t.Failed(); {
				if _, err := status(asks[n]); err != nil {
					t.Error(err)
				}
			}
		}
		state.Add(1)
		if i%2 == 0 {
			shut()
		} else {
			open()
		}
		state.Add(1)
	}
	close(stop)
	wg.Wait()
}

// Whatever decides access counts from the request after its change on, for 64
// clients of a running controller.
func TestChangesCountFromTheNextRequestOn(t *testing.T) {
	home := configure(t, "sec.ini", func(shipped string) string {
		return strings.Replace(shipped, "securityManager.realms = $tokenAuthRealm", "securityManager.realms = $tokenAuthRealm, $iniRealm", 1) +
			"\n[users]\ncarol = carols-secret, dog\n"
	})
	// The wrong password of one state is not an attack.
	settings := "aaa:\n  throttle: {after: 1000000}\n  argon2: {memory: 8MiB, time: 1}\n"
	if err := os.WriteFile(filepath.Join(home, "etc", "ctl.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	c := start(t, home)
	must := func(want int, method, path, body string) {
		t.Helper()
		a := c.Do(method, path, admin, body)
		if a.Status != want {
			t.Errorf("%s %s: %d %s, want %d", method, path, a.Status, a.Body, want)
		}
	}
	always := func(text string) func() string { return func() string { return text } }
	const bob, carol = "/auth/v1/users/bob@sdn", "/auth/v1/users/carol@sdn"
	grants := "/auth/v1/domains/sdn/users/bob@sdn/roles"
	must(201, "POST", "/auth/v1/users", `{"name":"bob","password":"bobs-secret","domainid":"sdn"}`)
	must(201, "POST", grants, `{"roleid":"user@sdn"}`)
	must(201, "POST", "/auth/v1/users", `{"name":"carol","password":"carols-secret","domainid":"sdn"}`)
	must(201, "POST", "/auth/v1/domains/sdn/users/carol@sdn/roles", `{"roleid":"user@sdn"}`)
	modules := func(auth func() string) []ask { return []ask{{"/restconf/modules", auth, 200, 401}} }
	put := func(path, body string) func() { return func() { must(200, "PUT", path, body) } }

	t.Run("a disabled user", func(t *testing.T) {
		settle(t, c, modules(always("bob:bobs-secret")), put(bob, `{"enabled":true}`), put(bob, `{"enabled":false}`))
	})
	t.Run("a password", func(t *testing.T) {
		asks := []ask{{"/restconf/modules", always("bob:bobs-secret"), 200, 401}, {"/restconf/streams", always("bob:bobs-other-secret"), 401, 200}}
		settle(t, c, asks, put(bob, `{"password":"bobs-secret"}`), put(bob, `{"password":"bobs-other-secret"}`))
	})
	t.Run("a grant", func(t *testing.T) {
		must(204, "DELETE", grants+"/user@sdn", "")
		settle(t, c, modules(always("bob:bobs-secret")),
			func() { must(201, "POST", grants, `{"roleid":"user@sdn"}`) }, func() { must(204, "DELETE", grants+"/user@sdn", "") })
	})
	t.Run("a revocation", func(t *testing.T) {
		var token atomic.Value
		issue := func() {
			a := c.form("/oauth2/token", "grant_type", "password", "username", "bob", "password", "bobs-secret", "scope", "sdn")
			if a.Status != 200 {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			token.Store(a.JSON(t)["access_token"])
		}
		settle(t, c, modules(func() string { return token.Load().(string) }), issue, func() {
			if a := c.form("/oauth2/revoke", "token", token.Load().(string)); a.Status != 200 {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
		})
	})
	t.Run("a policy", func(t *testing.T) {
		must(201, "PUT", jsonPolicies, policies("/restconf/streams/**", "admin", "get"))
		settle(t, c, modules(always("bob:bobs-secret")), put(jsonPolicies, policies("/restconf/streams/**", "admin", "get")),
			put(jsonPolicies, policies("/restconf/modules/**", "admin", "get")))
		must(200, "DELETE", jsonPolicies, "")
	})
	t.Run("the order of realms", func(t *testing.T) {
		// The user of the first realm has role user, who has the same name and password
		// in the second one has role dog.
		must(201, "PUT", jsonPolicies, policies("/restconf/modules/**", "user", "get", "/restconf/streams/**", "dog", "get"))
		asks := []ask{{"/restconf/modules", always("carol:carols-secret"), 200, 401}, {"/restconf/streams", always("carol:carols-secret"), 401, 200}}
		settle(t, c, asks, put(carol, `{"enabled":true}`), put(carol, `{"enabled":false}`))
		must(200, "DELETE", jsonPolicies, "")
	})
	if mib := c.status("VmHWM") >> 10; mib > 700 {
		t.Errorf("the controller took %d MiB", mib)
	}
	t.Logf("at most %d MiB", c.status("VmHWM")>>10)
}
