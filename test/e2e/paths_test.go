package e2e

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctl.internal/test/aaatest"
	"ctl.internal/test/harness"
)

// routes are one of each kind that answers requests: the host's services, both
// RESTCONF trees, the pages, and the subtree of a plugin.
var routes = []struct{ dir, last string }{
	{"auth/v1", "users"},
	{"restconf", "modules"},
	{"restconf", "operations"},
	{"restconf/operations", "topology:get-node-list"},
	{"restconf/operational", "network-topology:network-topology"},
	{"restconf/streams", "stream"},
	{"rests", "data"},
	{"rests/operations", "topology:get-node-list"},
	{"apidoc", "index.html"},
	{"yangui", "index.html"},
	{"repoinfo/git", "branches"},
	{"repoinfo/projects/secret/git", "branches"},
}

// ruleSets are three ways to guard a directory; everything else is open to all, so
// that a path which the filter reads in one way and the mux in another shows what
// is behind it.
var ruleSets = map[string][]string{
	"star": {"/%s/* = authcBasic, roles[admin]", "/%s = authcBasic, roles[admin]"},
	"tree": {"/%s/** = authcBasic, roles[admin]"},
	"overlap": {"/%s/users = authcBasic, roles[admin]", "/%[1]s/* = authcBasic, roles[admin]", "/%[1]s/** = authcBasic, roles[admin]",
		"/**/%[1]s/** = authcBasic, roles[admin]"},
}

func TestNoSpellingOfAPathGetsPastItsRule(t *testing.T) {
	home := harness.NewHome(t)
	c := start(t, home)
	c.Ctl("feature:install ctl-repoinfo ctl-switch-all")
	file := filepath.Join(home, "etc", "sec.ini")
	shipped, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, lines := range ruleSets {
		var ini strings.Builder
		ini.WriteString(string(shipped[:bytes.Index(shipped, []byte("[urls]"))]) + "[urls]\n")
		guarded := map[string]bool{}
		for _, r := range routes {
			if guarded[r.dir] {
				continue
			}
			guarded[r.dir] = true
			for _, line := range lines {
				fmt.Fprintf(&ini, line+"\n", r.dir)
			}
		}
		ini.WriteString("/ctx/** = authcBasic, roles[admin]\n/** = anon\n")
		if err := os.WriteFile(file, []byte(ini.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		c.Restart()
		t.Run(name, func(t *testing.T) { spell(t, c) })
	}
}

// spell sends every payload to a path of every kind of route.
func spell(t *testing.T, c *controller) {
	for _, r := range routes {
		spell := strings.NewReplacer("/admin", "/"+r.dir)
		for _, p := range aaatest.Payloads() {
			// The last segment of a payload is the route's own.
			path, plain := spell.Replace(p.Target), spell.Replace(p.Plain)
			path = strings.Replace(path, r.dir+"/x", r.dir+"/"+r.last, 1)
			plain = strings.Replace(plain, r.dir+"/x", r.dir+"/"+r.last, 1)
			for _, who := range []string{"", user} {
				got, want := c.raw("GET", path, who), c.raw("GET", plain, who)
				refused := got == http.StatusBadRequest || got == http.StatusNotFound || got == http.StatusMisdirectedRequest // for another name
				if got != want && !refused {
					t.Errorf("%s: GET %q as %q: %d, and %q: %d", p.Name, path, who, got, plain, want)
				}
				if want != http.StatusUnauthorized && strings.HasPrefix(plain, "/"+r.dir+"/") {
					t.Errorf("GET %q as %q is not guarded: %d", plain, who, want)
				}
			}
		}
		// What only looks alike is another path, at which nothing is: letters have a
		// case, and an encoded separator is part of its segment.
		for _, dir := range []string{strings.ToUpper(r.dir), r.dir + "%3bx=1", r.dir + "%3f", r.dir + "%23"} {
			if got := c.raw("GET", "/"+dir+"/"+r.last, ""); got != http.StatusNotFound && got != http.StatusBadRequest && got != http.StatusUnauthorized {
				t.Errorf("GET /%s/%s: %d", dir, r.last, got)
			}
		}
		if got := c.raw("GET", "/"+r.dir+"/"+r.last, admin); got == http.StatusUnauthorized {
			t.Errorf("GET /%s/%s as the administrator: %d", r.dir, r.last, got)
		}
	}
}

// raw sends a request target byte for byte, which no HTTP client does, and returns
// the status.
func (c *controller) raw(method, target, auth string) int {
	c.t.Helper()
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(c.HTTP, "http://"), time.Minute)
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	credentials := ""
	if auth != "" {
		credentials = "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(auth)) + "\r\n"
	}
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost\r\n%sConnection: close\r\n\r\n", method, target, credentials)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		c.t.Fatalf("%s %q: %v", method, target, err)
	}
	res.Body.Close()
	return res.StatusCode
}
