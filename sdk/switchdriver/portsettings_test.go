package switchdriver

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

func TestCheckPortSettings(t *testing.T) {
	for name, k := range map[string]struct {
		s    *PortSettings
		want string // paths of the faults, in order
	}{
		"none":                     {nil, "settings"},
		"nothing to change":        {&PortSettings{Port: 1}, "settings"},
		"up":                       {&PortSettings{Port: 1, Up: new(true)}, ""},
		"no description":           {&PortSettings{Port: 1, Description: new("")}, ""},
		"port 0":                   {&PortSettings{Up: new(true)}, "port"},
		"port 65536":               {&PortSettings{Port: 65536, Up: new(true)}, "port"},
		"a long description":       {&PortSettings{Port: 1, Description: new(strings.Repeat("x", 65))}, "description"},
		"a command":                {&PortSettings{Port: 1, Description: new("x\nreboot")}, "description"},
		"priority 0":               {&PortSettings{Port: 1, PowerPriority: new(uint32(0))}, "power-priority"},
		"priority 4":               {&PortSettings{Port: 1, PowerPriority: new(uint32(4))}, "power-priority"},
		"limit 0":                  {&PortSettings{Port: 1, PowerLimit: new(uint32(0))}, "power-limit"},
		"limit of 100 W":           {&PortSettings{Port: 1, PowerLimit: new(uint32(100_000))}, "power-limit"},
		"limit of 15.4 W":          {&PortSettings{Port: 1, PowerLimit: new(uint32(15_400))}, ""},
		"negotiated speed":         {&PortSettings{Port: 1, Speed: new(uint32(0))}, ""},
		"99 Mbit/s":                {&PortSettings{Port: 1, Speed: new(uint32(99))}, "speed"},
		"100 Mbit/s, half":         {&PortSettings{Port: 1, Speed: new(uint32(100)), Duplex: new(DuplexHalf)}, ""},
		"1 Gbit/s, half":           {&PortSettings{Port: 1, Speed: new(uint32(1000)), Duplex: new(DuplexHalf)}, "duplex"},
		"full without a speed":     {&PortSettings{Port: 1, Duplex: new(DuplexFull)}, "duplex"},
		"duplex 3":                 {&PortSettings{Port: 1, Speed: new(uint32(100)), Duplex: new(uint32(3))}, "duplex"},
		"what can only be read":    {&PortSettings{Port: 1, PowerDrawn: new(uint32(5))}, "settings"},
		"two faults at one time":   {&PortSettings{Description: new("\x00")}, "port description"},
		"a description of 64":      {&PortSettings{Port: 1, Description: new(strings.Repeat("x", 64))}, ""},
		"a description, not ASCII": {&PortSettings{Port: 1, Description: new("Büro")}, "description"},
	} {
		var paths []string
		for _, f := range fault.All(CheckPortSettings(k.s)) {
			paths = append(paths, f.Path)
		}
		if got := strings.Join(paths, " "); got != k.want {
			t.Errorf("%s: faults at %q, want %q", name, got, k.want)
		}
	}
}

func TestCheckBounce(t *testing.T) {
	for name, k := range map[string]struct {
		s     *PortSettings
		pause time.Duration
		ok    bool
	}{
		"up":                  {&PortSettings{Port: 1, Up: new(true)}, time.Second, true},
		"power":               {&PortSettings{Port: 1, Power: new(true)}, MaxBounce, true},
		"both":                {&PortSettings{Port: 1, Up: new(true), Power: new(true)}, time.Second, false},
		"ends down":           {&PortSettings{Port: 1, Up: new(false)}, time.Second, false},
		"with a description":  {&PortSettings{Port: 1, Up: new(true), Description: new("x")}, time.Second, false},
		"without a pause":     {&PortSettings{Port: 1, Up: new(true)}, 0, false},
		"with a pause of 1 h": {&PortSettings{Port: 1, Up: new(true)}, time.Hour, false},
	} {
		if err := CheckBounce(k.s, k.pause); (err == nil) != k.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSettingsDiffer(t *testing.T) {
	now := &PortSettings{Port: 7, Up: new(true), Description: new("rack 3"), PowerLimit: new(uint32(15_400))}
	for name, k := range map[string]struct {
		want   *PortSettings
		differ string
	}{
		"as asked":              {&PortSettings{Port: 7, Up: new(true), Description: new("rack 3")}, ""},
		"down":                  {&PortSettings{Port: 7, Up: new(false)}, "port 7 with up true"},
		"another description":   {&PortSettings{Port: 7, Description: new("rack 4")}, `port 7 with the description "rack 3"`},
		"no power over the net": {&PortSettings{Port: 7, Power: new(true)}, "port 7 with power unknown"},
		"another limit":         {&PortSettings{Port: 7, PowerLimit: new(uint32(30_000))}, "port 7 with power limit 15400"},
	} {
		if got := SettingsDiffer(k.want, now); got != k.differ {
			t.Errorf("%s: %q, want %q", name, got, k.differ)
		}
	}
}

// bounced notes what it was asked to write, and fails as fail says.
type bounced struct {
	up     []bool
	fail   func(up bool) error
	before func() // each call
}

func (b *bounced) Match() Match { return Match{} }

func (b *bounced) WritePortSettings(ctx context.Context, _ *Switch, s *PortSettings) error {
	if b.before != nil {
		b.before()
	}
	if s.GetUp() && ctx.Err() != nil {
		return ctx.Err()
	}
	b.up = append(b.up, s.GetUp())
	if b.fail != nil {
		return b.fail(s.GetUp())
	}
	return nil
}

// Whatever happens once the port may be down, it is brought up.
func TestBounceEndsUp(t *testing.T) {
	lost := fault.Device(fault.Timeout, "no answer")
	for name, k := range map[string]struct {
		fail func(up bool) error
		want []bool
		text string
	}{
		"all goes well":          {nil, []bool{false, true}, ""},
		"refused":                {func(bool) error { return fault.New(fault.Unsupported, "cannot") }, []bool{false}, "cannot"},
		"the first answer lost":  {func(up bool) error { return errorUnless(up, lost) }, []bool{false, true}, "no answer"},
		"the second answer lost": {func(up bool) error { return errorUnless(!up, lost) }, []bool{false, true}, "no answer"},
		"both lost":              {func(bool) error { return lost }, []bool{false, true}, "it may be down, because it could not be brought up again"},
	} {
		b := &bounced{fail: k.fail}
		r := &pluginv1.WritePortSettingsRequest{Settings: &PortSettings{Port: 1, Up: new(true)}, Bounce: 100}
		_, err := Do(t.Context(), b, &Switch{Address: "192.0.2.1"}, r)
		if !slices.Equal(b.up, k.want) || (err == nil) != (k.text == "") || err != nil && !strings.Contains(err.Error(), k.text) {
			t.Errorf("%s: %v, %v", name, b.up, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	b := &bounced{before: cancel}
	r := &pluginv1.WritePortSettingsRequest{Settings: &PortSettings{Port: 1, Up: new(true)}, Bounce: 60_000}
	if _, err := Do(ctx, b, &Switch{Address: "192.0.2.1"}, r); !errors.Is(err, context.Canceled) || !slices.Equal(b.up, []bool{false, true}) {
		t.Errorf("a call that ends in the pause: %v, %v", b.up, err)
	}
}

func errorUnless(ok bool, err error) error {
	if ok {
		return nil
	}
	return err
}
