package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ctl.internal/bench/rig"
	"ctl.internal/test/harness"
)

// buildPrograms makes the programs of the tree in dir/bin.
func buildPrograms(dir string) error {
	if out, err := harness.Build(".", filepath.Join(dir, "bin")); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// routers are simulated ones in a process of their own.
type routers struct {
	*harness.Program
	list    []router
	control *http.Client
}

type router struct {
	Name, Host, User, Password string
	Port                       int
	HostKey                    string `json:"host-key"`
	Asked                      map[string]int
}

func startRouters(dir string, n int) (*routers, error) {
	sock := filepath.Join(dir, "lab.sock")
	c, err := harness.Launch(
		"ready",
		exec.Command(
			filepath.Join(dir, "bin", "ctl-lab"),
			"routers",
			"--netconf",
			fmt.Sprint(n),
			"--control",
			sock,
		),
	)
	if err != nil {
		return nil, err
	}
	r := &routers{
		Program: c,
		control: &http.Client{
			Timeout: 30 * time.Second,
			Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", sock)
			}},
		},
	}
	if r.list, err = r.listRouters(); err != nil {
		c.Stop()
		return nil, err
	}
	return r, nil
}

// listRouters lists the routers with what they were asked so far.
func (r *routers) listRouters() (list []router, err error) {
	res, err := r.control.Get("http://lab/routers")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return list, json.NewDecoder(res.Body).Decode(&list)
}

// requestCount is the number of requests, except those that do not belong to deploying.
func (r router) requestCount() (n int) {
	for op, k := range r.Asked {
		if op != "close-session" && op != "create-subscription" {
			n += k
		}
	}
	return n
}

// lab is a controller with its routers.
type lab struct {
	*rig.Controller
	routers *routers
	dir     string
	url     string
	http    *http.Client
}

func startLab(ctx context.Context, dir string, n int) (*lab, error) {
	r, err := startRouters(dir, n)
	if err != nil {
		return nil, err
	}
	c, err := rig.Start(filepath.Join(dir, "bin"), filepath.Join(dir, "home"))
	if err != nil {
		r.Stop()
		return nil, err
	}
	l := &lab{
		Controller: c,
		routers:    r,
		dir:        dir,
		url:        "http://" + c.HTTP + "/restconf/operations/",
		http: &http.Client{
			Timeout:   5 * time.Minute,
			Transport: &http.Transport{MaxIdleConnsPerHost: 64},
		},
	}
	if _, err = c.Ctl(
		ctx,
		"feature:install ctl-bier-topomanager-rest ctl-bier-channel-rest ctl-bier-topomanager-cli ctl-bier-driver",
	); err != nil {
		l.stop()
		return nil, err
	}
	return l, nil
}

func (l *lab) stop() {
	l.Stop()
	l.routers.Stop()
}

// callRPC calls an RPC, which must succeed.
func (l *lab) callRPC(ctx context.Context, rpc string, input any) (string, error) {
	body, err := json.Marshal(map[string]any{"input": input})
	if err != nil {
		return "", err
	}
	text, _, err := rig.Ask(
		ctx,
		l.http,
		http.MethodPost,
		l.url+rpc,
		"application/json",
		string(body),
	)
	if err == nil && strings.Contains(string(text), "FAILURE") {
		err = fmt.Errorf("%s: %.400s", rpc, text)
	}
	return string(text), err
}

// decodeRPC is post with the answer's output read into a struct; it returns how long the answer took.
func (l *lab) decodeRPC(
	ctx context.Context,
	rpc string,
	input, output any,
) (took time.Duration, err error) {
	began := time.Now()
	text, err := l.callRPC(ctx, rpc, input)
	if err != nil {
		return 0, err
	}
	return time.Since(began), json.Unmarshal([]byte(text), &struct{ Output any }{output})
}

// awaitConvergence waits until all routers hold what they must.
func (l *lab) awaitConvergence(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for {
		out, err := l.callRPC(ctx, "bier-service-api:reconcile", map[string]any{"wait": 20000})
		if err != nil {
			return err
		}
		switch {
		case strings.Contains(out, `"failed"`):
			return errors.New("a router failed")
		case strings.Count(out, `"applied"`) == n:
			return nil
		}
	}
}

// cpuTimes is the processor time of the controller's processes so far, by program, of the
// routers, and of this program.
func (l *lab) cpuTimes() map[string]time.Duration {
	out := map[string]time.Duration{
		"routers": rig.Used(l.routers.PID),
		"bench":   rig.Self(),
	}
	for _, p := range rig.Family(l.PID) {
		out[p.Name] += p.Used
	}
	return out
}

// formatCPUSpent says what was spent since, by whom and in all.
func formatCPUSpent(before, now map[string]time.Duration) (text string, sum time.Duration) {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		d := now[name] - before[name]
		all = append(all, fmt.Sprintf("%s %v", name, d))
		sum += d
	}
	return strings.Join(all, ", "), sum
}
