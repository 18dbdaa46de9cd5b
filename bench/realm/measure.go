package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ctl.internal/bench/load"
)

// side is one of the two that are compared.
type side struct {
	name      string
	run       func(context.Context, time.Duration) (load.Result, error)
	processes []process
	got       []sample
}

// process is one whose processor time is counted.
type process struct {
	name string
	pid  int
}

type sample struct {
	load.Result
	cpu []time.Duration // a login, of each process
}

func (o options) measure(ctx context.Context, dir string, k setting) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	s, err := startSlapd(ctx, dir, o.users, k)
	if err != nil {
		return err
	}
	defer s.stop()
	c, err := o.start(ctx, filepath.Join(dir, "h"), s)
	if err != nil {
		return err
	}
	defer c.stop()
	plug, err := startRealm(ctx, o.bin, s)
	if err != nil {
		return err
	}
	defer plug.stop()
	// Each worker goes through a part of the users of its own.
	next := make([]int, o.parallel)
	user := func(worker int) int {
		next[worker]++
		return (worker + next[worker]*o.parallel) % o.users
	}
	work, err := o.bare(s, k, user)
	if err != nil {
		return err
	}
	requests := make([][]byte, o.users)
	for i := range requests {
		requests[i] = request(c.http, k, i)
	}
	self, server := process{"load", os.Getpid()}, process{"slapd", s.cmd.Process.Pid}
	through := &side{name: "HTTP Basic, host, realm, server",
		run: func(ctx context.Context, d time.Duration) (load.Result, error) {
			return load.Each(ctx, c.http, func(i int) []byte { return requests[user(i)] }, o.parallel, d)
		},
		processes: []process{self, {"host", c.cmd.Process.Pid}, {"realm", child(c.cmd.Process.Pid, "realm-ldap")}, server}}
	alone := &side{name: "realm, server",
		run: func(ctx context.Context, d time.Duration) (load.Result, error) {
			return load.Do(ctx, o.parallel, d, plug.logins(k, user))
		},
		processes: []process{self, {"realm", plug.pid()}, server}}
	peer := &side{name: "bare go-ldap, bind and search",
		run: func(ctx context.Context, d time.Duration) (load.Result, error) {
			return load.Do(ctx, o.parallel, d, work)
		},
		processes: []process{self, server}}
	if err := o.compare(ctx, c, k, through, alone, peer); err != nil {
		return err
	}
	fmt.Printf("\n%s\n%s%s%s  through the realm %s, asked for 0.8; with HTTP and host in front of it %s\n",
		k.name, peer, alone, through, alone.against(peer), through.against(peer))
	return nil
}

// against is the ratio to a peer.
func (s *side) against(peer *side) string {
	a, b := s.median(), peer.median()
	return fmt.Sprintf("%.2f (of processor time %.2f)", a.Rate()/b.Rate(), b.total().Seconds()/a.total().Seconds())
}

func request(address string, k setting, i int) []byte {
	credentials := base64.StdEncoding.EncodeToString([]byte(user(i) + ":" + k.password(i)))
	return load.Request("GET", address, "/restconf/yang-library-version", "Basic "+credentials, nil)
}

// compare runs the sides in turn; the first round of each, in which connections are
// made and heaps grow, does not count.
func (o options) compare(ctx context.Context, c *controller, k setting, sides ...*side) error {
	for round := range o.rounds + 1 {
		for i, s := range sides {
			d, wait := o.duration, func() error { return nil }
			if round == o.rounds && i == 0 && o.profiles != "" {
				wait = c.profile(ctx, filepath.Join(o.profiles, "host-"+strings.Fields(k.name)[0]+".pprof"), d)
			}
			before := s.used()
			r, err := s.run(ctx, d)
			after := s.used()
			if err := errors.Join(err, wait()); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if r.Failed > 0 {
				return fmt.Errorf("%s: %d of %d logins failed", s.name, r.Failed, r.Requests)
			}
			for i := range after {
				after[i] = (after[i] - before[i]) / time.Duration(r.Requests)
			}
			if round > 0 {
				s.got = append(s.got, sample{r, after})
			}
		}
	}
	return nil
}

func (s *side) used() (out []time.Duration) {
	for _, p := range s.processes {
		out = append(out, used(p.pid))
	}
	return out
}

func (s *side) median() sample {
	slices.SortFunc(s.got, func(a, b sample) int { return int(a.Rate() - b.Rate()) })
	return s.got[len(s.got)/2]
}

func (s sample) total() (sum time.Duration) {
	for _, d := range s.cpu {
		sum += d
	}
	return sum
}

func (s *side) String() string {
	m := s.median()
	var cpu []string
	for i, p := range s.processes {
		cpu = append(cpu, fmt.Sprintf("%s %d", p.name, m.cpu[i].Microseconds()))
	}
	return fmt.Sprintf("  %-32s %6.0f/s  p50 %-8s p99 %-8s processor µs a login: %s\n", s.name, m.Rate(),
		m.P50.Round(10*time.Microsecond), m.P99.Round(10*time.Microsecond), strings.Join(cpu, ", "))
}
