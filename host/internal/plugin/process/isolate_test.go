package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hostile does what a plugin must not be able to do, and prints how each act ended.
func hostile() {
	host, _ := strconv.Atoi(os.Getenv("HOSTILE_HOST"))
	act := func(name string, err error) {
		if err == nil {
			fmt.Println(name, "DONE")
			return
		}
		fmt.Println(name, "refused:", err)
	}
	raw := func(nr uintptr, args ...uintptr) error {
		args = append(args, 0, 0, 0, 0, 0, 0)
		if _, _, errno := unix.Syscall6(nr, args[0], args[1], args[2], args[3], args[4], args[5]); errno != 0 {
			return errno
		}
		return nil
	}
	dial := func(port string) error {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			c.Close()
		}
		return err
	}
	act("signal", unix.Kill(host, 0))
	_, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", host))
	act("environ", err)
	_, err = os.Open(fmt.Sprintf("/proc/%d/mem", host))
	act("memory", err)
	act("ptrace", unix.PtraceSeize(host))
	act("limits", unix.Prlimit(host, unix.RLIMIT_CPU, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}, nil))
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", host))
	for i, act1 := range []func(tid int) error{
		func(tid int) error { return unix.Kill(tid, 0) },
		func(tid int) error { return unix.Tgkill(host, tid, 0) },
		func(tid int) error {
			f, err := os.Open(fmt.Sprintf("/proc/%d/task/%d/mem", host, tid))
			if err == nil {
				f.Close()
			}
			return err
		},
	} { // the thread that started this process is as restricted as it is
		var err error = unix.ENOENT
		for _, task := range tasks {
			if tid, _ := strconv.Atoi(task.Name()); err != nil {
				err = act1(tid)
			}
		}
		act([]string{"thread-signal", "thread-kill", "thread-memory"}[i], err)
	}
	_, err = net.Dial("unix", os.Getenv("HOSTILE_ABSTRACT"))
	act("abstract", err)
	act("dial", dial(os.Getenv("HOSTILE_PORT")))
	act("dial-granted", dial(os.Getenv("HOSTILE_GRANTED")))
	l, err := net.Listen("tcp", "127.0.0.1:0") // Go asks for MPTCP first
	if err == nil {
		l.Close()
	}
	act("listen-free", err)
	l, err = net.Listen("tcp", "127.0.0.1:"+os.Getenv("HOSTILE_BIND"))
	if err == nil {
		l.Close()
	}
	act("listen", err)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
	if err == nil {
		unix.Close(fd)
	}
	act("mptcp", err)
	_, err = unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
	act("vsock", err)
	act("bpf", raw(unix.SYS_BPF, 0, 0, 0))
	act("io_uring", raw(unix.SYS_IO_URING_SETUP, 1, 0))
	act("keyctl", raw(unix.SYS_KEYCTL, 0, 0))
	home, own, granted := os.Getenv("HOSTILE_HOME"), os.Getenv("HOSTILE_OWN"), os.Getenv("HOSTILE_FILES")
	key := filepath.Join(home, "key")
	_, err = os.ReadFile(key)
	act("read-key", err)
	act("write-key", os.WriteFile(key, []byte("x"), 0o600))
	act("truncate-key", os.Truncate(key, 0))
	act("chmod-key", os.Chmod(key, 0o644))
	act("utime-key", os.Chtimes(key, time.Time{}, time.Now()))
	act("setxattr-key", unix.Setxattr(key, "user.x", []byte("x"), 0))
	_, err = os.ReadDir(home)
	act("list-home", err)
	act("link-key", os.Link(key, filepath.Join(own, "link")))
	act("rename-key", os.Rename(key, filepath.Join(own, "key")))
	act("remove-key", os.Remove(key))
	if os.Getenv("HOSTILE_ISOLATED") != "" { // without, they would be done
		act("priority-user", unix.Setpriority(unix.PRIO_USER, 0, 19))
		act("priority-group", unix.Setpriority(unix.PRIO_PGRP, 0, 19))
		act("priority-host", unix.Setpriority(unix.PRIO_PROCESS, host, 19))
		raised, _ := unix.Getpriority(unix.PRIO_PROCESS, 0) // 20 minus the niceness, which may not fall
		act("priority-own", unix.Setpriority(unix.PRIO_PROCESS, 0, min(20-raised+1, 19)))
		act("write-etc", os.WriteFile("/etc/ctl-hostile", nil, 0o600))
		act("write-program", os.WriteFile(os.Args[0]+".new", nil, 0o755))
	}
	act("own-file", os.WriteFile(filepath.Join(own, "file"), []byte("#!/bin/sh\n"), 0o755))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	act("run-own-file", exec.CommandContext(ctx, filepath.Join(own, "file")).Run())
	act("granted-file", os.WriteFile(filepath.Join(granted, "file"), nil, 0o600))
	act("run-system", exec.CommandContext(ctx, "/bin/sh", "-c", "exit 0").Run())
	_, err = os.ReadFile("/etc/hosts")
	act("read-system", err)
	u, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		unix.Close(u)
	}
	act("udp", err)
	_, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
	act("packet", err)
	act("oom", os.WriteFile("/proc/self/oom_score_adj", []byte("-1"), 0))
	act("user-namespace", raw(unix.SYS_CLONE, unix.CLONE_NEWUSER|unix.CLONE_NEWNET|uintptr(unix.SIGCHLD)))
	act("unshare", raw(unix.SYS_UNSHARE, unix.CLONE_NEWNS))
	act("mount", unix.Mount("none", "/tmp", "tmpfs", 0, ""))
	_, err = os.ReadFile("/etc/shadow")
	act("read-shadow", err)
	_, err = os.ReadFile(os.Getenv("HOSTILE_LIST"))
	act("read-list", err)
	_, err = net.Dial("unix", filepath.Join(home, "socket"))
	act("dial-socket", err)
	act("chmod-own-file", os.Chmod(filepath.Join(own, "file"), 0o700))
	if os.Getenv("HOSTILE_FORKS") != "" {
		var limit unix.Rlimit
		for unix.Getrlimit(unix.RLIMIT_NPROC, &limit) == nil && limit.Cur != 64 {
			runtime.Gosched() // the host sets it soon
		}
		act("forks", forkUntilRefused())
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "NoNewPrivs") || strings.HasPrefix(line, "CapBnd") || strings.HasPrefix(line, "Seccomp:") || strings.HasPrefix(line, "Uid") || strings.HasPrefix(line, "CapEff") {
			fmt.Print(strings.ReplaceAll(line, "\t", " "))
		}
	}
}

// forkUntilRefused starts processes until that fails, and ends them. At the limit a thread cannot be made either, which
// ends a Go program: so it has threads in store, and collects no garbage meanwhile.
func forkUntilRefused() error {
	keepIdleThreads(16)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var started []*exec.Cmd
	defer func() {
		for _, c := range started {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}()
	for range 100 {
		c := exec.Command("/bin/sleep", "600")
		if err := c.Start(); err != nil {
			return err
		}
		started = append(started, c)
	}
	return nil
}

// keepIdleThreads makes n threads, which the runtime keeps: each is in a system call while the others are made.
func keepIdleThreads(n int) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return
	}
	var reading, held sync.WaitGroup
	held.Add(n)
	for range n {
		reading.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			held.Done()
			_, _ = unix.Read(pipe[0], make([]byte, 1))
		})
	}
	held.Wait()
	_, _ = unix.Write(pipe[1], make([]byte, n))
	reading.Wait()
	_ = unix.Close(pipe[0])
	_ = unix.Close(pipe[1])
}

func TestAnIsolatedProcessReachesNoOther(t *testing.T) {
	if os.Getenv("HOSTILE_HOST") != "" {
		hostile()
		return
	}
	if have, strong := new(Keeper).Measure(); !strong {
		t.Skipf("SKIPPED, NOT TESTED: the peer, a kernel that isolates, lacks %s", strings.Join(have.Missing, "; "))
	}
	listen := func(network, address string) net.Listener {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	port := func(l net.Listener) uint16 { return uint16(l.Addr().(*net.TCPAddr).Port) }
	abstract := "@ctl-test-" + strconv.Itoa(os.Getpid())
	secret, granted := listen("tcp", "127.0.0.1:0"), listen("tcp", "127.0.0.1:0")
	listen("unix", abstract)
	free := listen("tcp", "127.0.0.1:0")
	bind := port(free)
	_ = free.Close()
	base := t.TempDir()
	home := filepath.Join(base, "home")
	own, files := filepath.Join(home, "data", "own"), filepath.Join(base, "files")
	for _, d := range []string{own, files} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "key"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(i *Isolate) string {
		file := filepath.Join(t.TempDir(), "out")
		out, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestAnIsolatedProcessReachesNoOther$")
		cmd.Stdout, cmd.Stderr = out, out
		cmd.Env = []string{"HOSTILE_HOST=" + strconv.Itoa(os.Getpid()), "HOSTILE_ABSTRACT=" + abstract,
			"HOSTILE_HOME=" + home, "HOSTILE_OWN=" + own, "HOSTILE_FILES=" + files, fmt.Sprint("HOSTILE_PORT=", port(secret)),
			fmt.Sprint("HOSTILE_GRANTED=", port(granted)), fmt.Sprint("HOSTILE_BIND=", bind), "HOSTILE_LIST=" + filepath.Join(home, "list")}
		var within *bounds
		if i != nil {
			cmd.Env = append(cmd.Env, "HOSTILE_ISOLATED=yes")
			if i.User != 0 {
				cmd.Env = append(cmd.Env, "HOSTILE_FORKS=yes")
			}
			program, err := os.Open(os.Args[0])
			if err != nil {
				t.Fatal(err)
			}
			defer program.Close()
			within = i.boundsFor(program, os.Args[0], own)
		}
		c, err := startChild(cmd, within, nil)
		if err != nil {
			t.Fatal(err)
		}
		<-c.done
		_ = out.Close()
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	free1 := run(nil)
	for _, name := range []string{"signal", "abstract", "dial", "listen", "listen-free", "read-key", "chmod-key", "own-file", "run-own-file", "granted-file", "udp", "link-key", "rename-key"} {
		if !strings.Contains(free1, name+" DONE\n") {
			t.Errorf("without isolation %s is refused, so this test shows nothing:\n%s", name, free1)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "key"), []byte("secret"), 0o600); err != nil { // it was taken
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(filepath.Join(own, "key")), os.Remove(filepath.Join(own, "link"))); err != nil {
		t.Fatal(err)
	}
	// The grant of a directory above the home does not reach into it.
	got := run(&Isolate{Connect: []uint16{port(granted)}, Listen: []uint16{bind}, Files: []File{{Path: base}}, Home: home, Required: true})
	t.Log("\n" + got)
	for _, name := range []string{"signal", "environ", "memory", "ptrace", "abstract", "dial", "listen-free", "mptcp", "vsock", "user-namespace", "unshare", "mount", "bpf", "io_uring", "keyctl", "oom",
		"limits", "priority-user", "priority-group", "priority-host", "thread-signal", "thread-kill", "thread-memory", "read-key", "write-key", "truncate-key", "rename-key", "remove-key", "link-key", "chmod-key", "utime-key", "setxattr-key", "list-home", "write-etc",
		"write-program", "run-own-file", "granted-file", "udp", "packet"} {
		if !strings.Contains(got, name+" refused:") {
			t.Errorf("%s was not refused", name)
		}
	}
	if b, err := os.ReadFile(filepath.Join(home, "key")); string(b) != "secret" {
		t.Errorf("the key is %q, %v", b, err)
	}
	may := run(&Isolate{UDP: true, Files: []File{{Path: files, Write: true}, {Path: own, Run: true}}, Home: home, Required: true})
	for _, want := range []string{"granted-file DONE", "udp DONE", "run-own-file DONE", "read-key refused", "write-key refused"} {
		if !strings.Contains(may, want) {
			t.Errorf("with grants %q is missing:\n%s", want, may)
		}
	}
	for _, want := range []string{"priority-own DONE", "own-file DONE", "run-system DONE", "read-system DONE", "dial-granted DONE", "listen DONE", "NoNewPrivs: 1", "Seccomp: 2"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	asOwnUser(t, base, home, own, run)
	// No thread of the host stays restricted: that of a child ends soon after it.
	deadline := time.Now().Add(time.Minute)
	for restricted := "?"; restricted != ""; runtime.Gosched() {
		restricted = ""
		tasks, _ := filepath.Glob("/proc/self/task/*/status")
		for _, task := range tasks {
			status, err := os.ReadFile(task)
			if err == nil && bytes.Contains(status, []byte("NoNewPrivs:\t1")) {
				restricted = task
			}
		}
		if restricted != "" && time.Now().After(deadline) {
			t.Fatalf("%s is still restricted", restricted)
		}
	}
}

// asOwnUser makes the acts as a user of plugins, which in places needs no Landlock to be refused.
func asOwnUser(t *testing.T, base, home, own string, run func(*Isolate) string) {
	k := NewKeeper(Quota{}, locked(t, t.TempDir()))
	defer k.Close()
	uid, err := k.User(own)
	if err != nil {
		t.Logf("SKIPPED, NOT TESTED: the peer, a user of its own for a plugin, cannot be had: %v", err)
		return
	}
	if again, err := k.User(own); again != uid || err != nil {
		t.Errorf("the user was %d, and is %d, %v", uid, again, err)
	}
	if other, err := k.User(own + "2"); other == uid || err != nil {
		t.Errorf("two plugins are user %d, %v", uid, err)
	}
	l, err := net.Listen("unix", filepath.Join(home, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	list := filepath.Join(home, "list")
	if err := errors.Join(os.WriteFile(list, []byte("x"), 0o600), os.Chmod(filepath.Dir(base), 0o711), os.Chmod(base, 0o711), os.Chmod(home, 0o711), k.Pass(home, filepath.Dir(own))); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		files         []File
		capabilities  int
		refused, done string
	}{
		"nothing granted": {nil, 0, "read-list read-key read-shadow dial-socket forks signal environ memory thread-memory thread-signal chmod-key utime-key run-own-file", "own-file chmod-own-file read-system"},
		"a file of root":  {[]File{{Path: list}}, 1 << unix.CAP_DAC_READ_SEARCH, "read-key read-shadow dial-socket forks list-home chmod-key utime-key", "own-file read-list read-system"},
		"files to write":  {[]File{{Path: list, Write: true}}, 1 << unix.CAP_DAC_OVERRIDE, "read-key write-key read-shadow forks list-home chmod-key", "own-file read-list"},
	} {
		got := run(&Isolate{User: uid, Processes: 64, Files: c.files, Home: home})
		if !strings.Contains(got, fmt.Sprintf("\nUid: %d %d %d %d\n", uid, uid, uid, uid)) || !strings.Contains(got, fmt.Sprintf("\nCapEff: %016x\n", c.capabilities)) {
			t.Errorf("%s: it is not user %d with capabilities %x:\n%s", name, uid, c.capabilities, got)
		}
		for _, act := range strings.Fields(c.refused) {
			if !strings.Contains(got, act+" refused:") {
				t.Errorf("%s: %s was not refused:\n%s", name, act, got)
			}
		}
		for _, act := range strings.Fields(c.done) {
			if !strings.Contains(got, "\n"+act+" DONE\n") {
				t.Errorf("%s: %s was not done:\n%s", name, act, got)
			}
		}
	}
}
