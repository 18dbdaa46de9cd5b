package driver_test

import (
	"context"
	"sync"
	"testing"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// onePort is a driver of a switch with one port, which may refuse to bring it up.
type onePort struct {
	mu     sync.Mutex
	up     bool
	failUp error
	sent   []bool
}

func (*onePort) Match() switchdriver.Match { return switchdriver.Match{Models: []string{"m"}} }

func (p *onePort) ReadPortSettings(context.Context, *switchdriver.Switch, uint32) ([]*switchdriver.PortSettings, []*switchdriver.PowerSupply, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return []*switchdriver.PortSettings{{Port: 1, Up: new(p.up)}}, nil, nil
}

func (p *onePort) WritePortSettings(_ context.Context, _ *switchdriver.Switch, s *switchdriver.PortSettings) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, s.GetUp())
	if s.GetUp() && p.failUp != nil {
		return p.failUp
	}
	p.up = s.GetUp()
	return nil
}

func (p *onePort) isUp() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.up
}

// A bounce by a driver plugin is two calls of it. One whose second call fails is repaired: the port is up in the end.
func TestBounceByPlugin(t *testing.T) {
	for name, failUp := range map[string]error{
		"well":        nil,
		"it died":     fault.New(fault.Unavailable, "the process ended"),
		"refused":     fault.Device(fault.Downstream, "the switch is busy"),
		"not in time": fault.Device(fault.Timeout, "no answer"),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, driver.Options{})
			p := &onePort{up: true, failUp: failUp}
			b.installDriver("drv", p)
			b.until("drv", func() bool { return b.chosen(node("m")) == "drv" })
			o := writes.Operation{What: "a bounce", Request: &pluginv1.WritePortSettingsRequest{Settings: &switchdriver.PortSettings{Port: 1, Up: new(true)}, Bounce: 100}}
			_, err := b.writer.Do(deadline(t), node("m"), o)
			if (err != nil) != (failUp != nil) {
				t.Fatalf("%v", err)
			}
			if failUp == nil {
				if !p.isUp() || len(p.sent) != 2 || p.sent[0] {
					t.Errorf("sent %v", p.sent)
				}
				return
			}
			p.mu.Lock()
			p.failUp = nil
			p.mu.Unlock()
			next := writes.Operation{What: "the next", Request: &pluginv1.WritePortSettingsRequest{Settings: &switchdriver.PortSettings{Port: 1, Up: new(true)}}}
			if _, err := b.writer.Do(deadline(t), node("m"), next); err != nil || !p.isUp() {
				t.Errorf("up %v: %v", p.isUp(), err)
			}
			if r := b.repaired(); len(r) != 1 || r[0] != writes.Whole {
				t.Errorf("outcomes %v", r)
			}
		})
	}
}
