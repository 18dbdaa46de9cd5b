package e2e

import (
	"os"
	"testing"

	"ctl.internal/test/harness"
)

// bin holds the programs, built once from this tree.
var bin string

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, "../..", &bin, "./sdk/plugintest/faulty", "./bench/echo", "./examples/login-listener", "./examples/racks"))
}

// controller is a running ctld, and what these tests ask it.
type controller struct {
	*harness.Controller
	t *testing.T
}

// start runs ctld on a home until the test ends.
func start(t *testing.T, home string, args ...string) *controller {
	t.Helper()
	return run(t, harness.Options{Home: home, Args: args})
}

func run(t *testing.T, o harness.Options) *controller {
	t.Helper()
	o.Bin = bin
	return &controller{harness.Run(t, o), t}
}
