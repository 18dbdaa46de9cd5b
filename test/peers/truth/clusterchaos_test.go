//go:build peers

package truthpeers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

// cluster is three controllers and three members of etcd in three network namespaces, a pair in each.
type cluster struct {
	t    *testing.T
	site *site
	etcd []*harness.EtcdMember
	all  []*harness.Controller
	at   []endpoint
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	for _, program := range []string{"iptables", "strace"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("SKIPPED, NOT TESTED: the peer %s is not installed (test/peers/install.sh installs it as root)", program)
		}
	}
	c := &cluster{t: t, site: newSite(t)}
	c.etcd = harness.EtcdAt(t, 3, func(i int) (string, []string) {
		return c.site.address(i), []string{"ip", "netns", "exec", c.site.space(i)}
	})
	files := settings(t, c.etcd...)
	for i := range 3 {
		c.etcd[i].Dial = dialer(c.site.space(i))
		address := c.site.address(i) + ":8181"
		c.all = append(c.all, harness.RunNode(t, harness.Options{Bin: inside(t, c.site.space(i)), Files: files, Args: []string{"--http", address}}))
		c.at = append(c.at, endpoint{"http://" + address, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16, DialContext: dialer(c.site.space(i))}}})
	}
	c.all[0].Ctl("feature:install ctl-bier-all")
	for i := range c.at {
		w := &worker{nodes: c.at[i : i+1], rnd: rand.New(rand.NewPCG(1, 1)), h: &history{}}
		harness.Within(t, "the feature runs at each node", func() bool {
			status, _ := w.ask(t.Context(), "POST", "/restconf/operations/bier-channel-api:get-channel", `{"input":{"topology-id":"t"}}`)
			return status == http.StatusOK
		})
	}
	return c
}

// leader returns the number of the member of etcd that leads.
func (c *cluster) leader() int {
	for {
		if i := slices.IndexFunc(c.etcd, (*harness.EtcdMember).Leader); i >= 0 {
			return i
		}
		rest(50 * time.Millisecond)
	}
}

// follower returns the number of a member that does not.
func (c *cluster) follower() int { return (c.leader() + 1 + rand.IntN(2)) % 3 }

// clusterChaos makes the faults of a cluster, and returns their rows of the table.
func clusterChaos(t *testing.T) []string {
	c := newCluster(t)
	var faults []chaos
	faults = append(faults, chaos{name: "none", begin: func() {}, end: func() {}})
	faults = append(faults, c.deaths()...)
	faults = append(faults, c.packets()...)
	faults = append(faults, c.others()...)
	return makeChaos(t, "c", c.at, faults)
}

// deaths are faults of processes.
func (c *cluster) deaths() []chaos {
	now := 0
	kill := func(name string, which func() int, short bool) chaos {
		begin := func() { now = which(); c.etcd[now].Kill() }
		return chaos{name, begin, func() { c.etcd[now].Start() }, short}
	}
	freeze := func(name string, which func() int) chaos {
		begin := func() { now = which(); c.etcd[now].Signal(syscall.SIGSTOP) }
		return chaos{name, begin, func() { c.etcd[now].Signal(syscall.SIGCONT) }, false}
	}
	return []chaos{
		kill("a follower of etcd is killed", c.follower, false),
		freeze("a follower of etcd is frozen", c.follower),
		kill("the leader of etcd is killed", c.leader, true),
		freeze("the leader of etcd is frozen", c.leader),
		c.compacting(),
		{"a controller is killed, and is away for the time", func() { c.all[2].Kill() }, func() { c.all[2].Launch() }, false},
		{"a controller is frozen for the time", func() { harness.Freeze(c.t, c.all[1].PID()) }, func() { _ = syscall.Kill(c.all[1].PID(), syscall.SIGCONT) }, false},
		{"every controller is restarted, one after the other", c.restartAll, func() {}, false},
	}
}

func (c *cluster) restartAll() {
	for _, n := range c.all {
		n.Restart()
	}
}

// compacting compacts etcd to its newest revision and defragments a member, again and again.
func (c *cluster) compacting() chaos {
	var stop context.CancelFunc
	var loop sync.WaitGroup
	const script = `export ETCDCTL_API=3; r=$(etcdctl --endpoints "$0" get x -w fields | sed -n 's/.*Revision. : //p'); etcdctl --endpoints "$0" compact $r; etcdctl --endpoints "$0" defrag`
	begin := func() {
		var ctx context.Context
		ctx, stop = context.WithCancel(c.t.Context())
		loop.Go(func() {
			for i := 0; ctx.Err() == nil; i = (i + 1) % 3 {
				_ = exec.CommandContext(ctx, "ip", "netns", "exec", c.site.space(i), "sh", "-c", script, c.etcd[i].Client).Run()
			}
		})
	}
	return chaos{"etcd is compacted and defragmented in a loop", begin, func() { stop(); loop.Wait() }, false}
}

// packets are faults of the network.
func (c *cluster) packets() []chaos {
	now := 0
	of := func(name string, which func() int, short bool, rules func(i int) [][]string) chaos {
		begin := func() {
			now = which()
			for _, rule := range rules(now) {
				c.iptables(now, append([]string{"-A"}, rule...)...)
			}
		}
		return chaos{name, begin, func() { c.iptables(now, "-F") }, short}
	}
	member := func(directions ...string) func(int) [][]string {
		return func(i int) (rules [][]string) {
			for _, d := range directions {
				rules = append(rules, c.traffic(i, d)...)
			}
			return rules
		}
	}
	loss := func(int) (rules [][]string) {
		for _, d := range []string{"INPUT", "OUTPUT"} {
			rules = append(rules, []string{d, "-p", "tcp", "-m", "statistic", "--mode", "random", "--probability", "0.3", "-j", "DROP"})
		}
		return rules
	}
	cut := func() int { return 0 }
	return []chaos{
		of("nothing reaches the leader of etcd", c.leader, false, member("INPUT")),
		of("nothing leaves the leader of etcd", c.leader, true, member("OUTPUT")),
		of("the leader of etcd is isolated", c.leader, false, member("INPUT", "OUTPUT")),
		of("nothing leaves a follower of etcd", c.follower, false, member("OUTPUT")),
		of("30 % of the packets of the leader of etcd, and of the controller beside it, are lost", c.leader, true, loss),
		{"the first controller and the etcd beside it are cut off from the others for the time", func() { c.site.cut(cut(), true) }, func() { c.site.cut(cut(), false) }, false},
	}
}

// traffic returns the rules that drop what a member of etcd gets or sends over the network, but not what the controller
// beside it does.
func (c *cluster) traffic(i int, direction string) (rules [][]string) {
	device, own, others := "-i", "--dport", "--sport"
	if direction == "OUTPUT" {
		device, own, others = "-o", "--sport", "--dport"
	}
	drop := func(side, address string) {
		u, err := url.Parse(address)
		if err != nil {
			c.t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(u.Host)
		if err != nil {
			c.t.Fatal(err)
		}
		rules = append(rules, []string{direction, device, "eth0", "-p", "tcp", side, port, "-j", "DROP"})
	}
	drop(own, c.etcd[i].Client)
	drop(own, c.etcd[i].Peer)
	for k, m := range c.etcd {
		if k != i {
			drop(others, m.Peer)
		}
	}
	return rules
}

func (c *cluster) iptables(i int, args ...string) {
	c.t.Helper()
	words := append([]string{"netns", "exec", c.site.space(i), "iptables", "-w"}, args...)
	if out, err := exec.CommandContext(harness.Deadline(c.t), "ip", words...).CombinedOutput(); err != nil {
		c.t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
	}
}

// others are faults of clocks and of disks of etcd.
func (c *cluster) others() []chaos {
	set := func(name string, ahead time.Duration, short bool) chaos {
		return chaos{name, func() { harness.SetClock(c.t, c.all[1].PID(), ahead) }, func() { harness.SetClock(c.t, c.all[1].PID(), 0) }, short}
	}
	now := 0
	var stop func()
	disk := func(name, errno string) chaos {
		begin := func() {
			now = c.leader()
			stop = inject(c.t, c.etcd[now].PID(), "write,pwrite64", errno, walOf(c.t, c.etcd[now])...)
		}
		end := func() {
			stop()
			c.etcd[now].Kill() // it has ended by itself where its version does so
			c.etcd[now].Start()
		}
		return chaos{name, begin, end, false}
	}
	return []chaos{
		set("the clock of the second controller is set 2 hours ahead, and back", 2*time.Hour, true),
		set("the clock of the second controller is set 2 hours back, and right", -2*time.Hour, false),
		disk("the disk of the leader of etcd fails (EIO)", "EIO"),
		disk("the disk of the leader of etcd is full (ENOSPC)", "ENOSPC"),
	}
}

// walOf returns the files of the log of a member.
func walOf(t *testing.T, m *harness.EtcdMember) []string {
	files, err := filepath.Glob(filepath.Join(m.Dir(), "data", "member", "wal", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no log: %v", m.Client, err)
	}
	return files
}

// inject makes system calls of a process fail, on the given files only if there are any, until the function that it
// returns is called.
func inject(t *testing.T, pid int, calls, errno string, files ...string) (stop func()) {
	t.Helper()
	args := []string{"-f", "-q", "-o", "/dev/null", "-e", "trace=" + calls, "-e", "inject=" + calls + ":error=" + errno}
	for _, f := range files {
		args = append(args, "-P", f)
	}
	cmd := exec.Command("strace", append(args, "-p", fmt.Sprint(pid))...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	harness.Within(t, "strace is attached", func() bool { return traced(pid) })
	return func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it detaches
		_ = cmd.Wait()
		if said.Len() > 0 {
			t.Log("strace: ", said.String())
		}
	}
}
