package ctlclient

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"ctl.internal/host/internal/console/consoletest"
	"ctl.internal/host/internal/ctlclient/scaffold"
	"ctl.internal/host/internal/server"
	"ctl.internal/sdk/plugintest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"ctl":  func() { os.Exit(Main(os.Args[1:], Std())) },
		"ctld": func() { os.Exit(server.Main(os.Args[1:], os.Stdout, os.Stderr)) },
	})
}

func TestTheChecksOfPluginsAreThoseOfTheKit(t *testing.T) {
	if !slices.Equal(pluginChecks, plugintest.Checks()) {
		t.Errorf("%v, the kit has %v", pluginChecks, plugintest.Checks())
	}
}

// ctl is a client of the controller: what needs the datastore is done by ctld.
func TestCtlLinksNoEngine(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", "list", "-deps", "ctl.internal/host/ctl").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.Lines(string(out)) {
		for _, heavy := range []string{"dgraph-io/badger", "go.etcd.io", "prometheus/", "ctl.internal/sdk\n"} {
			if strings.Contains(dep, heavy) {
				t.Errorf("ctl links %s", dep)
			}
		}
	}
}

// Each script has a console of its own in $WORK/home; CTL_HOME names it.
func TestScripts(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { goleak.VerifyNone(t) })
	source, _ := scaffold.InSource(wd)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("CTL_HOME", home)
			env.Setenv("SOURCE", source)
			c, err := consoletest.New(home, nil, nil)
			if err != nil {
				return err
			}
			if err := c.Server.ListenLocal(c.Socket()); err != nil {
				return err
			}
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- c.Server.Serve(ctx) }()
			env.Defer(func() {
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": exitCode},
	})
}

// exitCode runs a program and checks its exit code: code N PROGRAM ARGS.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args...")
	}
	want := args[0]
	got := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		got = codeOf(err)
	}
	if got != want {
		ts.Fatalf("exit code %s, want %s", got, want)
	}
}
