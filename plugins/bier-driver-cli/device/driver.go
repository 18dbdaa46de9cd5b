// Package device types at routers: a session for each call, one call at a time for
// each router, every answer awaited and looked at. Driver implements bierdriver.
// What to type is decided in package template.
package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/protobuf/types/known/timestamppb"

	"ctl.internal/internal/netconf"
	"ctl.internal/plugins/bier-driver-cli/template"
	"ctl.internal/sdk/bierdriver"
)

// Driver drives all routers. It implements bierdriver.Driver.
type Driver struct {
	set            Settings
	model          *template.Model
	prompt, refuse *regexp.Regexp
	inspect        expressions
	log            *slog.Logger
	logins         *netconf.Logins

	mu    sync.Mutex
	nodes map[string]*node
}

// node is the known state of a router; a call that uses the router has the turn.
type node struct {
	turn *semaphore.Weighted
	last []template.Section // applied last, nil: not known
	had  bool
	// A change was typed, and not saved for the router's next start.
	unsaved bool

	members []*bierdriver.Member // of the last Apply
}

// Describe is of the contract. A command line announces nothing, so the operator
// chooses this driver by its name.
func (d *Driver) Describe() bierdriver.Description {
	lacks := slices.Clone(d.set.Lacks)
	if !d.set.Inspect.canShowForwarding() {
		lacks = append(lacks, bierdriver.ForwardingAbility)
	}
	if d.set.Inspect.Ping.Line == "" {
		lacks = append(lacks, bierdriver.PingAbility)
	}
	if d.set.Inspect.Delivery.Show == "" {
		lacks = append(lacks, bierdriver.DeliveryAbility)
	}
	if !d.model.HasPorts() {
		lacks = append(lacks, bierdriver.Ports)
	}
	return bierdriver.Description{
		Dialects: []string{d.set.Dialect},
		Members:  d.model.Members(),
		Lacks:    lacks,
	}
}

// withTerminal does something at a router's command line, after those who came before.
func (d *Driver) withTerminal(
	ctx context.Context,
	r *bierdriver.Router,
	do func(context.Context, *node, *terminal) error,
) (*bierdriver.Session, uint32, error) {
	d.mu.Lock()
	n := d.nodes[r.NodeId]
	if n == nil {
		n = &node{turn: semaphore.NewWeighted(1)}
		d.nodes[r.NodeId] = n
	}
	d.mu.Unlock()
	s := &bierdriver.Session{
		State:   bierdriver.Down,
		Since:   timestamppb.Now(),
		Dialect: d.set.Dialect,
	}
	if err := n.turn.Acquire(ctx, 1); err != nil {
		return s, 0, err
	}
	defer n.turn.Release(1)
	var t *terminal
	to := netconf.Target{
		Host:       r.Host,
		Port:       cmp.Or(int(r.Port), 22),
		User:       r.User,
		Password:   r.Password,
		PrivateKey: []byte(r.PrivateKey),
		HostKey:    r.HostKey,
	}
	err := d.logins.Do(ctx, to, d.set.Connect.Duration, func(ctx context.Context, to netconf.Target) (err error) {
		t, err = openTerminal(ctx, to, d.prompt, d.refuse)
		return err
	})
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
		d.log.Warn(
			"trusting the router's host key, seen for the first time",
			"router",
			r.NodeId,
			"key",
			t.key,
		)
	}
	s.State, s.HostKey = bierdriver.Up, t.key
	for _, line := range d.set.Commands.Prepare {
		if err = d.typeLine(ctx, t, line); err != nil {
			break
		}
	}
	if err == nil {
		err = do(ctx, n, t)
	}
	return s, t.typed, err
}

func (d *Driver) typeLine(ctx context.Context, t *terminal, line string) error {
	_, err := d.sendLine(ctx, t, line)
	return err
}

// readSections reads what the router holds of ours.
func (d *Driver) readSections(ctx context.Context, t *terminal) ([]template.Section, error) {
	said, err := d.sendLine(ctx, t, d.set.Commands.Show)
	if err != nil {
		return nil, err
	}
	return d.model.Parse(said), nil
}

// Probe is of the contract; Describe says that it is not offered.
func (d *Driver) Probe(ctx context.Context, r *bierdriver.Router) (*bierdriver.Probe, error) {
	s, _, err := d.withTerminal(ctx, r, func(context.Context, *node, *terminal) error {
		return nil
	})
	p := &bierdriver.Probe{
		Session:   s,
		Supported: err == nil,
		Reached:   s.State == bierdriver.Up,
	}
	if err != nil {
		p.Reason = err.Error()
	}
	return p, nil
}

// Read is of the contract.
func (d *Driver) Read(ctx context.Context, r *bierdriver.Router) (*bierdriver.Observed, error) {
	o := &bierdriver.Observed{}
	var err error
	o.Session, _, err = d.withTerminal(ctx, r, func(ctx context.Context, n *node, t *terminal) error {
		have, err := d.readSections(ctx, t)
		o.Config = d.model.Read(have, n.members)
		return err
	})
	if err != nil {
		return nil, toReadError(err)
	}
	return o, nil
}

// oneLine is an error for a result.
func oneLine(err error) string {
	return strings.ReplaceAll(fmt.Sprint(err), "\n", "; ")
}

// Watch is of the contract. A command line reports nothing by itself: the driver looks
// from time to time, and reports the router's coming, going and drift.
func (d *Driver) Watch(
	ctx context.Context,
	r *bierdriver.Router,
	emit func(*bierdriver.Event) error,
) error {
	err := emit(&bierdriver.Event{Session: &bierdriver.Session{
		State: bierdriver.Connecting,
		Since: timestamppb.Now(),
	}})
	if err != nil {
		return err
	}
	state := bierdriver.Connecting
	look := time.NewTicker(d.set.Poll.Duration)
	defer look.Stop()
	for {
		s, drift := d.detectDrift(ctx, r)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if s.State != state {
			state = s.State
			if err := emit(&bierdriver.Event{Session: s}); err != nil {
				return err
			}
		}
		if drift != "" {
			e := &bierdriver.Drift{
				At:   timestamppb.Now(),
				What: "to repair: " + drift,
			}
			if err := emit(&bierdriver.Event{Drift: e}); err != nil {
				return err
			}
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// detectDrift compares a router with what was applied last.
func (d *Driver) detectDrift(
	ctx context.Context,
	r *bierdriver.Router,
) (s *bierdriver.Session, drift string) {
	s, _, err := d.withTerminal(ctx, r, func(ctx context.Context, n *node, t *terminal) error {
		have, err := d.readSections(ctx, t)
		if err != nil || !n.had {
			return err
		}
		if _, edits := d.model.Diff(have, n.last); len(edits) > 0 {
			drift = edits[0]
		}
		return nil
	})
	if err != nil && s.State == bierdriver.Up {
		s.State, s.Reason = bierdriver.Down, err.Error()
	}
	return s, drift
}
