package reconcile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/bierdriver"
)

// A router that refuses its configuration may refuse a channel only. Which ones is found by bisection:
// they are set aside, and everything else goes on.

// maxTries bounds the changes of one search, maxRetries those of a search that only looks whether the
// channels that are set aside are still refused.
const (
	maxTries   = 256
	maxRetries = 32
)

// notTried is the reason of a channel that a search did not come to.
const notTried = "the router refused so many channels that this one was not tried yet"

// withChannels is d with those of its channels for which keep is true. A channel without it is as the router
// holds it, if it does.
func (d *Desired) withChannels(
	keep func(channel string) bool,
	held map[flowKey]*bierdriver.Channel,
) *Desired {
	out := &Desired{
		Config: &bierdriver.Config{
			Global:  d.Config.Global,
			Members: d.Config.Members,
		},
		Problems: d.Problems,
		Lost:     d.Lost,
	}
	sums := sha256.New()
	for i, c := range d.Config.Channels {
		name := d.Channels[i]
		if !keep(name) {
			if c = held[flowOf(c)]; c == nil {
				continue
			}
			sums.Write([]byte("as it is "))
		}
		sums.Write([]byte(name + "\n"))
		out.Config.Channels, out.Channels = append(out.Config.Channels, c), append(out.Channels, name)
	}
	out.Hash = d.Hash + hex.EncodeToString(sums.Sum(nil)[:8])
	return out
}

// flowKey is what identifies a channel on a router.
type flowKey struct {
	vpn, sourceWildcard, groupWildcard uint32
	source, group                      string
}

func flowOf(c *bierdriver.Channel) flowKey {
	return flowKey{c.VpnId, c.SourceWildcard, c.GroupWildcard, c.SourceAddress, c.GroupAddress}
}

// search finds the channels that a router refuses. apply changes the router.
type search struct {
	want     *Desired
	held     map[flowKey]*bierdriver.Channel // by flow, what the router holds of channels
	apply    func(d *Desired) outcome
	left     int // how many changes it may still try
	accepted map[string]bool
	aside    map[string]string  // why a channel is refused
	barred   map[string]bool    // those that the driver cannot write, which is certain without trying
	last     *Desired           // what the router took last
	before   *bierdriver.Config // what the router held; nil: not known
	stopped  *outcome           // the router is not reached any more
}

// wantedWith is what is wanted with the channels that were accepted so far and more.
func (s *search) wantedWith(more []string) *Desired {
	return s.want.withChannels(func(c string) bool {
		return s.accepted[c] || slices.Contains(more, c)
	}, s.held)
}

// tryChannels tries to add channels, all or in parts.
func (s *search) tryChannels(list []string) {
	if len(list) == 0 || s.stopped != nil {
		return
	}
	if s.left <= 0 {
		for _, c := range list {
			s.aside[c] = cmp.Or(s.aside[c], notTried)
		}
		return
	}
	s.left--
	d := s.wantedWith(list)
	switch out := s.apply(d); {
	case out.state == bier.Applied:
		s.last = d
		for _, c := range list {
			s.accepted[c] = true
			delete(s.aside, c)
		}
	case out.state != bier.Failed:
		s.stopped = &out
	case len(list) == 1:
		s.aside[list[0]] = out.reason
	default:
		s.tryChannels(list[:len(list)/2])
		s.tryChannels(list[len(list)/2:])
	}
}

// bringToDesired brings a router to what is wanted, without the channels that it refuses. again: it was tried
// before, and only what is set aside may have changed.
func (r *router) bringToDesired(
	ctx context.Context,
	target *bierdriver.Router,
	want *Desired,
	again bool,
	apply func(d *Desired) outcome,
) outcome {
	s := &search{
		want:     want,
		apply:    apply,
		left:     maxTries,
		accepted: map[string]bool{},
		aside:    r.refusedChannels(want),
	}
	if again {
		s.left = maxRetries
	}
	first := want
	if len(s.aside) > 0 {
		s.inspectRouter(ctx, r, target, slices.Sorted(maps.Keys(s.aside)))
		first = want.withChannels(func(c string) bool { return s.aside[c] == "" }, s.held)
	}
	out := apply(first)
	switch {
	case out.state == bier.Applied:
		s.acceptFirst(first)
	case out.state != bier.Failed || len(want.Config.Channels) == 0 || out.unreached:
		return out
	default:
		s.inspectRouter(ctx, r, target, want.Channels)
		if refused := s.applyBase(out); refused != nil {
			return *refused
		}
	}
	s.tryChannels(s.channelsToTry())
	if s.stopped != nil {
		return *s.stopped
	}
	out = outcome{
		state:  bier.Applied,
		driver: out.driver,
		aside:  s.aside,
		held:   s.last.Hash,
	}
	for c := range s.aside {
		out.retry = out.retry || !s.barred[c]
	}
	return out
}

// refusedChannels are the channels that were refused before, with the reasons.
func (r *router) refusedChannels(want *Desired) map[string]string {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	out := map[string]string{}
	for _, c := range want.Channels {
		if why := r.aside[c]; why != "" {
			out[c] = why
		}
	}
	return out
}

// inspectRouter finds out what the router holds, and which of these channels the driver cannot write to it.
// Neither changes anything at the router.
func (s *search) inspectRouter(
	ctx context.Context,
	r *router,
	target *bierdriver.Router,
	channels []string,
) {
	o := &r.e.o
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	if s.barred == nil {
		s.held, s.barred = map[flowKey]*bierdriver.Channel{}, map[string]bool{}
		if o.Read != nil {
			s.before = o.Read(ctx, target)
		}
		for _, c := range s.before.GetChannels() {
			s.held[flowOf(c)] = c
		}
	}
	refused, known := map[string]string(nil), false
	if o.Check != nil {
		refused, known = o.Check(ctx, target, s.want)
	}
	if !known {
		refused = s.findUnwritable(channels, func(d *Desired) string {
			res, _, err := o.Apply(ctx, target, d, true)
			if err != nil || res.State != bierdriver.Failed {
				return ""
			}
			return res.Reason
		})
	}
	for i, c := range s.want.Config.Channels {
		if name := s.want.Channels[i]; refused[name] != "" {
			s.aside[name], s.barred[name], s.accepted[name] = refused[name], true, false
			delete(s.held, flowOf(c))
		}
	}
}

// findUnwritable finds the channels that a driver cannot write, where it does not say: it has the driver
// compare the router with parts of the configuration, which fails where they cannot be written.
func (s *search) findUnwritable(
	channels []string,
	fails func(d *Desired) string,
) map[string]string {
	refused := map[string]string{}
	only := func(list []string) *Desired {
		return s.want.withChannels(func(c string) bool {
			return slices.Contains(list, c)
		}, nil)
	}
	if fails(only(nil)) != "" { // it cannot write the router's own configuration: nothing is known of channels
		return refused
	}
	left := maxTries
	var find func(list []string)
	find = func(list []string) {
		if len(list) == 0 || left <= 0 {
			return
		}
		left--
		why := fails(only(list))
		switch {
		case why == "":
		case len(list) == 1:
			refused[list[0]] = why
		default:
			find(list[:len(list)/2])
			find(list[len(list)/2:])
		}
	}
	find(channels)
	return refused
}

// acceptFirst takes in that the router has what it was given first.
func (s *search) acceptFirst(first *Desired) {
	s.last = first
	for _, c := range first.Channels {
		s.accepted[c] = s.aside[c] == ""
	}
}

// channelsToTry are the channels that are to be tried: those that were not tried yet first.
func (s *search) channelsToTry() (out []string) {
	var again []string
	for _, c := range s.want.Channels {
		switch why := s.aside[c]; {
		case s.accepted[c] || s.barred[c]:
		case why == "" || why == notTried:
			out = append(out, c)
		default:
			again = append(again, c)
		}
	}
	return append(out, again...)
}

// applyBase brings the router to what is wanted besides channels that it does not hold. It returns the state
// of a router that refuses even that; then at least what is no longer wanted is removed from it.
func (s *search) applyBase(first outcome) *outcome {
	var kept []string
	for i, c := range s.want.Config.Channels {
		name := s.want.Channels[i]
		if s.held[flowOf(c)] != nil && s.aside[name] == "" {
			kept = append(kept, name)
		}
	}
	bases := []*Desired{s.wantedWith(kept)}
	if len(kept) > 0 {
		bases = append(bases, s.wantedWith(nil)) // those that it holds as they are
	}
	for i, d := range bases {
		out := s.apply(d)
		switch {
		case out.state == bier.Applied:
			s.last = d
			for _, c := range kept {
				s.accepted[c] = i == 0
			}
			return nil
		case out.state != bier.Failed:
			return &out
		}
		first.reason = out.reason
	}
	if s.before != nil { // it refuses its own configuration
		d := s.wantedWith(nil)
		d.Config.Global = s.before.Global
		if len(d.Config.Channels) < len(s.before.Channels) {
			s.apply(d)
		}
	}
	return &first
}
