package netconf

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

const goodHello = `<hello xmlns="urn:ietf:params:xml:ns:netconf:base:1.0"><capabilities><capability>
	urn:ietf:params:netconf:base:1.1 </capability><capability>urn:x?module=x&amp;revision=2020-01-01</capability></capabilities><session-id>4</session-id></hello>`

func TestHello(t *testing.T) {
	h, err := parseHello([]byte(`<?xml version="1.0"?>` + goodHello))
	if err != nil || h.SessionID != 4 || len(h.Capabilities) != 2 {
		t.Fatalf("%+v, %v", h, err)
	}
	change := func(old, new string) string { return strings.Replace(goodHello, old, new, 1) }
	for name, bad := range map[string]string{
		"no XML":            "hello",
		"another namespace": change("netconf:base:1.0", "netconf:base:2.0"),
		"another element":   `<rpc-reply xmlns="urn:ietf:params:xml:ns:netconf:base:1.0"/>`,
		"no session-id":     change("<session-id>4</session-id>", ""),
		"two session-ids":   change("<session-id>", "<session-id>5</session-id><session-id>"),
		"session-id 0":      change(">4<", ">0<"),
		"session-id -1":     change(">4<", ">-1<"),
		"session-id 2^32":   change(">4<", ">4294967296<"),
		"no base":           change("base:1.1", "base:1.10"),
		"base within":       change("urn:ietf:params:netconf:base:1.1", "urn:other:urn:ietf:params:netconf:base:1.1"),
		"two lists":         change("</hello>", "<capabilities/></hello>"),
		"an empty one":      change("<capability>urn:x?module=x&amp;revision=2020-01-01", "<capability>"),
		"something else":    change("<capability>urn:x?module=x&amp;revision=2020-01-01</capability>", "<x>y</x>"),
	} {
		if h, err := parseHello([]byte(bad)); err == nil {
			t.Errorf("%s: taken as %+v", name, h)
		}
	}
}

// A server that says nothing, something else, or only half of it.
func TestOpenAgainstABadHello(t *testing.T) {
	for name, says := range map[string]string{
		"nothing":       "",
		"half":          goodHello[:40],
		"no mark":       goodHello,
		"a banner":      "Router login: ",
		"chunks":        "\n#12\n<hello></hell\n##\n",
		"without a bit": "<hello/>]]>]]>",
	} {
		client, server := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			go func() { _, _ = io.WriteString(server, says) }()
			_, _ = io.Copy(io.Discard, server)
		}()
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		if s, err := Open(ctx, client, 0); err == nil {
			t.Errorf("%s: opened %v", name, s.Capabilities())
		}
		cancel()
		server.Close()
		<-done
	}
}

func FuzzHello(f *testing.F) {
	f.Add([]byte(goodHello))
	f.Fuzz(func(t *testing.T, data []byte) {
		if h, err := parseHello(data); err == nil && (h.SessionID < 1 || len(h.Capabilities) == 0) {
			t.Errorf("%q became %+v", data, h)
		}
	})
}
