package process

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
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
	act("user-namespace", raw(unix.SYS_CLONE, unix.CLONE_NEWUSER|unix.CLONE_NEWNET|uintptr(unix.SIGCHLD)))
	act("unshare", raw(unix.SYS_UNSHARE, unix.CLONE_NEWNS))
	act("mount", unix.Mount("none", "/tmp", "tmpfs", 0, ""))
	act("bpf", raw(unix.SYS_BPF, 0, 0, 0))
	act("io_uring", raw(unix.SYS_IO_URING_SETUP, 1, 0))
	act("keyctl", raw(unix.SYS_KEYCTL, 0, 0))
	act("oom", os.WriteFile("/proc/self/oom_score_adj", []byte("-1"), 0))
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "NoNewPrivs") || strings.HasPrefix(line, "CapBnd") || strings.HasPrefix(line, "Seccomp:") {
			fmt.Print(strings.ReplaceAll(line, "\t", " "))
		}
	}
}

func TestAnIsolatedProcessReachesNoOther(t *testing.T) {
	if os.Getenv("HOSTILE_HOST") != "" {
		hostile()
		return
	}
	if have, strong := Measure(); !strong {
		t.Skipf("SKIPPED, NOT TESTED: this machine lacks %s", strings.Join(have.Missing, "; "))
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
	run := func(i *Isolate) string {
		file := filepath.Join(t.TempDir(), "out")
		out, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestAnIsolatedProcessReachesNoOther$")
		cmd.Stdout, cmd.Stderr = out, out
		cmd.Env = []string{"HOSTILE_HOST=" + strconv.Itoa(os.Getpid()), "HOSTILE_ABSTRACT=" + abstract, fmt.Sprint("HOSTILE_PORT=", port(secret)),
			fmt.Sprint("HOSTILE_GRANTED=", port(granted)), fmt.Sprint("HOSTILE_BIND=", bind)}
		c, err := startChild(cmd, i)
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
	for _, name := range []string{"signal", "abstract", "dial", "listen", "listen-free"} {
		if !strings.Contains(free1, name+" DONE\n") {
			t.Errorf("without isolation %s is refused, so this test shows nothing:\n%s", name, free1)
		}
	}
	got := run(&Isolate{Connect: []uint16{port(granted)}, Listen: []uint16{bind}, Required: true})
	t.Log("\n" + got)
	for _, name := range []string{"signal", "environ", "memory", "ptrace", "abstract", "dial", "listen-free", "mptcp", "vsock", "user-namespace", "unshare", "mount", "bpf", "io_uring", "keyctl", "oom"} {
		if !strings.Contains(got, name+" refused:") {
			t.Errorf("%s was not refused", name)
		}
	}
	for _, want := range []string{"dial-granted DONE", "listen DONE", "NoNewPrivs: 1", "Seccomp: 2"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
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
