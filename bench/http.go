package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ctl.internal/bench/load"
)

const connections = 32

var basic = "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:admin"))

// side is one of two that are compared.
type side struct {
	addr string
	req  []byte
	home string // of a controller, whose CPU profile -profile keeps
	pid  int    // of the server; its children count as part of it
	got  []load.Result
	cpu  []time.Duration // a request, of the server
}

// compare loads the sides in turn, round by round, so that both see the same
// machine; the first round of each is thrown away.
func (b *bench) compare(ctx context.Context, sides ...*side) error {
	for round := range b.rounds + 1 {
		for _, s := range sides {
			d := b.duration
			if round == 0 {
				d = b.duration / 4
			}
			before := cpuTime(s.pid)
			stop := func() error { return nil }
			if round == b.rounds {
				stop = b.profile(ctx, s, d)
			}
			r, err := load.Run(ctx, s.addr, s.req, connections, d)
			if err := errors.Join(err, stop()); err != nil {
				return err
			}
			if r.Failed > 0 {
				return fmt.Errorf("%d of %d requests to %s failed", r.Failed, r.Requests, s.addr)
			}
			if round > 0 {
				s.got = append(s.got, r)
				s.cpu = append(s.cpu, (cpuTime(s.pid)-before)/time.Duration(r.Requests))
			}
		}
	}
	return nil
}

func (s *side) median() load.Result {
	slices.SortFunc(s.got, func(a, b load.Result) int { return int(a.Rate() - b.Rate()) })
	return s.got[len(s.got)/2]
}

func (s *side) describe() string {
	r := s.median()
	text := fmt.Sprintf("%.0f/s, p50 %s, p99 %s", r.Rate(), r.P50.Round(10*time.Microsecond), r.P99.Round(10*time.Microsecond))
	if s.pid > 0 {
		text += fmt.Sprintf(", CPU %s", s.medianCPU().Round(100*time.Nanosecond))
	}
	return text
}

func (s *side) medianCPU() time.Duration {
	slices.Sort(s.cpu)
	return s.cpu[len(s.cpu)/2]
}

func (b *bench) add(what string, ours, peer *side, target string) {
	o, p := ours.median(), peer.median()
	b.rows = append(b.rows, row{what, ours.describe(), peer.describe(), fmt.Sprintf("%.2f", o.Rate()/p.Rate()), target})
}

func (b *bench) rpcPart(ctx context.Context) error {
	c, err := b.withEcho(ctx)
	if err != nil {
		return err
	}
	defer c.stop()
	addr, pid, stop, err := b.baseline(ctx)
	if err != nil {
		return err
	}
	defer stop()
	members := `{"node-id":158969157063648,"vlan-id":100,"vlan-name":"lab"}`
	ours := &side{addr: c.http, pid: c.cmd.Process.Pid, home: c.home, req: load.Request("POST", c.http, "/restconf/operations/bench-echo:echo", basic, []byte(`{"input":`+members+`}`))}
	peer := &side{addr: addr, pid: pid, req: load.Request("POST", addr, "/echo", "", []byte(members))}
	if err := b.compare(ctx, ours, peer); err != nil {
		return err
	}
	b.add("RPC: HTTP, access control, validation, plugin ÷ bare mux and go-plugin", ours, peer, "≥ 0.8")
	o, p := ours.median().P99, peer.median().P99
	b.rows = append(b.rows, row{"the same, p99 (lower is better)", o.String(), p.String(), fmt.Sprintf("%.2f", float64(o)/float64(p)), "≤ 2"})
	return nil
}

func (b *bench) noopPart(ctx context.Context) error {
	c, err := b.withEcho(ctx)
	if err != nil {
		return err
	}
	defer c.stop()
	addr, pid, stop, err := b.baseline(ctx)
	if err != nil {
		return err
	}
	defer stop()
	ours := &side{addr: c.http, pid: c.cmd.Process.Pid, home: c.home, req: load.Request("GET", c.http, "/restconf/yang-library-version", basic, nil)}
	peer := &side{addr: addr, pid: pid, req: load.Request("GET", addr, "/none", "", nil)}
	if err := b.compare(ctx, ours, peer); err != nil {
		return err
	}
	b.add("authenticated request that stays in the host ÷ bare mux", ours, peer, "≥ 0.75")
	return nil
}

func (b *bench) authPart(ctx context.Context) error {
	c, err := b.withEcho(ctx)
	if err != nil {
		return err
	}
	defer c.stop()
	token, err := bearer(ctx, c.http)
	if err != nil {
		return err
	}
	const path = "/restconf/yang-library-version"
	open, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer open.stop()
	none := &side{addr: open.http, pid: open.cmd.Process.Pid, req: load.Request("GET", open.http, path, "", nil)}
	withBasic := &side{addr: c.http, pid: c.cmd.Process.Pid, home: c.home, req: load.Request("GET", c.http, path, basic, nil)}
	withToken := &side{addr: c.http, pid: c.cmd.Process.Pid, home: c.home, req: load.Request("GET", c.http, path, "Bearer "+token, nil)}
	sides := []*side{none, withBasic, withToken}
	nginx, stop, err := b.nginx(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if nginx != nil {
		sides = append(sides, nginx)
	}
	if err := b.compare(ctx, sides...); err != nil {
		return err
	}
	if nginx != nil {
		b.add("Basic ÷ nginx auth_basic (apr1) on a file of 1 KiB", withBasic, nginx, "side by side")
	}
	b.add("Basic, verified login cached ÷ access control off (`/** = anon`)", withBasic, none, "≥ 0.85")
	b.add("Bearer ÷ access control off", withToken, none, "≥ 0.85")
	return nil
}

func bearer(ctx context.Context, addr string) (string, error) {
	form := url.Values{"grant_type": {"password"}, "username": {"admin"}, "password": {"admin"}, "scope": {"sdn"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/oauth2/token", strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var answer struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || answer.Token == "" {
		return "", fmt.Errorf("no token: %s %v", res.Status, err)
	}
	return answer.Token, nil
}
