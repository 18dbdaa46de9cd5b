package plugintest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"ctl.internal/sdk"
)

// Program returns the path of the test program itself under the name of the plugin, for
// Run and StartBinary. The TestMain of the package must call ServeAsProgram with the
// same name.
func Program(t testing.TB, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// ServeAsProgram serves the plugin and ends the process if the test program was started
// by the path that Program returned; otherwise it does nothing. TestMain calls it first.
func ServeAsProgram(name string, options func() sdk.Options) {
	if filepath.Base(os.Args[0]) == name {
		sdk.Serve(options())
	}
}

// StartBinary runs an executable, in whatever language, as the host does, and
// configures it, until the test ends: for the clients of sdk/<capability> and the
// conformance kits of the capabilities. WithConfig and WithHost count.
func StartBinary(t testing.TB, bin string, opts ...Option) *Plugin {
	t.Helper()
	o := collectOptions(opts)
	if o.host == nil {
		o.host = NewHost(t)
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	k := &checker{
		ctx:    ctx,
		bin:    bin,
		name:   "start",
		config: o.config,
		host:   o.host,
	}
	t.Cleanup(func() {
		for _, s := range k.subjects {
			s.killProcess()
			for _, l := range s.stderr {
				t.Log("the plugin: ", l)
			}
		}
	})
	p := &Plugin{Host: o.host}
	k.tryCheck(func() {
		s, m := k.startConfigured()
		p.Conn, p.Manifest, p.stop = s.conn, m, s.killProcess
	})
	for _, f := range k.findings {
		t.Fatal(f)
	}
	return p
}
