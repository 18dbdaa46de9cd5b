package reqpath_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/host/internal/aaa/reqpath"
)

func TestAccepted(t *testing.T) {
	for _, c := range []struct{ raw, canonical, decoded string }{
		{"/", "/", "/"},
		{"/auth/v1/users", "/auth/v1/users", "/auth/v1/users"},
		{"/auth/v1/users/", "/auth/v1/users", "/auth/v1/users"},
		{"/restconf/%6dodules", "/restconf/modules", "/restconf/modules"},
		{"/auth/v1/users/bob%40sdn", "/auth/v1/users/bob@sdn", "/auth/v1/users/bob@sdn"},
		{"/rests/data/if:ifs/if=ge%2f0,x%2Cy%3B1", "/rests/data/if:ifs/if=ge%2F0,x%2Cy%3B1", "/rests/data/if:ifs/if=ge/0,x,y;1"},
		{"/rests/operations/aaa-cert-rpc%3AgetX", "/rests/operations/aaa-cert-rpc:getX", "/rests/operations/aaa-cert-rpc:getX"},
		{"/x/\u00fc", "/x/%C3%BC", "/x/\u00fc"},
		{"/users/a%3bb@sdn", "/users/a%3Bb@sdn", "/users/a;b@sdn"},
		{"/x/l=..", "/x/l=..", "/x/l=.."},
		{"/rests/data/m:c/l=DOM%5Cuser", "/rests/data/m:c/l=DOM%5Cuser", "/rests/data/m:c/l=DOM\\user"},
		{"/rests/data/m:c/l=50%2525", "/rests/data/m:c/l=50%2525", "/rests/data/m:c/l=50%25"},
		{"/rests/data/m:c/l=a%09b%0a", "/rests/data/m:c/l=a%09b%0A", "/rests/data/m:c/l=a\tb\n"},
		{"/rests/data/m:c/l=a%2F..%2Fb,.", "/rests/data/m:c/l=a%2F..%2Fb,.", "/rests/data/m:c/l=a/../b,."},
		{"/restconf/config/m:c/l=%e2%80%a8;%3B", "/restconf/config/m:c/l=%E2%80%A8;%3B", "/restconf/config/m:c/l=\u2028;;"},
		{"/x/50%25", "/x/50%25", "/x/50%"},
	} {
		p, err := reqpath.ParseString(c.raw)
		if err != nil {
			t.Errorf("%s: %v", c.raw, err)
			continue
		}
		if p.Canonical() != c.canonical || p.Decoded() != c.decoded {
			t.Errorf("%s: got %q and %q, want %q and %q", c.raw, p.Canonical(), p.Decoded(), c.canonical, c.decoded)
		}
	}
}

func TestRefused(t *testing.T) {
	for raw, reason := range map[string]string{
		"":                       "slash",
		"x":                      "slash",
		"//admin":                "empty",
		"/a//b":                  "empty",
		"/a///":                  "empty",
		"/./admin":               "dot",
		"/x/../admin":            "dot",
		"/%2e/admin":             "dot",
		"/x/%2e%2E/admin":        "dot",
		"/x/..%2fadmin":          "dot",
		"/xxx/..;/admin":         "parameter",
		"/;/admin":               "parameter",
		"/admin/%3bpage":         "parameter",
		"/restconf/modules;x=1":  "parameter",
		"/modules%3D;x":          "parameter",
		"/..%3B/admin":           "parameter",
		"/admin/a%252fb":         "twice",
		"/admin/%25%32%66x":      "twice",
		"/admin%00":              "control",
		"/permit/a%0any":         "control",
		"/a%c2%85":               "control",
		"/admin\\x":              "backslash",
		"/admin%5cx":             "backslash",
		"/rests/data/m:c/l\\=x":  "backslash",
		"/rests/data/m:c/l/a%5c": "backslash",
		"/rests/data/m:c/l=%00":  "control",
		"/rests/l=%0a":           "control",
		"/x/y/l=a%5c":            "backslash",
		"/rests/data/../l=a":     "dot",
		"/rests/data/;a=b":       "parameter",
		"/%c0%ae":                "UTF-8",
		"/admin/%20":             "blank",
		"/a%2":                   "percent",
		"/a%zz":                  "percent",
	} {
		_, err := reqpath.ParseString(raw)
		var e *reqpath.Error
		if !errors.As(err, &e) || !strings.Contains(e.Reason, reason) {
			t.Errorf("%q: got %v, want a refusal naming %q", raw, err, reason)
		}
	}
}

func TestRequestForms(t *testing.T) {
	for target, want := range map[string]string{
		"http://host/admin":          "/admin",
		"http://host":                "/",
		"http://host/a%2Fb?x=/../..": "/a%2Fb",
		"/a/\"q\"":                   "/a/%22q%22",
		"/a%2Fb/\"q\"":               "/a%2Fb/%22q%22", // net/http alone would read a/b here
		"*":                          "",
	} {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n")))
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		p, err := reqpath.Parse(r)
		if want == "" {
			if err == nil {
				t.Errorf("%s: accepted as %s", target, p.Canonical())
			}
			continue
		}
		if err != nil || p.Canonical() != want {
			t.Errorf("%s: got %s, %v, want %s", target, p.Canonical(), err, want)
		}
	}
	if _, err := reqpath.Parse(&http.Request{Method: http.MethodConnect, URL: mustURL(t, "/x")}); err == nil {
		t.Error("a CONNECT request has no path to authorize, yet it was accepted")
	}
}

func TestSegmentsAndContext(t *testing.T) {
	p, err := reqpath.ParseString("/rests/data/l=a%2Fb,c/")
	if err != nil {
		t.Fatal(err)
	}
	want := []reqpath.Segment{{Raw: "rests", Decoded: "rests"}, {Raw: "data", Decoded: "data"}, {Raw: "l=a%2Fb,c", Decoded: "l=a/b,c"}}
	if d := cmp.Diff(want, p.Segments()); d != "" {
		t.Error(d)
	}
	if !p.TrailingSlash() || !p.Under("rests", "data") || p.Is("rests", "data") || p.Under("rests", "x") {
		t.Error("TrailingSlash, Under or Is is wrong")
	}
	got, ok := reqpath.From(reqpath.With(context.Background(), p))
	if !ok || got.Canonical() != p.Canonical() {
		t.Error("the context lost the path")
	}
}
