package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"ctl.internal/sdk"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/switchdriver"
	"ctl.internal/sdk/topology"
)

// settings are those of plugin.yaml.
type settings struct {
	Refuse     string `json:"refuse"`
	Level      *int   `json:"level"`
	Health     string `json:"health"`
	IgnoreStop bool   `json:"ignore-stop"`
	SlowStop   string `json:"slow-stop"`
}

func newPlugin(ctx context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	var cfg settings
	if err := env.DecodeConfig(&cfg); err != nil {
		return nil, err
	}
	if cfg.Refuse != "" {
		return nil, fault.At(fault.Invalid, "/refuse", "%s", cfg.Refuse)
	}
	if cfg.Level != nil && *cfg.Level == 10 {
		env.Warn("level 10 is very high")
	}
	slog.Info("configured", "facets", env.Facets)
	if s, ok := states[cfg.Health]; ok {
		env.Health(sdk.Health{
			State:  s,
			Reason: "by the settings",
		})
	}
	source := &topology.Publisher{}
	source.Set(newRingTopology(1))
	p := &sdk.Plugin{
		SwitchDriver: driver{env.Host},
		Topology:     source,
		Stop: func(ctx context.Context) error {
			if cfg.IgnoreStop {
				select {}
			}
			d, _ := time.ParseDuration(cfg.SlowStop)
			host.Pause(ctx, d)
			return nil
		},
	}
	if !claimless {
		p.Operations = operationsOf(env)
		p.Routes = http.HandlerFunc(serveHTTP)
		p.Commands = listCommands()
	}
	return p, nil
}

var states = map[string]sdk.State{
	"healthy":  sdk.Healthy,
	"degraded": sdk.Degraded,
	"failed":   sdk.Failed,
}

// newRingTopology is a ring of two nodes.
func newRingTopology(seconds int64) topology.Topology {
	node := func(id string) topology.Node {
		return topology.Node{
			ID:  id,
			TPs: map[string]topology.TerminationPoint{id + ":1": {ID: id + ":1"}},
		}
	}
	return topology.Topology{
		ID:       "faulty:1",
		Observed: time.Unix(seconds, 0),
		Nodes: map[string]topology.Node{
			"a": node("a"),
			"b": node("b"),
		},
		Links: map[string]topology.Link{
			"a-b": {
				ID:         "a-b",
				SourceNode: "a",
				SourceTP:   "a:1",
				DestNode:   "b",
				DestTP:     "b:1",
			},
			"b-a": {
				ID:         "b-a",
				SourceNode: "b",
				SourceTP:   "b:1",
				DestNode:   "a",
				DestTP:     "a:1",
			},
		},
	}
}

type driver struct{ host *host.Client }

func (driver) Match() switchdriver.Match {
	return switchdriver.Match{Models: []string{"FAULTY"}}
}

// ReadPorts answers a port with the switch's number; number 0 is refused, 99 never
// answered, and of 66 the plugin called at its address is asked, with the addresses
// of the two swapped, so that they go round in a circle.
func (d driver) ReadPorts(
	ctx context.Context,
	sw *switchdriver.Switch,
) ([]*switchdriver.Port, error) {
	slog.InfoContext(ctx, "reading ports")
	switch sw.GetNodeId() {
	case 66:
		next := switchdriver.NewClient(d.host.Switchboard.Dial(sw.Address))
		return next.ReadPorts(
			ctx,
			&switchdriver.Switch{
				NodeId:  sw.NodeId,
				Address: sw.Model,
				Model:   sw.Address,
			},
		)
	case 0:
		return nil, fault.Device(fault.Downstream, "the switch refuses")
	case 99:
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return []*switchdriver.Port{{Number: uint32(sw.NodeId)}}, nil
}

func serveHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/faulty/panic" {
		panic("in the HTTP handler")
	}
	if oddAnswer(w, r.URL.Path) {
		return
	}
	w.Header().Set("X-Path", r.URL.Path)
	_, _ = io.Copy(w, r.Body)
}

func listCommands() []commands.Command {
	if claimless {
		return nil
	}
	return []commands.Command{{
		Name:    "faulty:say",
		Summary: "Says a word",
		Help:    "Says the word given.",
		Safe:    true,
		Arguments: []commands.Argument{{
			Name:     "word",
			Help:     "What to say",
			Required: true,
		}},
		Run: func(_ context.Context, in *commands.Invocation) error {
			_, err := io.WriteString(in.Stdout, in.Arg("word")+"\n")
			return err
		},
	}}
}
