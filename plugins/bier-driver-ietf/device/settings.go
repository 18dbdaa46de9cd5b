package device

import "time"

// Settings of the driver; those of one router come with each call.
type Settings struct {
	Connect   time.Duration // to reach a router, log in and say hello
	RPC       time.Duration // for one request
	Confirm   time.Duration // after which a router takes an unconfirmed commit back
	Keepalive time.Duration // between signs of life on an idle session
	Audit     time.Duration // between comparisons with what was applied last
	RetryMin  time.Duration // before a router is tried again
	RetryMax  time.Duration
	MaxBytes  int // of one message of a router
}

// Defaults are the settings of a plugin without a file.
func Defaults() Settings {
	return Settings{Connect: 10 * time.Second, RPC: 30 * time.Second, Confirm: 60 * time.Second, Keepalive: time.Minute,
		Audit: 5 * time.Minute, RetryMin: time.Second, RetryMax: time.Minute, MaxBytes: 64 << 20}
}
