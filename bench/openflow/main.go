// Command openflow measures the OpenFlow plugin against a ring of Open vSwitch
// switches (test/labs/lab-ovs.sh): how long until all links are known, how soon a
// cut cable is seen, and what that costs. README.md says how to run it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"go.yaml.in/yaml/v3"

	"ctl.internal/bench/rig"
	"ctl.internal/plugins/openflow/service"
	"ctl.internal/sdk"
)

func main() {
	switches := flag.Int("switches", 200, "switches of the ring, 3 to 999")
	lab := flag.String("lab", "test/labs/lab-ovs.sh", "the lab's script")
	cuts := flag.Int("cuts", 20, "cables to cut")
	quiet := flag.Duration("quiet", 15*time.Second, "to watch the ring doing nothing")
	flag.Parse()
	slog.SetLogLoggerLevel(slog.LevelWarn)
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *switches, *lab, *cuts, *quiet); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, switches int, script string, cuts int, quiet time.Duration) error {
	listen, err := rig.FreeAddress()
	if err != nil {
		return err
	}
	plugin, err := start(ctx, listen)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "ofb")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	l := &lab{script: script, dir: filepath.Join(tmp, "lab"), switches: switches, controller: "tcp:" + listen}
	defer func() { _ = l.run(context.Background(), "down") }()
	m := &measure{plugin: plugin, lab: l, views: make(chan view, 1024)}
	return m.all(ctx, cuts, quiet)
}

// start runs the plugin in this process, with its default settings.
func start(ctx context.Context, listen string) (*sdk.Plugin, error) {
	manifest, err := os.ReadFile("plugins/openflow/plugin.yaml")
	if err != nil {
		return nil, fmt.Errorf("run it in the root of the source tree: %w", err)
	}
	settings, err := defaults(manifest)
	if err != nil {
		return nil, err
	}
	settings["listen"] = listen
	raw, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	return service.New(ctx, &sdk.Env{Config: raw, Health: func(sdk.Health) {}})
}

// defaults returns the settings that the manifest's schema gives.
func defaults(manifest []byte) (map[string]any, error) {
	var f struct {
		Config schema `yaml:"config"`
	}
	if err := yaml.Unmarshal(manifest, &f); err != nil {
		return nil, err
	}
	return f.Config.values(), nil
}

type schema struct {
	Properties map[string]schema `yaml:"properties"`
	Default    any               `yaml:"default"`
}

func (s schema) values() map[string]any {
	out := map[string]any{}
	for name, p := range s.Properties {
		if out[name] = p.Default; p.Properties != nil {
			out[name] = p.values()
		}
	}
	return out
}
