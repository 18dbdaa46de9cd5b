//go:build peers

package netconfpeers

import (
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	cli "ctl.internal/plugins/bier-driver-cli/device"
	"ctl.internal/plugins/bier-driver-cli/service"
	"ctl.internal/sdk"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/netconf"
	"ctl.internal/sdk/plugintest"
)

// named is a server that the user started, told by the variables NAME=host:port,
// NAME_USER and NAME_PASSWORD or NAME_KEY, a file. It skips, loudly, where there is none.
func named(t *testing.T, name, what string) netconf.Target {
	t.Helper()
	at := os.Getenv(name)
	if at == "" {
		t.Skipf("SKIPPED, NOT TESTED: the peer %s: %s=host:port, %s_USER and %s_PASSWORD or %s_KEY would name a running one", what, name, name, name, name)
	}
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	to := netconf.Target{Host: host, Port: int(number), User: os.Getenv(name + "_USER"), Password: os.Getenv(name + "_PASSWORD")}
	if file := os.Getenv(name + "_KEY"); file != "" {
		if to.PrivateKey, err = os.ReadFile(file); err != nil {
			t.Fatalf("%s_KEY: %v", name, err)
		}
	}
	return to
}

// A freeRtr has a command line only, and chooses its labels itself: its running
// configuration is read and compared, and nothing is changed.
func TestFreeRtr(t *testing.T) {
	to := named(t, "CTL_FREERTR", "freeRtr with SSH")
	manifest, err := os.ReadFile("../../../plugins/bier-driver-cli/plugin.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var d *cli.Driver
	plugintest.Start(t, sdk.Options{Manifest: manifest, New: func(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
		set, err := service.Read(env.Config)
		d = cli.New(set, slog.New(slog.NewTextHandler(io.Discard, nil)))
		return &sdk.Plugin{BierDriver: d}, err
	}})
	r := &bierdriver.Router{NodeId: "1", Host: to.Host, Port: uint32(to.Port), User: to.User, Password: to.Password, PrivateKey: string(to.PrivateKey)}
	p, err := d.Probe(within(t, time.Minute), r)
	if err != nil || !p.Supported || p.Session.State != bierdriver.Up {
		t.Fatalf("probe: %v, %v", p, err)
	}
	r.HostKey = p.Session.HostKey
	before, err := d.Read(within(t, time.Minute), r)
	if err != nil || before.Session.State != bierdriver.Up {
		t.Fatalf("read: %v, %v", before, err)
	}
	a, err := d.Apply(within(t, time.Minute), r, ring(), true)
	if err != nil || a.State != bierdriver.Applied || len(a.Edits) == 0 {
		t.Fatalf("comparing: %v, %v", a, err)
	}
	t.Logf("holds %v; %d lines differ", before.Config, len(a.Edits))
}
