package aaa_test

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"testing"

	"ctl.internal/test/aaatest"
)

var ruleSets = map[string]string{
	"star":    "[urls]\n/admin/* = authcBasic, roles[admin]\n/admin = authcBasic, roles[admin]\n/ctx/admin/** = authcBasic, roles[admin]\n/restconf/modules/** = authcBasic, roles[admin]\n/** = anon\n",
	"tree":    "[urls]\n/admin/** = authcBasic, roles[admin]\n/ctx/admin/** = authcBasic, roles[admin]\n/restconf/modules = authcBasic, roles[admin]\n/** = authcBasic\n",
	"overlap": "[urls]\n/admin/x = authcBasic, roles[admin]\n/admin/* = authcBasic, roles[admin]\n/**/admin/** = authcBasic, roles[admin]\n/**/modules/** = authcBasic, roles[admin]\n/** = authcBasic\n",
}

// TestPathPayloads sends each payload, without credentials and as a user who may
// not: the answer is the plain path's, or 400 or 404, never more.
func TestPathPayloads(t *testing.T) {
	for name, ini := range ruleSets {
		l := open(t, ini)
		for _, auth := range []string{"", "Authorization: Basic dXNlcjp1c2Vy\r\n"} {
			for _, p := range aaatest.Payloads() {
				want := l.raw(p.Plain, auth)
				if want != http.StatusUnauthorized {
					t.Fatalf("%s: the plain path %s answers %d", name, p.Plain, want)
				}
				if got := l.raw(p.Target, auth); got != want && got != http.StatusBadRequest && got != http.StatusNotFound {
					t.Errorf("%s, %s: %s answers %d, the plain path %d", name, p.Name, p.Target, got, want)
				}
			}
		}
	}
}

// raw sends a request target as it stands and returns the status.
func (l *lab) raw(target, headers string) int {
	l.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(l.URL, "http://"))
	if err != nil {
		l.t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("GET " + target + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n" + headers + "\r\n")); err != nil {
		l.t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		l.t.Fatal(err)
	}
	r.Body.Close()
	return r.StatusCode
}
