//go:build peers

package rogue

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"ctl.internal/test/harness"
)

// levels are parts of the isolation that a machine may lack.
var levels = map[string]string{
	"files":   "Landlock",
	"scope":   "Landlock 6",
	"tcp":     "Landlock 4",
	"seccomp": "seccomp",
	"pids":    "a user of its own, or a control group with pids",
	"memory":  "a control group with memory",
}

// act is one of the hostile acts, as docs/plugin-isolation.md numbers them. needs is the level that closes it, empty when the
// controller does so by itself; make has a rogue do it and says what became of it.
type act struct {
	number, what, needs, want string
	make                      func(r *rogue) string
}

// hostileTry is what a rogue is asked to do.
type hostileTry struct {
	name, target string
	numbers      []uint64
}

// refused has the rogue make acts, each of which must be refused with words that match.
func refused(words string, tries func(r *rogue) []hostileTry) func(r *rogue) string {
	match := regexp.MustCompile("^(" + words + ")")
	return func(r *rogue) string {
		for _, t := range tries(r) {
			if out := r.made(t.name, t.target, t.numbers...); out.Taken != 0 || !match.MatchString(out.Refused) {
				return fmt.Sprintf("DONE: %s %s %v %s", t.name, t.target, t.numbers, out.Refused)
			}
		}
		return "refused"
	}
}

// calls are system calls with their arguments.
func calls(list ...[]uint64) []hostileTry {
	var out []hostileTry
	for _, c := range list {
		out = append(out, hostileTry{name: "call", numbers: c})
	}
	return out
}

const (
	noFile      = "EACCES|EPERM"
	noRight     = `.*(PERMISSION_DENIED|not granted|was not granted|grant)`
	ptraceSeize = 0x4206 // of linux/ptrace.h
)

func key(r *rogue) string {
	return filepath.Join(r.Home, "etc", "ctl", "datastore", "initial", "config", "aaa-encrypt-service-config.xml")
}

// victims are the processes of the controller and of another plugin.
func victims(r *rogue) []int { return []int{r.PID(), r.info("switch").PID} }

func socket(r *rogue, name string) string { return filepath.Join(r.Home, "data", "run", name) }

var acts = []act{
	{"1", "change a VLAN as itself, without a grant", "", "denied, in the audit", func(r *rogue) string {
		return audited(r, "add-vlan", refused(noRight, func(*rogue) []hostileTry { return []hostileTry{{name: "rpc", target: "vlan:add-vlan"}} }))
	}},
	{"2", "an RPC for a user who may not call it", "", "denied", func(r *rogue) string {
		if a, out := r.try("admin:admin", "rpc-for", "ctl-system:show"); a.Status != http.StatusOK || out.Taken != 1 {
			return "for a user who may, too: " + out.Refused
		}
		a, out := r.try("user:user", "rpc-for", "ctl-system:show")
		if a.Status == http.StatusForbidden || out.Taken == 0 && regexp.MustCompile("PERMISSION_DENIED|needs the role").MatchString(out.Refused) {
			return "denied"
		}
		return fmt.Sprint("DONE: ", a.Status, " ", out.Refused)
	}},
	{"3", "an RPC for a call that it does not serve", "", "denied", func(r *rogue) string {
		return denied(refused(".*(PERMISSION_DENIED|not serving)", func(*rogue) []hostileTry { return []hostileTry{{name: "rpc-guess", target: "ctl-system:show"}} })(r))
	}},
	{"4", "the controller's private key", "", "denied", func(r *rogue) string {
		if r.name == "faulty" { // it requests that one
			r.Ctl(`plugin:revoke faulty "certificate identity"`)
		}
		if out := r.made("identity", "", 1); out.Taken != 1 || out.Refused != "" {
			return "DONE: " + out.Refused
		}
		return "denied"
	}},
	{"5", "read and write trees of others", "", "denied", func(r *rogue) string {
		return denied(refused(noRight+"|.*(own|reads|publish)", func(*rogue) []hostileTry {
			return []hostileTry{{name: "foreign", target: "/network-topology:network-topology"}, {name: "publish-tree", target: "/network-topology:network-topology"}}
		})(r))
	}},
	{"7", "environment, memory, files of the controller and another plugin in /proc", "scope", "refused", refused(noFile, func(r *rogue) (out []hostileTry) {
		for _, pid := range victims(r) {
			for _, name := range []string{"environ", "maps", "mem", "root/etc/hosts", "fd/0"} {
				out = append(out, hostileTry{name: "read", target: fmt.Sprintf("/proc/%d/%s", pid, name)})
			}
		}
		return out
	})},
	{"8", "key file: read, write, truncate, rename, link; list the home", "files", "refused", refused(noFile+"|EXDEV", func(r *rogue) (out []hostileTry) {
		for _, name := range []string{"read", "write", "truncate", "rename", "link"} {
			out = append(out, hostileTry{name: name, target: key(r)})
		}
		return append(out, hostileTry{name: "list", target: r.Home}, hostileTry{name: "list", target: filepath.Join(r.Home, "data")})
	})},
	{"9", "key file: chmod, chown, utime", "seccomp", "refused", refused(noFile, func(r *rogue) []hostileTry {
		return []hostileTry{{name: "chmod", target: key(r)}, {name: "chown", target: key(r)}, {name: "utime", target: key(r)}}
	})},
	{"10", "the sockets of console, profiler and another plugin, with its token", "seccomp", "cut off", func(r *rogue) string {
		other := hostSocket(r, r.sibling.name)
		tries := []hostileTry{{name: "unix", target: socket(r, "console.sock")}, {name: "unix", target: socket(r, "pprof.sock")}, {name: "unix", target: other}}
		if r.sibling == r {
			tries[2].target = hostSocket(r, "switch")
		} else if r.sibling.name == "rogue" {
			tries = append(tries, hostileTry{name: "steal", target: r.sibling.made("token", "").Text})
		}
		got := refused(noFile+"|cut off|.*Unavailable|.*UNAVAILABLE", func(*rogue) []hostileTry { return tries })(r)
		if out := r.made("unix", hostSocket(r, r.name)); out.Taken != 1 {
			return "its own socket, too: " + out.Refused
		}
		return strings.Replace(got, "refused", "cut off", 1)
	}},
	{"11", "an abstract socket of another program", "scope", "refused", func(r *rogue) string {
		name := "@ctl-rogue-" + strconv.Itoa(os.Getpid())
		l, err := net.Listen("unix", name)
		if err != nil {
			r.Fatal(err)
		}
		defer l.Close()
		return refused(noFile, func(*rogue) []hostileTry { return []hostileTry{{name: "unix", target: name}} })(r)
	}},
	{"12", "signal, ptrace, read the memory of the controller and another plugin, take their descriptors", "scope", "refused", refused(noFile, func(r *rogue) (out []hostileTry) {
		for _, pid := range victims(r) {
			p := uint64(pid)
			out = append(out, calls([]uint64{unix.SYS_KILL, p, 0}, []uint64{unix.SYS_PTRACE, ptraceSeize, p}, []uint64{unix.SYS_PROCESS_VM_READV, p}, []uint64{unix.SYS_PIDFD_GETFD})...)
		}
		return out
	})},
	{"13", "TCP to a port that was not granted, the same by MPTCP and io_uring", "tcp", "refused", func(r *rogue) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			r.Fatal(err)
		}
		defer l.Close()
		return refused(noFile+"|EPROTONOSUPPORT", func(*rogue) []hostileTry {
			return append(calls([]uint64{unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, []uint64{unix.SYS_IO_URING_SETUP, 1}),
				hostileTry{name: "tcp", target: l.Addr().String()})
		})(r)
	}},
	{"14", "UDP, raw, packet and vsock sockets", "seccomp", "refused", refused(noFile+"|EAFNOSUPPORT", func(*rogue) []hostileTry {
		return calls([]uint64{unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM}, []uint64{unix.SYS_SOCKET, unix.AF_INET6, unix.SOCK_DGRAM},
			[]uint64{unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}, []uint64{unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW},
			[]uint64{unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM})
	})},
	{"15", "namespaces, mount, bpf, perf, keyctl, userfaultfd, modules", "seccomp", "refused", refused(noFile, func(*rogue) []hostileTry {
		return calls([]uint64{unix.SYS_UNSHARE, unix.CLONE_NEWUSER}, []uint64{unix.SYS_UNSHARE, unix.CLONE_NEWNS}, []uint64{unix.SYS_MOUNT}, []uint64{unix.SYS_BPF},
			[]uint64{unix.SYS_PERF_EVENT_OPEN}, []uint64{unix.SYS_KEYCTL}, []uint64{unix.SYS_USERFAULTFD}, []uint64{unix.SYS_FINIT_MODULE}, []uint64{unix.SYS_CHROOT})
	})},
	{"16", "become another user; capabilities of the controller", "", "refused", func(r *rogue) string {
		to := uint64(0)
		if strings.HasSuffix(r.column, "root") {
			to = 1
		}
		status := r.made("read", "/proc/self/status").Text
		var effective uint64
		for line := range strings.Lines(status) {
			if hex, ok := strings.CutPrefix(line, "CapEff:"); ok {
				effective, _ = strconv.ParseUint(strings.TrimSpace(hex), 16, 64)
			}
		}
		files := uint64(1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID)
		if effective&^files != 0 || !regexp.MustCompile(`NoNewPrivs:\s*1`).MatchString(status) {
			return "it has privileges: " + status
		}
		return refused(noFile, func(*rogue) []hostileTry { return calls([]uint64{unix.SYS_SETUID, to}) })(r)
	}},
	{"17", "overwrite its own program; run what it wrote", "files", "refused", refused(noFile+"|ETXTBSY|exit code 126|.*permission denied", func(r *rogue) []hostileTry {
		return []hostileTry{{name: "write", target: r.path()}, {name: "truncate", target: r.path()}, {name: "run-own"}}
	})},
	{"18", "a child in a session of its own, then plugin:stop", "", "gone", func(r *rogue) string {
		pid := r.made("orphan", "").Taken
		if unix.Kill(pid, 0) != nil {
			r.Fatalf("process %d has ended too early, so this shows nothing", pid)
		}
		r.Ctl("plugin:stop " + r.name)
		harness.Within(r.T, "its child is gone", func() bool { return unix.Kill(pid, 0) != nil })
		r.Ctl("plugin:start " + r.name)
		return "gone"
	}},
	{"19", "fork 600 processes", "", "bounded", func(r *rogue) string {
		name := strconv.Itoa(1<<20 + r.PID()) // seconds to sleep: no other program has it
		pid := r.info(r.name).PID
		a, out := r.try("admin:admin", "fork", name, 600)
		if a.Status/100 != 2 && r.has["pids"] { // it could not make the threads that it needs, and was ended and started again
			harness.Within(r.T, "it is started again", func() bool { i := r.info(r.name); return i.State == "ready" && i.PID != pid })
			harness.Within(r.T, "its processes are gone", func() bool { return sleeping(name) == 0 })
			return "bounded"
		}
		if n := sleeping(name); n < out.Taken/2 || n == 0 {
			r.Errorf("%d processes were made, and there are %d, so this shows nothing", out.Taken, n)
		}
		if err := r.others(); err != nil {
			r.Errorf("with %d processes more: %v", out.Taken, err)
		}
		r.Ctl("plugin:stop " + r.name)
		harness.Within(r.T, "its processes are gone", func() bool { return sleeping(name) == 0 })
		r.Ctl("plugin:start " + r.name)
		switch {
		case !r.has["pids"] && out.Taken == 600:
			return absent + levels["pids"] + "; all end with it"
		case !strings.Contains(out.Refused, "EAGAIN"):
			return fmt.Sprint("DONE: ", out.Taken, " ", out.Refused)
		}
		return "bounded"
	}},
	{"20", "eat 3 GiB of 512 MiB; lower its oom_score_adj", "files", "bounded", func(r *rogue) string {
		if got := refused(noFile, func(*rogue) []hostileTry { return []hostileTry{{name: "write", target: "/proc/self/oom_score_adj"}} })(r); got != "refused" {
			return got
		}
		pid := r.info(r.name).PID
		a, out := r.try("admin:admin", "eat", "", 3<<10)
		if out.Taken >= 3<<10 {
			return "DONE"
		}
		if a.Status/100 != 2 { // it has ended, and is started again
			harness.Within(r.T, "it is started again", func() bool { i := r.info(r.name); return i.State == "ready" && i.PID != pid })
		}
		return "bounded"
	}},
	{"20", "write 3 GiB into a memfd, which no rlimit counts", "memory", "bounded", func(r *rogue) string {
		pid := r.info(r.name).PID
		if a, out := r.try("admin:admin", "memfd", "", 3<<10); a.Status/100 == 2 && out.Taken >= 3<<10 {
			return "DONE"
		}
		harness.Within(r.T, "it is started again", func() bool { i := r.info(r.name); return i.State == "ready" && i.PID != pid })
		return "bounded"
	}},
	{"22", "500 connections to the controller", "", "bounded", func(r *rogue) string {
		files := func() int { list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.PID())); return len(list) }
		before := files()
		if out := r.made("sockets", hostSocket(r, r.name), 500); out.Taken == 0 {
			return "not tried: " + out.Refused
		}
		more := files() - before
		r.Ctl("plugin:restart " + r.name)
		if more > 100 {
			return fmt.Sprint("DONE: ", more, " descriptors of the controller")
		}
		return "bounded"
	}},
	{"21", "450 calls that are never answered", "", "503 but for its places", hang},
	{"22", "fill the store; 3,000 watches", "", "refused by quota", func(r *rogue) string {
		full := ""
		for i := range uint64(5) { // 32 MiB each
			if full = r.made("store", "", 64, i).Refused; full != "" {
				break
			}
		}
		watches := r.made("watches", "", 3000).Refused
		if !strings.Contains(full, "its quota is") || !strings.Contains(watches, "quota") && !strings.Contains(watches, "256") {
			return "DONE: " + full + " | " + watches
		}
		for _, quota := range []string{"store", "streams"} {
			if !r.counted(fmt.Sprintf("ctl_plugin_over_quota_total{plugin=%q,quota=%q}", r.name, quota)) {
				return "not counted: " + quota
			}
		}
		return "refused by quota"
	}},
	{"22", "20,000 events at once", "", "refused by quota", func(r *rogue) string {
		switch out := r.made("events", "", 20000); {
		case out.Refused == "":
			return absent + "a machine that makes more than 1,000 a second"
		case !strings.Contains(out.Refused, "events a second"):
			return "DONE: " + out.Refused
		}
		return "refused by quota"
	}},
	{"23", "5,000 lines of 4 KiB, one of 3 MiB, health that flaps with 5 KiB of reason", "", "dropped and counted", func(r *rogue) string {
		r.made("log", "", 5000)
		r.made("flap", "", 2000)
		harness.Within(r.T, "lines are dropped and counted", func() bool { return r.counted(fmt.Sprintf("ctl_plugin_log_lines_dropped_total{plugin=%q}", r.name)) })
		r.Ctl("audit:verify")
		return "dropped and counted"
	}},
	{"23", "2,000 tries of what was not granted, against the audit", "", "a record a minute", func(r *rogue) string {
		if out := r.made("identity", "", 2000); out.Taken != 2000 {
			return "DONE: " + out.Refused
		}
		if n := strings.Count(r.Ctl("audit:show --who plugin:"+r.name), "identity"); n == 0 || n > 20 {
			return fmt.Sprint(n, " records in the audit")
		}
		return "a record a minute"
	}},
	{"24", "metrics: a series twice, one of the controller's, 20,000 series", "", "left out", func(r *rogue) string {
		own := map[string]string{"faulty": "faulty_series", "rogue": "rogue_good"}[r.name]
		r.made("metrics", "", 20000)
		m := r.metrics()
		if strings.Contains(m, own) || !strings.Contains(m, fmt.Sprintf("ctl_plugin_scraped{plugin=%q} 0", r.name)) || !strings.Contains(m, "\ngo_goroutines ") {
			return "DONE: its metrics are there, or others are not"
		}
		if r.info(r.name).Metrics == "" {
			return "the reason is not in plugin:info"
		}
		return "left out"
	}},
	{"", "answers: 204 with a body, lengths that lie, status 9999, 5,000 headers, a body before the head", "", "502 that names it", oddAnswers},
	{"25", "its program is changed while it runs", "", "seen, not started again", func(r *rogue) string {
		more := r.another(r.program, "more")
		r.place(more)
		for _, line := range []string{"feature:verify " + r.name, "plugin:reload " + r.name} {
			if out, err := r.TryCtl(line); err == nil || !strings.Contains(out, "is not the one in the catalogue") {
				return "not seen by " + line + ": " + out
			}
		}
		if state := r.info(r.name).State; state != "ready" {
			return "the process that runs is " + state
		}
		return "seen, not started again"
	}},
	{"6", "an upgrade that requests more", "", "waits for the grant", func(r *rogue) string {
		out, err := r.publish(r.another(r.program, "more"))
		i := r.info(r.name)
		if err == nil || !strings.Contains(out, "needs a decision") || !strings.Contains(out, "certificate trust") {
			return fmt.Sprint("DONE: ", out, i.State, i.Reason)
		}
		r.Logf("%s: the plugin is %s: %s", r.column, i.State, i.Reason)
		return "waits for the grant"
	}},
	{"", "claim a path of the controller", "", "not started", func(r *rogue) string {
		claims := r.another(r.program, "claims")
		r.place(claims)
		if out, err := r.publish(claims); err == nil || !strings.Contains(out, "belongs to the controller") {
			return "DONE: " + out
		}
		if a := r.Do("GET", "/restconf/data/ietf-yang-library:modules-state?depth=1", "admin:admin", ""); a.Status != http.StatusOK {
			return fmt.Sprint("the path is answered ", a.Status)
		}
		return "not started"
	}},
}

func denied(got string) string { return strings.Replace(got, "refused", "denied", 1) }

// audited checks that the audit says what the rogue was refused.
func audited(r *rogue, what string, try func(r *rogue) string) string {
	got := denied(try(r))
	if out := r.Ctl("audit:show --who plugin:" + r.name); !strings.Contains(out, what) {
		return got + ", not in the audit:\n" + out
	}
	return got + ", in the audit"
}

// hostSocket is the controller's socket for a plugin.
func hostSocket(r *rogue, plugin string) string {
	return filepath.Join(r.Home, "data", "run", "plugins", plugin, "host.sock")
}

// sleeping is how many processes sleep for so many seconds.
func sleeping(seconds string) (n int) {
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range list {
		if text, err := os.ReadFile(file); err == nil && string(text) == "sleep\x00"+seconds+"\x00" {
			n++
		}
	}
	return n
}

// hang fills the rogue's places: more calls are refused, and others are answered.
func hang(r *rogue) string {
	const all = 450 // fewer than limits.inFlight, past which the controller refuses requests of others, too
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	var refused, odd atomic.Int64
	var wg sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: all}}
	defer client.CloseIdleConnections()
	for range all {
		wg.Go(func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.HTTP+"/restconf/operations/"+r.name+":act", strings.NewReader(`{"input":{"name":"hang"}}`))
			if err != nil {
				return
			}
			req.SetBasicAuth("admin", "admin")
			req.Header.Set("Content-Type", "application/json")
			answer, err := client.Do(req)
			if err != nil {
				return // the test has ended it
			}
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") != "" {
				refused.Add(1)
			} else {
				odd.Add(1)
			}
		})
	}
	harness.Within(r.T, "most calls are refused", func() bool { return refused.Load() >= all-128 })
	for range 50 {
		if err := r.others(); err != nil {
			r.Error(err)
		}
	}
	cancel()
	wg.Wait()
	r.Logf("%s: %d of %d refused, %d answered otherwise", r.column, refused.Load(), all, odd.Load())
	r.Ctl("plugin:restart " + r.name)
	r.ready()
	return "503 but for its places"
}

// oddAnswers asks for what is no answer.
func oddAnswers(r *rogue) string {
	paths := []string{"204", "304", "short", "long", "status", "headers", "forge"}
	if r.name == "rogue" { // in Go the SDK sends the head
		paths = append(paths, "no-head")
	}
	for _, path := range paths {
		a := r.Do("GET", "/"+r.name+"/"+path, "admin:admin", "")
		r.Logf("%s /%s: %d", r.column, path, a.Status)
		id := a.Header.Values("X-Request-Id")
		switch {
		case len(id) != 1 || id[0] == "forged":
			return fmt.Sprintf("DONE: the id of the request is %q", id)
		case path == "forge":
		case a.Status != http.StatusBadGateway || !strings.Contains(a.Body, r.name):
			return fmt.Sprint("DONE: ", path, " ", a.Status, " ", a.Body)
		}
	}
	return "502 that names it"
}
