package ovsdb

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host answers every connection in one way.
func host(t *testing.T, talk func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				talk(c)
			})
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return "tcp:" + l.Addr().String()
}

// A host that is none costs no more than the caller's time, and nothing goes on.
func TestBadHosts(t *testing.T) {
	until := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	for name, c := range map[string]struct {
		talk func(net.Conn)
		want string
	}{
		"hangs up":          {func(net.Conn) {}, "closed the connection"},
		"says nothing":      {until, "no answer in time"},
		"no JSON":           {func(c net.Conn) { _, _ = c.Write([]byte("SSH-2.0-x\r\n")); until(c) }, ""},
		"another answer":    {func(c net.Conn) { _, _ = c.Write([]byte(`{"id":0,"result":["other"],"error":null}`)); until(c) }, ""},
		"a list of nothing": {func(c net.Conn) { _, _ = c.Write([]byte(`{"id":0,"result":[],"error":null}[]{}`)); until(c) }, ""},
		"never stops":       {func(c net.Conn) { _, _ = io.Copy(c, endless{}) }, ""},
		"an endless string": {func(c net.Conn) { _, _ = c.Write([]byte(`{"id":"`)); _, _ = io.Copy(c, endless{}) }, "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if c.want == "no answer in time" || c.want == "" {
				ctx, cancel = context.WithTimeout(t.Context(), time.Second)
			}
			defer cancel()
			s, err := Open(ctx, host(t, c.talk), nil)
			if err == nil {
				s.Close()
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	for _, endpoint := range []string{"tcp:127.0.0.1:1", "http:x", "", "unix:/none"} {
		if _, err := Open(t.Context(), endpoint, nil); err == nil {
			t.Errorf("%q opened", endpoint)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(gone, host(t, until), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// endless is text that never ends.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// Values of another type than the schema has are as if unset.
func TestValues(t *testing.T) {
	set1 := ofSet(1.0, 2.0, "x")
	for name, ok := range map[string]bool{
		"integer of a set":   intValue(set1) == 1,
		"integer of text":    intValue("x") == 0,
		"integer of nothing": intValue(nil) == 0 && intValue(ofSet()) == 0,
		"integers":           len(intValues(set1)) == 2,
		"one integer":        len(intValues(7.0)) == 1,
		"text of a number":   stringValue(7.0) == "",
		"texts of a set":     stringMap(set1) == nil,
		"texts":              stringMap([]any{"map", []any{[]any{"a", "b"}, []any{1.0, "c"}, []any{}, 7.0}})["a"] == "b",
		"truth":              boolValue(true) && !boolValue("true") && !boolValue(nil),
		"mac":                macOf("02:00:00:00:00:0a") == 0x02000000000a && macOf("x") == 0 && macOf("zz:00:00:00:00:0a") == 0,
		"uuids":              len(uuidValues(ofUUID("u"))) == 1 && len(uuidValues("u")) == 0,
	} {
		if !ok {
			t.Error(name)
		}
	}
	b := &Bridge{Status: map[string]string{"stp_designated_root": "8000.aabbccddeeff"}}
	if r := b.Root(); len(r) != 8 || r[0] != 0x80 || r[7] != 0xff {
		t.Errorf("root %x", r)
	}
}
