package service

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"ctl.internal/plugins/bier-driver-ietf/device"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
)

// settings is etc/bier-driver.yaml; form and defaults are in plugin.yaml.
type settings struct {
	Connect   duration `json:"connect"`
	Request   duration `json:"request"`
	Confirm   duration `json:"confirm"`
	Keepalive duration `json:"keepalive"`
	Audit     duration `json:"audit"`
	Retry     struct {
		First duration `json:"first"`
		Most  duration `json:"most"`
	} `json:"retry"`
	MaxMessage int `json:"max_message"`
}

// duration is a time.Duration as "1.5s".
type duration time.Duration

func (d *duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	v, err := time.ParseDuration(s)
	*d = duration(v)
	return err
}

// New is the plugin.
func New(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	s, err := read(env.Config)
	if err != nil {
		return nil, err
	}
	return &sdk.Plugin{BierDriver: device.New(s, slog.Default())}, nil
}

func read(config []byte) (device.Settings, error) {
	var s settings
	if err := json.Unmarshal(config, &s); err != nil {
		return device.Settings{}, fault.Wrap(fault.Invalid, err, "the settings cannot be read: %s", err)
	}
	out := device.Defaults()
	var bad fault.List
	for _, v := range []struct {
		path        string
		value       duration
		least, most time.Duration
		to          *time.Duration
	}{
		{"connect", s.Connect, 100 * time.Millisecond, 5 * time.Minute, &out.Connect},
		{"request", s.Request, 100 * time.Millisecond, 10 * time.Minute, &out.RPC},
		{"confirm", s.Confirm, time.Second, time.Hour, &out.Confirm},
		{"keepalive", s.Keepalive, time.Second, 24 * time.Hour, &out.Keepalive},
		{"audit", s.Audit, time.Second, 24 * time.Hour, &out.Audit},
		{"retry/first", s.Retry.First, 10 * time.Millisecond, time.Hour, &out.RetryMin},
		{"retry/most", s.Retry.Most, 10 * time.Millisecond, 24 * time.Hour, &out.RetryMax},
	} {
		d := time.Duration(v.value)
		switch {
		case d == 0: // the default
		case d < v.least || d > v.most:
			bad = append(bad, fault.At(fault.Invalid, v.path, "%s is not between %s and %s", d, v.least, v.most))
		default:
			*v.to = d
		}
	}
	if out.RetryMin > out.RetryMax {
		bad = append(bad, fault.At(fault.Invalid, "retry/first", "%s is more than retry/most, %s", out.RetryMin, out.RetryMax))
	}
	if s.MaxMessage > 0 {
		out.MaxBytes = s.MaxMessage
	}
	return out, bad.Err()
}
