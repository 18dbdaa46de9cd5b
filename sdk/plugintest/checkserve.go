package plugintest

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// startConfigured starts and configures the plugin, or ends the check.
func (k *checker) startConfigured() (*subject, *pluginv1.Manifest) {
	s := k.startPlugin()
	m := k.describePlugin(s)
	raw, err := encodeSettings(k.config, m.ConfigSchema)
	k.mustSucceed(err, "the settings given to the suite (WithConfig)")
	k.mustSucceed(k.sendConfigure(s, m, raw), "Configure")
	return s, m
}

func (k *checker) sendConfigure(s *subject, m *pluginv1.Manifest, config []byte) error {
	_, err := s.base.Configure(k.ctx, &pluginv1.ConfigureRequest{
		ApiVersion: wire.Negotiate(m.ApiVersions),
		Config:     config,
		DataDir:    s.dir,
		Facets:     facets,
		HostSocket: k.host.Socket(),
		HostToken:  k.host.attachPlugin(m, s.conn),
	})
	return fault.FromStatus(err)
}

const strangeSetting = "no-such-setting"

// unknownSetting: a setting with a wrong name is refused by name, by the schema or
// by the plugin.
func unknownSetting(k *checker) {
	s := k.startPlugin()
	m := k.describePlugin(s)
	var given map[string]any
	if raw, err := json.Marshal(k.config); err == nil {
		_ = json.Unmarshal(raw, &given) // nil when there are none
	}
	doc := map[string]any{strangeSetting: 1}
	maps.Copy(doc, given)
	raw, err := encodeSettings(doc, m.ConfigSchema)
	if err == nil {
		err = k.sendConfigure(s, m, raw)
	}
	if err == nil {
		k.addFault("an unknown setting is accepted; add additionalProperties: false to `config` in plugin.yaml")
	} else if len(m.ConfigSchema) > 0 && !strings.Contains(err.Error(), strangeSetting) {
		k.addFault(
			"the refusal of the unknown setting %q does not name it: %v",
			strangeSetting,
			err,
		)
	}
}

// badSetting: a value of a wrong type is refused with its place.
func badSetting(k *checker) {
	s := k.startPlugin()
	m := k.describePlugin(s)
	var schema struct {
		Properties map[string]struct{ Type any }
	}
	if len(m.ConfigSchema) == 0 || json.Unmarshal(m.ConfigSchema, &schema) != nil {
		return
	}
	for name, p := range schema.Properties {
		var bad any = map[string]any{"a": "b"}
		if p.Type == "object" {
			bad = "text"
		}
		if p.Type == nil {
			continue
		}
		raw, err := encodeSettings(map[string]any{name: bad}, m.ConfigSchema)
		if err == nil {
			err = k.sendConfigure(s, m, raw)
		}
		if err == nil {
			k.addFault("the setting %q is accepted with a value of a wrong type", name)
		} else if !strings.Contains(err.Error(), name) {
			k.addFault("the refusal of a bad value of %q does not name the place: %v", name, err)
		}
		return // one says enough, and a plugin is configured once
	}
}

// checkConfigure: good settings are taken, once.
func checkConfigure(k *checker) {
	s, m := k.startConfigured()
	raw, _ := encodeSettings(k.config, m.ConfigSchema)
	if err := k.sendConfigure(s, m, raw); err == nil {
		k.addFault("it can be configured a second time; the host starts a new process instead")
	}
}

// checkHealth: the state comes at once.
func checkHealth(k *checker) {
	s, _ := k.startConfigured()
	ctx, cancel := context.WithTimeout(k.ctx, 30*time.Second)
	defer cancel()
	stream, err := s.base.Health(ctx, &pluginv1.HealthRequest{})
	k.mustSucceed(err, "Health")
	h, err := stream.Recv()
	k.mustSucceed(err, "the first message of Health")
	switch h.State {
	case pluginv1.HealthResponse_STATE_HEALTHY:
	case pluginv1.HealthResponse_STATE_UNSPECIFIED:
		k.addFault("Health sends no state")
	default:
		if h.Reason == "" {
			k.addFault("Health says %v without a reason", h.State)
		}
		k.addWarning("after its start it says %v: %s", h.State, h.Reason)
	}
}

// checkMetrics: they are Prometheus text.
func checkMetrics(k *checker) {
	s, _ := k.startConfigured()
	k.countGoroutines(s)
}

// countGoroutines reads the metrics and returns go_goroutines, -1 if it is missing.
func (k *checker) countGoroutines(s *subject) int {
	r, err := s.base.Metrics(k.ctx, &pluginv1.MetricsRequest{})
	if status.Code(err) == codes.Unimplemented {
		k.addWarning("it has no metrics")
		panic(giveUp{})
	}
	k.mustSucceed(err, "Metrics")
	p := expfmt.NewTextParser(model.UTF8Validation)
	fams, err := p.TextToMetricFamilies(bytes.NewReader(r.Text))
	k.mustSucceed(err, "the metrics are no Prometheus text")
	f := fams["go_goroutines"]
	if f != nil && len(f.Metric) == 1 {
		return int(f.Metric[0].GetGauge().GetValue())
	}
	return -1
}

// unknownCall: what the plugin does not serve is refused as such.
func unknownCall(k *checker) {
	s, m := k.startConfigured()
	if !slices.Contains(m.Capabilities, "operations") {
		return
	}
	_, err := pluginv1.NewOperationsClient(s.conn).Invoke(
		k.ctx,
		&pluginv1.InvokeRequest{
			Module: "no-such-module",
			Rpc:    "no-such-rpc",
		},
	)
	switch kind := fault.KindOf(fault.FromStatus(err)); {
	case err == nil:
		k.addFault("an RPC that does not exist is answered")
	case kind != fault.Unsupported && kind != fault.NotFound:
		k.addFault("an RPC that does not exist is refused as %s, not as unsupported: %v", kind, err)
	}
	k.describePlugin(s)
}

// largeMessage: the limit of a message is that of the contract, not gRPC's 4 MiB.
func largeMessage(k *checker) {
	s, m := k.startConfigured()
	if !slices.Contains(m.Capabilities, "operations") {
		return
	}
	_, err := pluginv1.NewOperationsClient(s.conn).Invoke(k.ctx, &pluginv1.InvokeRequest{
		Module: "no-such-module",
		Rpc:    "no-such-rpc",
		Input:  bytes.Repeat([]byte(" "), 16<<20),
	})
	if status.Code(err) == codes.ResourceExhausted {
		k.addFault(
			"a message of 16 MiB is refused; set the receive limit of the gRPC server to %d bytes",
			wire.MaxMessage,
		)
	}
}

// cancelHonoured: cancelled streams leave no goroutines.
func cancelHonoured(k *checker) {
	s, m := k.startConfigured()
	before := k.countGoroutines(s)
	const rounds = 50
	for range rounds {
		ctx, cancel := context.WithCancel(k.ctx)
		if h, err := s.base.Health(ctx, &pluginv1.HealthRequest{}); err == nil {
			_, _ = h.Recv()
		}
		if slices.Contains(m.Capabilities, "topology") {
			w, err := pluginv1.NewTopologyClient(s.conn).Watch(ctx, &pluginv1.WatchTopologyRequest{})
			if err == nil {
				_, _ = w.Recv()
			}
		}
		cancel()
	}
	if before < 0 {
		return
	}
	for range 100 { // the plugin learns of the last cancellations while it answers these
		if k.countGoroutines(s) < before+rounds/2 {
			return
		}
	}
	k.addFault(
		"%d goroutines before and %d after %d streams were opened and cancelled",
		before,
		k.countGoroutines(s),
		rounds,
	)
}
