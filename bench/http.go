package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"ctl.internal/bench/load"
	"ctl.internal/bench/rig"
	"ctl.internal/test/harness"
)

const connections = 32

var basic = "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:admin"))

// echo is the RPC that does nothing, and echoed what it is called with.
const (
	echo   = "/restconf/operations/bench-echo:echo"
	echoed = `{"node-id":158969157063648,"vlan-id":100,"vlan-name":"lab"}`
)

// newHTTPSide loads a server, of process pid, with one request on n connections; ours is it if it is a controller.
func newHTTPSide(
	n int,
	addr string,
	pid int,
	ours *rig.Controller,
	method, path, authorization string,
	body []byte,
) *rig.Side {
	req := load.Request(method, addr, path, authorization, body)
	s := &rig.Side{
		Name: path,
		Last: ours,
		Run: func(ctx context.Context, d time.Duration) (load.Result, error) {
			return load.Run(ctx, addr, req, n, d)
		},
	}
	if pid != 0 {
		s.Costs = []rig.Cost{{
			Name: "CPU",
			Used: func() time.Duration { return rig.UsedByAll(pid) },
		}}
	}
	return s
}

func (b *bench) compareSides(ctx context.Context, sides ...*rig.Side) error {
	return rig.Comparison{
		Rounds:   b.rounds,
		Duration: b.duration,
		Profile: func(s *rig.Side) string {
			if b.profiles == "" {
				return ""
			}
			return filepath.Join(
				b.profiles,
				strings.NewReplacer("/", "_", ":", "_").Replace(s.Name)+".pprof",
			)
		},
	}.Run(ctx, sides...)
}

func (b *bench) addComparisonRow(what string, ours, peer *rig.Side, target string) {
	rate, _ := ours.Against(peer)
	b.rows = append(
		b.rows,
		row{what, ours.Describe(), peer.Describe(), fmt.Sprintf("%.2f", rate), target},
	)
}

// startController runs a controller with a home of its own below b.dir.
func (b *bench) startController(home string, environ ...string) (*rig.Controller, error) {
	return rig.Start(filepath.Join(b.dir, "bin"), filepath.Join(b.dir, home), environ...)
}

// withEcho starts a controller with the plugin that does nothing installed.
func (b *bench) withEcho(
	ctx context.Context,
	home string,
	environ ...string,
) (*rig.Controller, error) {
	_ = os.RemoveAll(filepath.Join(b.dir, home))
	c, err := b.startController(home, environ...)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(b.dir, "echo", "echo"))
	if err == nil {
		err = os.WriteFile(filepath.Join(c.Home, "plugins", "bench-echo"), text, 0o755)
	}
	if err == nil {
		err = rig.Write(c.Home, map[string]string{"bench.yaml": "name: bench\nfeatures:\n- name: bench-echo\n  version: 1.0.0\n  description: a call that does nothing\n" +
			"  depends: [ctl-restconf]\n  plugins: [{name: bench-echo}]\n  facets: [{facet: rest, plugin: bench-echo}]\n"})
	}
	if err == nil {
		_, err = c.Ctl(
			ctx,
			"feature:repo-add --unsigned "+filepath.Join(c.Home, "bench.yaml"),
			"feature:install bench-echo",
		)
	}
	if err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// againstBare compares a request to the controller with one to the bare peer.
func (b *bench) againstBare(
	ctx context.Context,
	what, target, method, path string,
	body []byte,
	barePath string,
	bareBody []byte,
) (ours, peer *rig.Side, err error) {
	c, err := b.withEcho(ctx, "h")
	if err != nil {
		return nil, nil, err
	}
	defer c.Stop()
	bare, err := harness.Launch(
		":",
		exec.Command(b.binPath("baseline"), filepath.Join(b.dir, "echo", "echo")),
	)
	if err != nil {
		return nil, nil, err
	}
	defer bare.Stop()
	ours = newHTTPSide(connections, c.HTTP, c.PID, c, method, path, basic, body)
	peer = newHTTPSide(
		connections,
		strings.TrimSpace(bare.Line),
		bare.PID,
		nil,
		method,
		barePath,
		"",
		bareBody,
	)
	if err := b.compareSides(ctx, ours, peer); err != nil {
		return nil, nil, err
	}
	b.addComparisonRow(what, ours, peer, target)
	return ours, peer, nil
}

func (b *bench) rpcPart(ctx context.Context) error {
	ours, peer, err := b.againstBare(ctx, "RPC: HTTP, access control, validation, plugin ÷ bare mux and go-plugin", "≥ 0.8",
		"POST", echo, []byte(`{"input":`+echoed+`}`), "/echo", []byte(echoed))
	if err != nil {
		return err
	}
	o, _ := ours.Median()
	p, _ := peer.Median()
	b.rows = append(
		b.rows,
		row{"the same, p99 (lower is better)", o.P99.String(), p.P99.String(), fmt.Sprintf("%.2f", rig.Ratio(o.P99, p.P99)), "≤ 2"},
	)
	return nil
}

const stays = "/restconf/yang-library-version" // a request that stays in the host

func (b *bench) noopPart(ctx context.Context) error {
	_, _, err := b.againstBare(
		ctx,
		"authenticated request that stays in the host ÷ bare mux",
		"≥ 0.75",
		"GET",
		stays,
		nil,
		"/none",
		nil,
	)
	return err
}

func (b *bench) authPart(ctx context.Context) error {
	c, err := b.withEcho(ctx, "h")
	if err != nil {
		return err
	}
	defer c.Stop()
	token, err := requestBearerToken(ctx, c.HTTP)
	if err != nil {
		return err
	}
	open, err := b.startOpenController()
	if err != nil {
		return err
	}
	defer open.Stop()
	none := newHTTPSide(connections, open.HTTP, open.PID, nil, "GET", stays, "", nil)
	withBasic := newHTTPSide(connections, c.HTTP, c.PID, c, "GET", stays, basic, nil)
	withToken := newHTTPSide(connections, c.HTTP, c.PID, c, "GET", stays, "Bearer "+token, nil)
	sides := []*rig.Side{none, withBasic, withToken}
	nginx, stop, err := b.startNginx(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if nginx != nil {
		sides = append(sides, nginx)
	}
	if err := b.compareSides(ctx, sides...); err != nil {
		return err
	}
	if nginx != nil {
		b.addComparisonRow(
			"Basic ÷ nginx auth_basic (apr1) on a file of 1 KiB",
			withBasic,
			nginx,
			"side by side",
		)
	}
	b.addComparisonRow(
		"Basic, verified login cached ÷ access control off (`/** = anon`)",
		withBasic,
		none,
		"≥ 0.85",
	)
	b.addComparisonRow("Bearer ÷ access control off", withToken, none, "≥ 0.85")
	return nil
}

// startOpenController starts a controller whose access control is switched off, as the documents
// say how.
func (b *bench) startOpenController() (*rig.Controller, error) {
	_ = os.RemoveAll(filepath.Join(b.dir, "o"))
	c, err := b.startController("o")
	if err != nil {
		return nil, err
	}
	c.Stop()
	text, err := os.ReadFile(filepath.Join(c.Home, "etc", "sec.ini"))
	if err == nil {
		err = rig.Write(
			c.Home,
			map[string]string{"etc/sec.ini": strings.ReplaceAll(
				string(text),
				"/** = authcBasic, dynamicAuthorization",
				"/** = anon",
			)},
		)
	}
	if err != nil {
		return nil, err
	}
	return b.startController("o")
}

func requestBearerToken(ctx context.Context, addr string) (string, error) {
	form := url.Values{
		"grant_type": {"password"},
		"username":   {"admin"},
		"password":   {"admin"},
		"scope":      {"sdn"},
	}
	text, _, err := rig.Ask(
		ctx,
		http.DefaultClient,
		http.MethodPost,
		"http://"+addr+"/oauth2/token",
		"application/x-www-form-urlencoded",
		form.Encode(),
	)
	if err != nil {
		return "", err
	}
	var answer struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Token == "" {
		return "", fmt.Errorf("no token: %s %v", text, err)
	}
	return answer.Token, nil
}
