//go:build peers

package truthpeers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

// site is three network namespaces, one a node, on a bridge in a fourth.
type site struct {
	t      *testing.T
	number int
}

func (s *site) hub() string          { return fmt.Sprintf("ctl%d-hub", s.number) }
func (s *site) space(i int) string   { return fmt.Sprintf("ctl%d-%d", s.number, i) }
func (s *site) address(i int) string { return fmt.Sprintf("10.213.%d.%d", s.number, i+1) }
func (s *site) must(args ...string) {
	s.t.Helper()
	if out, err := exec.CommandContext(harness.Deadline(s.t), "ip", args...).CombinedOutput(); err != nil {
		s.t.Fatalf("ip %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// cut takes a node off the bridge, or puts it back.
func (s *site) cut(i int, off bool) {
	state := map[bool]string{true: "down", false: "up"}[off]
	s.must("-n", s.hub(), "link", "set", fmt.Sprint("port", i), state)
}

func newSite(t *testing.T) *site {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: network namespaces (the peer of this test) need root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer iproute2 is not installed (test/peers/install.sh installs it as root)")
	}
	s := &site{t: t, number: reserve.Number(t, "truth-site", 1, 200)}
	remove := func() {
		for _, name := range []string{s.hub(), s.space(0), s.space(1), s.space(2)} {
			_ = exec.CommandContext(harness.Deadline(t), "ip", "netns", "del", name).Run()
		}
	}
	remove() // what a killed test has left
	t.Cleanup(remove)
	s.must("netns", "add", s.hub())
	s.must("-n", s.hub(), "link", "add", "br0", "type", "bridge")
	s.must("-n", s.hub(), "link", "set", "br0", "up")
	for i := range 3 {
		port := fmt.Sprint("port", i)
		s.must("netns", "add", s.space(i))
		s.must("-n", s.hub(), "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", s.space(i))
		s.must("-n", s.hub(), "link", "set", port, "master", "br0", "up")
		s.must("-n", s.space(i), "addr", "add", s.address(i)+"/24", "dev", "eth0")
		s.must("-n", s.space(i), "link", "set", "eth0", "up")
		s.must("-n", s.space(i), "link", "set", "lo", "up")
	}
	return s
}

// dialer connects from inside a namespace.
func dialer(space string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		runtime.LockOSThread() // not unlocked when it cannot go back: the thread ends with the goroutine
		here, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		defer unix.Close(here)
		there, err := unix.Open("/run/netns/"+space, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		defer unix.Close(there)
		if err := unix.Setns(there, unix.CLONE_NEWNET); err != nil {
			return nil, err
		}
		c, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, network, address)
		if back := unix.Setns(here, unix.CLONE_NEWNET); back != nil {
			return nil, back
		}
		runtime.UnlockOSThread()
		return c, err
	}
}

// inside is a directory with programs that run in a namespace.
func inside(t *testing.T, space string) string {
	t.Helper()
	dir := reserve.Dir(t, "ctl-bin")
	for name, prefix := range map[string]string{"ctld": "ip netns exec " + space + " ", "ctl": ""} {
		script := fmt.Sprintf("#!/bin/sh\nexec %s%s \"$@\"\n", prefix, filepath.Join(bin, name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	catalogue, err := os.ReadFile(filepath.Join(bin, "features.yaml"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "features.yaml"), catalogue, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Each client is beside its node, so those of a node that is cut off go on asking it: it
// must not answer with what the others have changed meanwhile.
func TestAPartitionedNodeAnswersNothingStale(t *testing.T) {
	s := newSite(t)
	etcd := harness.EtcdAt(t, 3, func(i int) (string, []string) {
		return s.address(i), []string{"ip", "netns", "exec", s.space(i)}
	})
	files := settings(t, etcd...)
	var all []*harness.Controller
	var at []endpoint
	for i := range 3 {
		address := s.address(i) + ":8181"
		all = append(all, harness.RunNode(t, harness.Options{Bin: inside(t, s.space(i)), Files: files, Args: []string{"--http", address}}))
		at = append(at, endpoint{"http://" + address, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8, DialContext: dialer(s.space(i))}}})
	}
	all[0].Ctl("feature:install ctl-bier-all")
	prepare(t, at)
	cut := trouble{name: "a node is cut off", do: func(rest func(time.Duration)) {
		i := rand.IntN(3)
		s.cut(i, true)
		rest(8 * time.Second)
		s.cut(i, false)
		rest(3 * time.Second)
	}}
	flap := trouble{name: "two nodes lose each other for a moment", do: func(rest func(time.Duration)) {
		for range 4 {
			i := rand.IntN(3)
			s.cut(i, true)
			rest(700 * time.Millisecond)
			s.cut(i, false)
			rest(300 * time.Millisecond)
		}
	}}
	recordAll(t, at, []trouble{cut, flap})
}
