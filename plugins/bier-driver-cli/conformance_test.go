package bierdrivercli

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"ctl.internal/internal/lab/simcli"
	"ctl.internal/internal/lab/sshhost"
	"ctl.internal/plugins/bier-driver-cli/device"
	"ctl.internal/sdk"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/bierdriver/conformance"
	"ctl.internal/sdk/plugintest"
)

func TestConformance(t *testing.T) {
	// The settings of the manifest, as the plugin gets them.
	var settings *sdk.Env
	plugintest.Start(t, sdk.Options{Manifest: manifest, New: func(ctx context.Context, env *sdk.Env) (*sdk.Plugin, error) {
		settings = env
		return device.Start(ctx, env)
	}}, plugintest.WithConfig(map[string]any{"poll": "20ms"}))
	conformance.Run(t, func(t *testing.T) conformance.Peer {
		sim, err := simcli.Start(sshhost.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sim.Down)
		d, err := device.New(settings, slog.New(slog.NewTextHandler(io.Discard, nil)))
		if err != nil {
			t.Fatal(err)
		}
		return conformance.Peer{
			Driver: d,
			Router: &bierdriver.Router{NodeId: "1", Host: sim.Host(), Port: uint32(sim.Port()), User: "lab", Password: "lab", HostKey: sim.HostKey()},
			Up: func(up bool) {
				if !up {
					sim.Down()
				} else if err := sim.Up(""); err != nil {
					t.Error(err)
				}
			},
			Change: func() {
				for _, l := range strings.Split(sim.Config(), "\n") {
					if strings.HasPrefix(l, "router") || strings.HasPrefix(l, "multicast") {
						sim.Remove(l)
					}
				}
			},
			Deadline: 20 * time.Second,
		}
	})
}
