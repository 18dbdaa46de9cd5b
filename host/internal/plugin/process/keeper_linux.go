package process

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Keeper ends what the processes of plugins leave: children that have left the process group. Once there is one, such a
// child becomes the host's when its parent ends. All processes of plugins are started through the same Keeper.
type Keeper struct {
	groups  groups
	noUsers error // why plugins have no users of their own; nil = they have
	signals chan os.Signal
	over    chan struct{}
	closing sync.Once

	mu      sync.Mutex
	plugins map[int]uint64 // when processes that were started and not reaped got their mark, in clock ticks since boot
	number  int            // of control groups, so far
}

// NewKeeper makes the host the parent of all orphans of its plugins, and prepares control groups as far as it may. A
// run directory has one Keeper.
func NewKeeper(q Quota, l *RunLock) *Keeper {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // since Linux 3.4
	k := &Keeper{
		groups:  findGroups(q, l),
		noUsers: noUsers(),
		signals: make(chan os.Signal, 1),
		over:    make(chan struct{}),
		plugins: map[int]uint64{},
	}
	signal.Notify(k.signals, syscall.SIGCHLD)
	go func() {
		defer close(k.over)
		for range k.signals {
			k.mu.Lock()
			k.listOrphans() // reaps those that have ended
			k.mu.Unlock()
		}
	}()
	return k
}

// Close ends the reaping.
func (k *Keeper) Close() {
	if k == nil {
		return
	}
	k.closing.Do(func() {
		signal.Stop(k.signals)
		close(k.signals)
	})
	<-k.over
}

// startProcess starts a process of a user with f, which returns its pid.
func (k *Keeper) startProcess(user int, f func() (int, error)) (pid int, g *group, err error) {
	if k == nil {
		if pid, err = f(); err == nil { // another Keeper of this process must not take it for an orphan
			_ = limitProcess(pid, user, map[int]uint64{unix.RLIMIT_RTTIME: processMark(pid)})
		}
		return pid, nil, err
	}
	k.mu.Lock() // a process that is not in the list yet would be taken for an orphan
	defer k.mu.Unlock()
	if pid, err = f(); err != nil {
		return 0, nil, err
	}
	k.number++
	_ = limitProcess(
		pid,
		user,
		map[int]uint64{unix.RLIMIT_RTTIME: processMark(pid)},
	) // without it orphans are recognized by their age
	k.plugins[pid] = bootTicks()
	return pid, k.groups.addGroup(pid, k.number), nil
}

// The mark of a plugin's processes is a limit that without privileges can only be lowered and has no effect on them:
// they have no real-time scheduling.
func processMark(pid int) uint64 { return 1<<50 | uint64(pid) }

// markOf is the mark of a process, 0 when it has none.
func markOf(pid int) uint64 {
	n, _ := strconv.ParseUint(
		procField(strconv.Itoa(pid), "limits", "Max realtime timeout"),
		10,
		64,
	)
	return n
}

// endTime bounds the wait for processes that were killed: one may hang in the kernel.
const endTime = 2 * time.Second

// killLeftProcesses kills what is left of a plugin whose process has ended and is not reaped yet.
func (k *Keeper) killLeftProcesses(pid int, g *group) {
	if k == nil {
		return
	}
	g.kill()
	for deadline := time.Now().Add(endTime); ; time.Sleep(time.Millisecond) {
		k.mu.Lock()
		left := 0
		for _, o := range k.listOrphans() {
			if k.ofAnother(o, pid) {
				continue
			}
			_ = unix.Kill(o, unix.SIGKILL)
			left++
		}
		if left == 0 || time.Now().After(deadline) {
			k.mu.Unlock()
			break
		}
		k.mu.Unlock()
	}
	g.remove()
}

// ofAnother reports whether an orphan is of another plugin than that of pid, which runs. One without a mark was started
// before its plugin had it. The caller holds mu.
func (k *Keeper) ofAnother(orphan, pid int) bool {
	if have := markOf(orphan); have>>50 == 1 {
		_, runs := k.plugins[int(have&(1<<32-1))]
		return runs && have != processMark(pid)
	}
	began := startTime(orphan)
	for p, marked := range k.plugins {
		if p != pid && startTime(p) <= began && began <= marked {
			return true
		}
	}
	return false
}

// bootTicks is the time since boot as startTime has it: Linux shows 100 ticks a second on every machine.
func bootTicks() uint64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) // since Linux 2.6.39
	return uint64(t.Nano() / 10_000_000)
}

// forgetReaped forgets a process, which wait reaps.
func (k *Keeper) forgetReaped(pid int, wait func()) {
	if k == nil {
		wait()
		return
	}
	k.mu.Lock() // until then no other goroutine may reap it; afterwards the pid may belong to another process
	defer k.mu.Unlock()
	wait()
	delete(k.plugins, pid)
}

// listOrphans lists the children of the host that come from plugins and were not started by it; those that have ended are
// reaped. The caller holds mu.
func (k *Keeper) listOrphans() (out []int) {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	self := seccompFilterCount("self")
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			_, started := k.plugins[pid]
			if err != nil ||
				started ||
				seccompFilterCount(word) <= self ||
				markOf(pid) == processMark(pid) { // the last is another Keeper's
				continue
			}
			if got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); got == 0 && err == nil {
				out = append(out, pid)
			}
		}
	}
	return out
}

// seccompFilterCount is the number of seccomp filters of a process. A descendant cannot have fewer than its parent had, so it
// shows what comes from a plugin.
func seccompFilterCount(pid string) int {
	return statusNumber(pid, "Seccomp_filters:")
}

func statusNumber(pid, name string) int {
	n, _ := strconv.Atoi(procField(pid, "status", name))
	return n
}

// procField is the first word that follows a name in a file about a process, empty when it is not there.
func procField(pid, file, name string) string {
	text, _ := os.ReadFile("/proc/" + pid + "/" + file) // empty for a process that has ended
	for line := range strings.Lines(string(text)) {
		value, ok := strings.CutPrefix(line, name)
		if ok && len(strings.Fields(value)) > 0 {
			return strings.Fields(value)[0]
		}
	}
	return ""
}

// ofPlugin reports whether a process is a plugin's, or a descendant of one. One that has ended counts as such: it may
// have handed its connection on. One of another namespace, 0, cannot be one. The processes that own reports, and their
// descendants, do not count.
func ofPlugin(pid int, own func(pid int) bool) bool {
	if pid == 0 {
		return false
	}
	if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err != nil {
		return true
	}
	if seccompFilterCount(strconv.Itoa(pid)) <= seccompFilterCount("self") {
		return false
	}
	for self := os.Getpid(); pid > 1 && !own(pid); pid = statusNumber(strconv.Itoa(pid), "PPid:") {
		if pid == self {
			return true
		}
	}
	return false
}

// Listen opens a unix socket of mode 0600, in place of one that is there, that plugins cannot use, but for the processes
// that own reports: who connects from another is cut off. The kernel restricts such sockets by neither Landlock nor grants.
func Listen(path string, own func(pid int) bool, refused func(pid int)) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return closedListener{l, own, refused}, nil
}

// None is the owner of a socket that is not for plugins.
func None(int) bool { return false }

type closedListener struct {
	net.Listener
	own     func(pid int) bool
	refused func(pid int)
}

// Accept implements net.Listener.
func (l closedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		cred, err := Peer(c)
		if err == nil && !ofPlugin(int(cred.Pid), l.own) {
			return c, nil
		}
		_ = c.Close()
		l.refused(int(cred.Pid))
	}
}

// Peer is the process that connected to a unix socket, and its user.
func Peer(c net.Conn) (unix.Ucred, error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return unix.Ucred{}, fmt.Errorf("%T is no unix socket", c)
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return unix.Ucred{}, err
	}
	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return unix.Ucred{}, err
	}
	return *cred, nil
}
