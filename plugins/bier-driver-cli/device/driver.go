package device

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"ctl.internal/internal/netconf"
	"ctl.internal/plugins/bier-driver-cli/template"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
)

// Settings of the driver.
type Settings struct {
	Model           *template.Model
	Dialect         string // told as the dialect
	Prompt, Refused *regexp.Regexp
	Prepare         []string // typed after login
	Show            string   // shows the running configuration
	Configure, End  string   // into and out of configuration mode
	Save            string   // makes it survive a restart; empty: not done
	Connect, Line   time.Duration
	Poll            time.Duration // between looks at a watched router
}

// Driver drives all routers. It implements bierdriver.Driver.
type Driver struct {
	set Settings
	log *slog.Logger

	mu    sync.Mutex
	nodes map[string]*node
}

// node is what is known of a router; turn holds a token while nobody is at it.
type node struct {
	turn chan struct{}
	last []template.Section // applied last, nil: not known
	had  bool
	// A change was typed, and not saved for the router's next start.
	unsaved bool

	members []*bierdriver.Member // told last
}

// New returns a driver. Nothing runs until it is called.
func New(s Settings, log *slog.Logger) *Driver {
	return &Driver{set: s, log: log, nodes: map[string]*node{}}
}

// Describe is of the contract. A command line announces nothing, so the operator
// chooses this driver by its name.
func (d *Driver) Describe() bierdriver.Description {
	return bierdriver.Description{Dialects: []string{d.set.Dialect}, Members: d.set.Model.Members()}
}

// with does something at a router's command line, after those who came before.
func (d *Driver) with(ctx context.Context, r *bierdriver.Router, do func(context.Context, *node, *terminal) error) (*bierdriver.Session, uint32, error) {
	d.mu.Lock()
	n := d.nodes[r.NodeId]
	if n == nil {
		n = &node{turn: make(chan struct{}, 1)}
		n.turn <- struct{}{}
		d.nodes[r.NodeId] = n
	}
	d.mu.Unlock()
	s := &bierdriver.Session{State: bierdriver.Down, Since: timestamppb.Now(), Dialect: d.set.Dialect}
	select {
	case <-n.turn:
		defer func() { n.turn <- struct{}{} }()
	case <-ctx.Done():
		return s, 0, ctx.Err()
	}
	dial, cancel := context.WithTimeout(ctx, d.set.Connect)
	defer cancel()
	port := int(r.Port)
	if port == 0 {
		port = 22
	}
	t, err := open(dial, netconf.Target{Host: r.Host, Port: port, User: r.User, Password: r.Password, PrivateKey: []byte(r.PrivateKey), HostKey: r.HostKey},
		d.set.Prompt, d.set.Refused)
	if err != nil {
		var key *netconf.HostKeyError
		if errors.Is(err, netconf.ErrLogin) || errors.As(err, &key) {
			s.State = bierdriver.Refused
		}
		s.Reason = err.Error()
		return s, 0, err
	}
	defer t.close()
	if r.HostKey == "" {
		d.log.Warn("trusting the router's host key, seen for the first time", "router", r.NodeId, "key", t.key)
	}
	s.State, s.HostKey = bierdriver.Up, t.key
	for _, line := range d.set.Prepare {
		if err = d.type1(ctx, t, line); err != nil {
			break
		}
	}
	if err == nil {
		err = do(ctx, n, t)
	}
	return s, t.typed, err
}

func (d *Driver) type1(ctx context.Context, t *terminal, line string) error {
	ctx, cancel := context.WithTimeout(ctx, d.set.Line)
	defer cancel()
	_, err := t.run(ctx, line)
	return err
}

// sections reads what the router holds of ours.
func (d *Driver) sections(ctx context.Context, t *terminal) ([]template.Section, error) {
	ctx, cancel := context.WithTimeout(ctx, d.set.Line)
	defer cancel()
	said, err := t.run(ctx, d.set.Show)
	if err != nil {
		return nil, err
	}
	return d.set.Model.Parse(said), nil
}

// Probe is of the contract; Describe says that it is not offered.
func (d *Driver) Probe(ctx context.Context, r *bierdriver.Router) (*bierdriver.Probe, error) {
	s, _, err := d.with(ctx, r, func(context.Context, *node, *terminal) error { return nil })
	p := &bierdriver.Probe{Session: s, Supported: err == nil, Reached: s.State == bierdriver.Up}
	if err != nil {
		p.Reason = err.Error()
	}
	return p, nil
}

// Read is of the contract.
func (d *Driver) Read(ctx context.Context, r *bierdriver.Router) (*bierdriver.Observed, error) {
	o := &bierdriver.Observed{}
	var err error
	o.Session, _, err = d.with(ctx, r, func(ctx context.Context, n *node, t *terminal) error {
		have, err := d.sections(ctx, t)
		o.Config = d.set.Model.Read(have, n.members)
		return err
	})
	switch {
	case errors.Is(err, errRefused):
		return nil, fault.Device(fault.Downstream, "%s", err)
	case err != nil:
		return nil, fault.Wrap(fault.Unavailable, err, "%s", err)
	}
	return o, nil
}

// oneLine is an error for a result.
func oneLine(err error) string { return strings.ReplaceAll(fmt.Sprint(err), "\n", "; ") }
