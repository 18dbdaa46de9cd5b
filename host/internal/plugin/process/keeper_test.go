package process

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// escape starts a process that leaves the group, the session and the parent of a plugin, and prints its pid.
func escape() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", "sleep 300 >/dev/null & echo $!")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Stderr = os.Stderr // a pipe would be held open by it
	out, err := c.Output()
	fmt.Print(string(out))
	if socket := os.Getenv("ESCAPE_SOCKET"); socket != "" {
		answer := "closed"
		if conn, err := net.Dial("unix", socket); err == nil {
			if line, err := bufio.NewReader(conn).ReadString('\n'); err == nil {
				answer = strings.TrimSpace(line)
			}
		}
		fmt.Println(answer)
	}
	if err == nil {
		_ = exec.CommandContext(ctx, "sleep", "300").Run() // until it is killed
	}
}

// escaped starts an isolated process, and returns it with what it prints.
func escaped(t *testing.T, k *Keeper, env ...string) (*child, *bufio.Reader) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	program, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	i := &Isolate{Required: true}
	cmd := exec.Command(os.Args[0], "-test.run=^TestNothingOfAProcessIsLeft$")
	cmd.Env = append([]string{"ESCAPE=yes", "PATH=" + os.Getenv("PATH")}, env...)
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	c, err := startChild(cmd, i.boundsFor(program, os.Args[0]), k)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kill(); <-c.done })
	return c, bufio.NewReader(r)
}

func number(t *testing.T, r *bufio.Reader) int {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func isolating(t *testing.T) *Keeper {
	t.Helper()
	if have, strong := new(Keeper).Measure(); !strong {
		t.Skipf("SKIPPED, NOT TESTED: the peer, a kernel that isolates, lacks %s", strings.Join(have.Missing, "; "))
	}
	k := NewKeeper(Quota{}, locked(t, t.TempDir()))
	t.Cleanup(k.Close)
	return k
}

func TestNothingOfAProcessIsLeft(t *testing.T) {
	if os.Getenv("ESCAPE") != "" {
		escape()
		return
	}
	for _, groups := range []bool{true, false} {
		t.Run(fmt.Sprint("control groups ", groups), func(t *testing.T) {
			k := isolating(t)
			switch {
			case groups && k.groups.dir == "":
				t.Skipf("SKIPPED, NOT TESTED: the peer, control groups, is not here: %s", strings.Join(k.groups.missing, "; "))
			case !groups:
				k.groups.dir = ""
			}
			one, said := escaped(t, k)
			first := number(t, said)
			two, said := escaped(t, k)
			second := number(t, said)
			if startTime(first) == 0 || startTime(second) == 0 {
				t.Fatal("they have ended too early, so this test shows nothing")
			}
			one.kill()
			<-one.done
			if startTime(first) != 0 {
				t.Error("a child of the first is left")
			}
			if startTime(second) == 0 {
				t.Error("the child of the second ended with the first")
			}
			two.kill()
			<-two.done
			if startTime(second) != 0 {
				t.Error("a child of the second is left")
			}
			if left, _ := filepath.Glob(filepath.Join(k.groups.dir, k.groups.prefix+"*")); groups && len(left) > 0 {
				t.Errorf("control groups are left: %v", left)
			}
		})
	}
}

func TestAPluginCannotUseASocketOfTheHost(t *testing.T) {
	k := isolating(t)
	path := filepath.Join(t.TempDir(), "console.sock")
	refused := make(chan int, 1)
	var owner atomic.Int64 // of the socket: a child of the test
	l, err := Listen(path, func(pid int) bool { return int64(pid) == owner.Load() }, func(pid int) { refused <- pid })
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprintln(c, "welcome")
			c.Close()
		}
	}()
	defer func() { l.Close(); <-ended }()
	own, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if line, err := bufio.NewReader(own).ReadString('\n'); line != "welcome\n" {
		t.Errorf("the host itself: %q, %v", line, err)
	}
	c, said := escaped(t, k, "ESCAPE_SOCKET="+path)
	number(t, said)
	if line, err := said.ReadString('\n'); line != "closed\n" {
		t.Errorf("a plugin: %q, %v", line, err)
	}
	if pid := <-refused; pid != c.pid {
		t.Errorf("%d was refused, not %d", pid, c.pid)
	}
	owner.Store(int64(c.pid))
	for who, want := range map[string]bool{"its owner": false, "another plugin": true} {
		pid := c.pid
		if want {
			other, said := escaped(t, k)
			number(t, said)
			pid = other.pid
		}
		if got := ofPlugin(pid, func(pid int) bool { return int64(pid) == owner.Load() }); got != want {
			t.Errorf("%s is kept out of the socket: %v", who, got)
		}
	}
}

// A plugin may start children before it has its mark: they do not end with another plugin.
func TestAChildIsAsOldAsItsPlugin(t *testing.T) {
	cmd := exec.Command("sleep", "300")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	self, child := os.Getpid(), cmd.Process.Pid
	for name, c := range map[string]struct {
		ends   int // the plugin
		marked uint64
		want   bool
	}{
		"begun before the mark":    {0, bootTicks(), true},
		"begun after the mark":     {0, startTime(child) - 1, false},
		"of the plugin that ended": {self, bootTicks(), false},
	} {
		k := &Keeper{plugins: map[int]uint64{self: c.marked}}
		if got := k.ofAnother(child, c.ends); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
