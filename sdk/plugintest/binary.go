package plugintest

import (
	"context"
	"testing"
)

// StartBinary runs an executable, in whatever language, as the host does, and
// configures it, until the test ends: for the clients of sdk/<capability> and the
// conformance kits of the capabilities. WithConfig and WithHost count.
func StartBinary(t testing.TB, bin string, opts ...Option) *Plugin {
	t.Helper()
	var o options
	for _, f := range opts {
		f(&o)
	}
	if o.host == nil {
		o.host = NewHost(t)
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	k := &checker{ctx: ctx, bin: bin, name: "start", config: o.config, host: o.host}
	t.Cleanup(func() {
		for _, s := range k.subjects {
			s.end()
			for _, l := range s.stderr {
				t.Log("the plugin: ", l)
			}
		}
	})
	defer func() {
		if v := recover(); v != nil && v != (giveUp{}) {
			panic(v)
		}
		for _, f := range k.findings {
			t.Fatal(f)
		}
	}()
	s, m := k.configured()
	return &Plugin{Conn: s.conn, Manifest: m, Host: o.host, stop: s.end}
}
