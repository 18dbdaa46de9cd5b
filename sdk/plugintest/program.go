package plugintest

import (
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
