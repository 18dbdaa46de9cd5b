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

// configured starts and configures the plugin, or ends the check.
func (k *checker) configured() (*subject, *pluginv1.Manifest) {
	s := k.start()
	m := k.describe(s)
	raw, err := settings(k.config, m.ConfigSchema)
	k.must(err, "the settings given to the suite (WithConfig)")
	k.must(k.send(s, m, raw), "Configure")
	return s, m
}

func (k *checker) send(s *subject, m *pluginv1.Manifest, config []byte) error {
	_, err := s.base.Configure(k.ctx, &pluginv1.ConfigureRequest{ApiVersion: wire.Negotiate(m.ApiVersions), Config: config, DataDir: s.dir,
		Facets: facets, HostSocket: k.host.Socket(), HostToken: k.host.attach(m, s.conn)})
	return fault.FromStatus(err)
}

const strangeSetting = "no-such-setting"

// unknownSetting: a setting with a wrong name is refused by name, by the schema or
// by the plugin.
func unknownSetting(k *checker) {
	s := k.start()
	m := k.describe(s)
	var given map[string]any
	if raw, err := json.Marshal(k.config); err == nil {
		_ = json.Unmarshal(raw, &given) // nil when there are none
	}
	doc := map[string]any{strangeSetting: 1}
	maps.Copy(doc, given)
	raw, err := settings(doc, m.ConfigSchema)
	if err == nil {
		err = k.send(s, m, raw)
	}
	if err == nil {
		k.fault("an unknown setting is accepted; add additionalProperties: false to `config` in plugin.yaml")
	} else if len(m.ConfigSchema) > 0 && !strings.Contains(err.Error(), strangeSetting) {
		k.fault("the refusal of the unknown setting %q does not name it: %v", strangeSetting, err)
	}
}

// badSetting: a value of a wrong type is refused with its place.
func badSetting(k *checker) {
	s := k.start()
	m := k.describe(s)
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
		raw, err := settings(map[string]any{name: bad}, m.ConfigSchema)
		if err == nil {
			err = k.send(s, m, raw)
		}
		if err == nil {
			k.fault("the setting %q is accepted with a value of a wrong type", name)
		} else if !strings.Contains(err.Error(), name) {
			k.fault("the refusal of a bad value of %q does not name the place: %v", name, err)
		}
		return // one says enough, and a plugin is configured once
	}
}

// configure: good settings are taken, once.
func configure(k *checker) {
	s, m := k.configured()
	raw, _ := settings(k.config, m.ConfigSchema)
	if err := k.send(s, m, raw); err == nil {
		k.fault("it can be configured a second time; the host starts a new process instead")
	}
}

// health: the state comes at once.
func health(k *checker) {
	s, _ := k.configured()
	ctx, cancel := context.WithTimeout(k.ctx, 30*time.Second)
	defer cancel()
	stream, err := s.base.Health(ctx, &pluginv1.HealthRequest{})
	k.must(err, "Health")
	h, err := stream.Recv()
	k.must(err, "the first message of Health")
	switch h.State {
	case pluginv1.HealthResponse_STATE_HEALTHY:
	case pluginv1.HealthResponse_STATE_UNSPECIFIED:
		k.fault("Health sends no state")
	default:
		if h.Reason == "" {
			k.fault("Health says %v without a reason", h.State)
		}
		k.warn("after its start it says %v: %s", h.State, h.Reason)
	}
}

// metrics: they are Prometheus text.
func metrics(k *checker) {
	s, _ := k.configured()
	k.goroutines(s)
}

// goroutines reads the metrics and returns go_goroutines, -1 if it is missing.
func (k *checker) goroutines(s *subject) int {
	r, err := s.base.Metrics(k.ctx, &pluginv1.MetricsRequest{})
	if status.Code(err) == codes.Unimplemented {
		k.warn("it has no metrics")
		panic(giveUp{})
	}
	k.must(err, "Metrics")
	p := expfmt.NewTextParser(model.UTF8Validation)
	fams, err := p.TextToMetricFamilies(bytes.NewReader(r.Text))
	k.must(err, "the metrics are no Prometheus text")
	if f := fams["go_goroutines"]; f != nil && len(f.Metric) == 1 {
		return int(f.Metric[0].GetGauge().GetValue())
	}
	return -1
}

// unknownCall: what the plugin does not serve is refused as such.
func unknownCall(k *checker) {
	s, m := k.configured()
	if !slices.Contains(m.Capabilities, "operations") {
		return
	}
	_, err := pluginv1.NewOperationsClient(s.conn).Invoke(k.ctx, &pluginv1.InvokeRequest{Module: "no-such-module", Rpc: "no-such-rpc"})
	switch kind := fault.KindOf(fault.FromStatus(err)); {
	case err == nil:
		k.fault("an RPC that does not exist is answered")
	case kind != fault.Unsupported && kind != fault.NotFound:
		k.fault("an RPC that does not exist is refused as %s, not as unsupported: %v", kind, err)
	}
	k.describe(s)
}

// largeMessage: the limit of a message is that of the contract, not gRPC's 4 MiB.
func largeMessage(k *checker) {
	s, m := k.configured()
	if !slices.Contains(m.Capabilities, "operations") {
		return
	}
	_, err := pluginv1.NewOperationsClient(s.conn).Invoke(k.ctx, &pluginv1.InvokeRequest{Module: "no-such-module", Rpc: "no-such-rpc",
		Input: bytes.Repeat([]byte(" "), 16<<20)})
	if status.Code(err) == codes.ResourceExhausted {
		k.fault("a message of 16 MiB is refused; set the receive limit of the gRPC server to %d bytes", wire.MaxMessage)
	}
}

// cancelHonoured: cancelled streams leave no goroutines.
func cancelHonoured(k *checker) {
	s, m := k.configured()
	before := k.goroutines(s)
	const rounds = 50
	for range rounds {
		ctx, cancel := context.WithCancel(k.ctx)
		if h, err := s.base.Health(ctx, &pluginv1.HealthRequest{}); err == nil {
			_, _ = h.Recv()
		}
		if slices.Contains(m.Capabilities, "topology") {
			if w, err := pluginv1.NewTopologyClient(s.conn).Watch(ctx, &pluginv1.WatchTopologyRequest{}); err == nil {
				_, _ = w.Recv()
			}
		}
		cancel()
	}
	if before < 0 {
		return
	}
	for range 100 { // the plugin learns of the last cancellations while it answers these
		if k.goroutines(s) < before+rounds/2 {
			return
		}
	}
	k.fault("%d goroutines before and %d after %d streams were opened and cancelled", before, k.goroutines(s), rounds)
}
