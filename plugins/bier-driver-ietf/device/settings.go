package device

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
)

// Settings is etc/bier-driver.yaml; those of one router come with each call.
type Settings struct {
	Connect   sdk.Duration `json:"connect"`   // to reach a router, log in and say hello
	RPC       sdk.Duration `json:"request"`   // for one request
	Confirm   sdk.Duration `json:"confirm"`   // after which a router takes an unconfirmed commit back
	Keepalive sdk.Duration `json:"keepalive"` // between signs of life on an idle session
	Audit     sdk.Duration `json:"audit"`     // between comparisons with what was applied last
	Retry     struct {
		First sdk.Duration `json:"first"` // before a router is tried again
		Most  sdk.Duration `json:"most"`
	} `json:"retry"`
	MaxBytes int `json:"max_message"` // of one message of a router
}

// Defaults are those of plugin.yaml.
func Defaults() Settings {
	s := Settings{Connect: sdk.Duration{Duration: 10 * time.Second}, RPC: sdk.Duration{Duration: 30 * time.Second},
		Confirm: sdk.Duration{Duration: time.Minute}, Keepalive: sdk.Duration{Duration: time.Minute},
		Audit: sdk.Duration{Duration: 5 * time.Minute}, MaxBytes: 64 << 20}
	s.Retry.First.Duration, s.Retry.Most.Duration = time.Second, time.Minute
	return s
}

// check is what the schema cannot say.
func (s *Settings) check() error {
	const day = 24 * time.Hour
	return slices.Concat(
		fault.All(s.Connect.Between("connect", 100*time.Millisecond, 5*time.Minute)),
		fault.All(s.RPC.Between("request", 100*time.Millisecond, 10*time.Minute)),
		fault.All(s.Confirm.Between("confirm", time.Second, time.Hour)),
		fault.All(s.Keepalive.Between("keepalive", time.Second, day)),
		fault.All(s.Audit.Between("audit", time.Second, day)),
		fault.All(s.Retry.Most.Between("retry/most", 10*time.Millisecond, day)),
		fault.All(s.Retry.First.Between("retry/first", 10*time.Millisecond, min(time.Hour, s.Retry.Most.Duration)))).Err()
}

// Start makes the plugin for the host.
func Start(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	s := Defaults()
	if err := env.DecodeConfig(&s); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return &sdk.Plugin{BierDriver: New(s, slog.Default())}, nil
}
