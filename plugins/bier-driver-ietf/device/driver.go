// Package device is the driver's edge: sessions to routers, what is sent over them
// and what comes back. Driver implements the contract bierdriver.
//
// One link serves all calls and watches of one router, one at a time. What to send is
// decided in package dialect.
package device

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/netconf"
	"ctl.internal/plugins/bier-driver-ietf/dialect"
	"ctl.internal/sdk"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
)

// Driver drives all routers. It implements bierdriver.Driver.
type Driver struct {
	set Settings
	log *slog.Logger

	memory memory
	logins *netconf.Logins

	mu    sync.Mutex
	links map[string]*link
}

// New returns a driver. Nothing runs until it is called.
func New(s Settings, log *slog.Logger) *Driver {
	return &Driver{
		set:    s,
		log:    log,
		links:  map[string]*link{},
		logins: netconf.NewLogins(s.Logins),
	}
}

// Describe is of the contract.
func (d *Driver) Describe() bierdriver.Description {
	return bierdriver.Description{
		Capabilities: []string{"urn:ietf:params:xml:ns:yang:ietf-bier"},
		Dialects:     dialect.Names(),
		Priority:     100,
		Probes:       true,
		Lacks:        []string{bierdriver.Ports},
	}
}

// acquireLink returns the link of a router, made when it is the first call; leave must be
// called. Links are kept apart by everything that the caller says of a router, so
// that another password gets a session of its own.
func (d *Driver) acquireLink(r *bierdriver.Router) (*link, error) {
	key, err := proto.MarshalOptions{Deterministic: true}.Marshal(r)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the router's description is broken")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.links[string(key)]
	if l == nil {
		l = newLink(d.set, d.log.With("router", r.NodeId), proto.CloneOf(r))
		l.memory, l.logins = &d.memory, d.logins
		d.links[string(key)] = l
	}
	l.users++
	l.key = string(key)
	return l, nil
}

// releaseLink gives a link back. The last one to leave closes the session.
func (d *Driver) releaseLink(l *link) {
	d.mu.Lock()
	l.users--
	last := l.users == 0
	if last {
		delete(d.links, l.key)
	}
	d.mu.Unlock()
	if last && l.session != nil {
		closeSoon(l.session, l.log)
	}
}

// Probe is of the contract.
func (d *Driver) Probe(ctx context.Context, r *bierdriver.Router) (*bierdriver.Probe, error) {
	l, err := d.acquireLink(r)
	if err != nil {
		return nil, err
	}
	defer d.releaseLink(l)
	if err := l.acquireTurn(ctx); err != nil {
		return &bierdriver.Probe{
			Reason:  "the router is busy with another call",
			Session: l.sessionState(),
		}, nil
	}
	defer l.releaseTurn()
	err = l.connect(ctx)
	p := &bierdriver.Probe{
		Session:   l.sessionState(),
		Reached:   len(l.sessionState().Capabilities) > 0,
		Supported: err == nil,
	}
	if err != nil {
		p.Reason = err.Error()
	}
	return p, nil
}

// Read is of the contract.
func (d *Driver) Read(
	ctx context.Context,
	r *bierdriver.Router,
) (out *bierdriver.Observed, err error) {
	err = d.withLink(ctx, r, func(l *link) error {
		c, err := l.readConfig(ctx)
		if err != nil {
			return toDeviceError(err)
		}
		out = &bierdriver.Observed{
			Config:  c,
			Session: l.sessionState(),
		}
		return nil
	})
	return out, err
}

// withLink does something that reads over the session to a router.
func (d *Driver) withLink(ctx context.Context, r *bierdriver.Router, do func(*link) error) error {
	l, err := d.acquireLink(r)
	if err != nil {
		return err
	}
	defer d.releaseLink(l)
	if err := l.acquireTurn(ctx); err != nil {
		return fault.Wrap(fault.Unavailable, err, "the router is busy with another call")
	}
	defer l.releaseTurn()
	if err := l.connect(ctx); err != nil {
		return fault.Wrap(fault.Unavailable, err, "%s", err.Error())
	}
	return do(l)
}

// toDeviceError is the error of an answer, or of none.
func toDeviceError(err error) error {
	return &fault.Error{
		Kind:   kindOf(err),
		Text:   err.Error(),
		Source: fault.SourceDevice,
		Cause:  err,
	}
}

// Settings is etc/bier-driver.yaml; those of one router come with each call.
type Settings struct {
	Connect   sdk.Duration `json:"connect"`   // to reach a router, then to log in and say hello
	Logins    int          `json:"logins"`    // routers that are logged in to at the same time
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
	s := Settings{
		Connect:   sdk.Duration{Duration: 10 * time.Second},
		Logins:    8,
		RPC:       sdk.Duration{Duration: 30 * time.Second},
		Confirm:   sdk.Duration{Duration: time.Minute},
		Keepalive: sdk.Duration{Duration: time.Minute},
		Audit:     sdk.Duration{Duration: 5 * time.Minute},
		MaxBytes:  64 << 20,
	}
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
		fault.All(s.Retry.First.Between(
			"retry/first",
			10*time.Millisecond,
			min(time.Hour, s.Retry.Most.Duration),
		))).Err()
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
