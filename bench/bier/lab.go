package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ctl.internal/test/harness"
)

// build makes the programs of the tree in dir/bin.
func build(dir string) error {
	if out, err := harness.Build(".", filepath.Join(dir, "bin")); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// child is a program that runs until stop.
type child struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// launch starts a program and waits until its standard output says ready.
func launch(program string, args, environ []string, ready string) (*child, error) {
	c := &child{cmd: exec.Command(program, args...), done: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), environ...)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var bad bytes.Buffer
	c.cmd.Stderr = &bad
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	said := make(chan bool, 1)
	go func() {
		defer close(c.done)
		s := bufio.NewScanner(out)
		s.Buffer(nil, 16<<20)
		for s.Scan() {
			if strings.Contains(s.Text(), ready) {
				select {
				case said <- true:
				default:
				}
			}
		}
		close(said)
		_ = c.cmd.Wait()
	}()
	select {
	case ok := <-said:
		if !ok {
			return nil, fmt.Errorf("%s ended: %s", program, bad.String())
		}
	case <-time.After(time.Minute):
		c.stop()
		return nil, fmt.Errorf("%s was not ready after a minute", program)
	}
	return c, nil
}

func (c *child) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(30 * time.Second):
		_ = c.cmd.Process.Kill()
		<-c.done
	}
}

// routers are simulated ones in a process of their own.
type routers struct {
	*child
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
	c, err := launch(filepath.Join(dir, "bin", "ctl-lab"), []string{"routers", "--netconf", fmt.Sprint(n), "--control", sock}, nil, "ready")
	if err != nil {
		return nil, err
	}
	r := &routers{child: c, control: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", sock)
	}}}}
	if r.list, err = r.now(); err != nil {
		c.stop()
		return nil, err
	}
	return r, nil
}

// now lists the routers with what they were asked so far.
func (r *routers) now() (list []router, err error) {
	res, err := r.control.Get("http://lab/routers")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return list, json.NewDecoder(res.Body).Decode(&list)
}

// asked is the number of requests, except those that do not belong to deploying.
func (r router) asked() (n int) {
	for op, k := range r.Asked {
		if op != "close-session" && op != "create-subscription" {
			n += k
		}
	}
	return n
}

// lab is a controller with its routers.
type lab struct {
	routers *routers
	ctld    *child
	home    string
	dir     string
	url     string
	http    *http.Client
}

func startLab(ctx context.Context, dir string, n int) (*lab, error) {
	r, err := startRouters(dir, n)
	if err != nil {
		return nil, err
	}
	l := &lab{routers: r, dir: dir, home: filepath.Join(dir, "home"), http: &http.Client{Timeout: 5 * time.Minute,
		Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	l.ctld, err = launch(filepath.Join(dir, "bin", "ctld"), []string{"--home", l.home, "--http", "127.0.0.1:0", "--ssh", "off", "--admin", "off"},
		[]string{"CTL_ADMIN_PASSWORD=admin", "CTL_USER_PASSWORD=user"}, "console: ctl")
	if err != nil {
		r.stop()
		return nil, err
	}
	address, err := os.ReadFile(filepath.Join(l.home, "data", "run", "http.addr"))
	if err == nil {
		l.url = "http://" + strings.TrimSpace(string(address)) + "/restconf/operations/"
		_, err = l.ctl(ctx, "feature:install ctl-bier-topomanager-rest ctl-bier-channel-rest ctl-bier-topomanager-cli ctl-bier-driver")
	}
	if err != nil {
		l.stop()
		return nil, err
	}
	return l, nil
}

func (l *lab) stop() {
	l.ctld.stop()
	l.routers.stop()
}

// ctl runs a console line.
func (l *lab) ctl(ctx context.Context, line string) (string, error) {
	out, err := exec.CommandContext(ctx, filepath.Join(l.dir, "bin", "ctl"), "--home", l.home, line).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("ctl %q: %w: %s", line, err, out)
	}
	return string(out), nil
}

// post calls an RPC, which must succeed.
func (l *lab) post(ctx context.Context, rpc string, input any) (string, error) {
	body, err := json.Marshal(map[string]any{"input": input})
	if err != nil {
		return "", err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url+rpc, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	q.SetBasicAuth("admin", "admin")
	q.Header.Set("Content-Type", "application/json")
	res, err := l.http.Do(q)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return "", err
	}
	if res.StatusCode != http.StatusOK || strings.Contains(string(text), "FAILURE") {
		return "", fmt.Errorf("%s: %d %.400s", rpc, res.StatusCode, text)
	}
	return string(text), nil
}

// converge waits until all routers hold what they must.
func (l *lab) converge(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for {
		out, err := l.post(ctx, "bier-service-api:reconcile", map[string]any{"wait": 20000})
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

// cpu is the processor time of the controller's processes so far, by program, of the
// routers, and of this program.
func (l *lab) cpu() map[string]time.Duration {
	const tick = 10 * time.Millisecond // of USER_HZ
	out := map[string]time.Duration{}
	ctld, lab, self := fmt.Sprint(l.ctld.cmd.Process.Pid), fmt.Sprint(l.routers.cmd.Process.Pid), fmt.Sprint(os.Getpid())
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		open, end := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
		if open < 0 || end < open {
			continue
		}
		f, pid := strings.Fields(string(text[end+1:])), filepath.Base(filepath.Dir(file))
		if len(f) < 13 || f[1] != ctld && pid != ctld && pid != lab && pid != self {
			continue
		}
		name := string(text[open+1 : end])
		switch pid {
		case lab:
			name = "routers"
		case self:
			name = "bench"
		}
		user, _ := strconv.ParseInt(f[11], 10, 64)
		system, _ := strconv.ParseInt(f[12], 10, 64)
		out[name] += time.Duration(user+system) * tick
	}
	return out
}

// spent says what was spent since, by whom and in all.
func spent(before, now map[string]time.Duration) (text string, sum time.Duration) {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		d := now[name] - before[name]
		all = append(all, fmt.Sprintf("%s %v", name, d))
		sum += d
	}
	return strings.Join(all, ", "), sum
}
