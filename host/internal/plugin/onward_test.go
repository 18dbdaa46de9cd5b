package plugin

import (
	"encoding/json"
	"strings"
	"testing"

	"ctl.internal/internal/wire/onward"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

const (
	traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	traceID     = "4bf92f3577b34da6a3ce929d0e0e4736"
)

// traced returns which plugins logged a message under the trace.
func (r *rig) traced(msg string) (plugins []string) {
	for line := range strings.Lines(r.log.String()) {
		var l struct {
			Msg, Plugin string
			Trace       string `json:"trace_id"`
		}
		if json.Unmarshal([]byte(line), &l) == nil && l.Msg == msg && l.Trace == traceID {
			plugins = append(plugins, l.Plugin)
		}
	}
	return plugins
}

// TestTraceGoesFromPluginToPlugin: what a call brought reaches the handler, and by its
// context the handler in the plugin that it calls; the log lines of both tell.
func TestTraceGoesFromPluginToPlugin(t *testing.T) {
	r, _ := servicesRig(t)
	r.ensure(second())
	ctx := onward.WithTrace(r.ctx(), traceparent, "vendor=1")
	if out, err := r.Invoke(ctx, "faulty", "relay", []byte(`{"provider":"second"}`)); err != nil || string(out) != `{"number":7}` {
		t.Fatalf("%s, %v", out, err)
	}
	if _, err := r.Invoke(r.ctx(), "faulty", "relay", []byte(`{"provider":"second"}`)); err != nil {
		t.Fatal(err)
	}
	// Log lines come on another way than answers.
	r.until("faulty", "its log line", func(Info) bool { r.changed.Fire(); return len(r.traced("relaying")) > 0 })
	r.until("second", "its log line", func(Info) bool { r.changed.Fire(); return len(r.traced("reading ports")) > 0 })
	if got := append(r.traced("relaying"), r.traced("reading ports")...); len(got) != 2 || got[0] != "faulty" || got[1] != "second" {
		t.Errorf("under the trace: %v", got)
	}
}

// TestCirclesEnd: plugins that call each other for ever are stopped, and the caller learns why.
func TestCirclesEnd(t *testing.T) {
	r, _ := servicesRig(t)
	r.ensure(second())
	c, err := r.Conn("faulty")
	if err != nil {
		t.Fatal(err)
	}
	_, err = pluginv1.NewSwitchDriverClient(c).ReadPorts(r.ctx(), &pluginv1.ReadPortsRequest{Switch: &pluginv1.Switch{NodeId: 66, Address: "second", Model: "faulty"}})
	if err = fault.FromStatus(err); fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), "the call has passed the host 8 times: plugins call each other in a loop") {
		t.Errorf("%v", err)
	}
}
