package process

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What a plugin's process may take, where no control group bounds it.
const (
	dataLimit = 2 << 30 // bytes of memory that it writes, when no quota says otherwise
	oomScore  = 500     // the kernel ends plugins before the host
)

// landlockABI is the version of Landlock that the kernel has; 0 = none.
func landlockABI() int {
	v, _, errno := unix.Syscall(
		unix.SYS_LANDLOCK_CREATE_RULESET,
		0,
		0,
		unix.LANDLOCK_CREATE_RULESET_VERSION,
	)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// ruleNetPort is LANDLOCK_RULE_NET_PORT of linux/landlock.h.
const ruleNetPort = 2

// landlock version numbers that brought a part.
const (
	landlockFiles = 1
	landlockTCP   = 4
	landlockScope = 6
)

// Measure says which parts of the isolation this machine has. Strong reports whether the same user's processes are
// closed to each other, which is the least that "required" asks for.
func (k *Keeper) Measure() (i Isolation, strong bool) {
	abi := landlockABI()
	i.By = append(i.By, "no new privileges", "dangerous capabilities dropped")
	if filterArch() != 0 {
		i.By = append(i.By, "system calls denied (seccomp)")
	} else {
		i.Missing = append(i.Missing, "seccomp: not for "+runtime.GOARCH)
	}
	scope, tcp := abi >= landlockScope, abi >= landlockTCP
	for _, part := range []struct {
		have bool
		what string
		abi  int
	}{
		{abi >= landlockFiles, "files: its own, the system's, those that were granted (Landlock)", landlockFiles},
		{scope, "signals, memory and abstract sockets of other processes closed (Landlock)", landlockScope},
		{tcp, "TCP ports by grant (Landlock)", landlockTCP},
	} {
		if part.have {
			i.By = append(i.By, part.what)
		} else {
			i.Missing = append(
				i.Missing,
				fmt.Sprintf(
					"%s: the kernel has version %d, version %d is needed",
					part.what,
					abi,
					part.abi,
				),
			)
		}
	}
	switch g := k.groups; {
	case g.bounded:
		i.By = append(
			i.By,
			fmt.Sprintf(
				"memory up to %d MiB, %d processes and threads, CPU weight %d (control group)",
				g.quota.Memory>>20,
				g.quota.Processes,
				g.quota.CPUWeight,
			),
		)
	default:
		i.By = append(
			i.By,
			fmt.Sprintf(
				"memory up to %d MiB for each process (rlimit)",
				cmp.Or(g.quota.Memory, dataLimit)>>20,
			),
		)
		i.Missing = append(i.Missing, g.missing...)
	}
	i.By = append(i.By, "ended before the host when memory is short")
	if k.groups.dir != "" {
		i.By = append(i.By, "all its processes end with it (control group)")
	} else {
		i.By = append(i.By, "all its processes end with it (one by one)")
	}
	return i, scope && filterArch() != 0
}

// isolateThread restricts the calling thread, and with it the child that it starts: not the other threads of the
// host, which never come from this one.
func isolateThread(p bounds) error {
	// This thread is as restricted as the child, which Landlock therefore lets look into it: the memory of the host is
	// closed to processes of its user.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("the memory of the host: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if p.User != 0 {
		if err := keepOverUser(); err != nil {
			return fmt.Errorf("own uid: %w", err)
		}
	}
	dropCapabilities(p.capabilities, p.LowPorts)
	if err := applyLandlock(p.Isolate, p.rules); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if err := filterCalls(!p.UDP, !p.canWriteFiles() && p.User == 0); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}

// dropCapabilities takes all but some out of reach, those that the service manager hands down included. What fails was
// not there.
func dropCapabilities(keep []uintptr, lowPorts bool) {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if !slices.Contains(keep, c) {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		}
	}
	if !lowPorts {
		_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	}
}

func applyLandlock(p Isolate, rules []rule) error {
	abi := landlockABI()
	var attr struct{ fs, net, scoped uint64 }
	attr.fs = fileRights(abi)
	if abi >= landlockScope {
		attr.scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	if abi >= landlockTCP && p.Connect != nil {
		attr.net |= unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= landlockTCP && p.Listen != nil {
		attr.net |= unix.LANDLOCK_ACCESS_NET_BIND_TCP
	}
	size := unsafe.Sizeof(attr) // an older kernel knows no more than the first members
	switch {
	case abi == 0:
		return nil
	case abi < landlockTCP:
		size = unsafe.Offsetof(attr.net)
	case abi < landlockScope:
		size = unsafe.Offsetof(attr.scoped)
	}
	fd, _, errno := unix.Syscall(
		unix.SYS_LANDLOCK_CREATE_RULESET,
		uintptr(unsafe.Pointer(&attr)),
		size,
		0,
	)
	if errno != 0 {
		return errno
	}
	defer unix.Close(int(fd))
	if err := allowFiles(int(fd), attr.fs, rules); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	for access, ports := range map[uint64][]uint16{
		unix.LANDLOCK_ACCESS_NET_CONNECT_TCP: p.Connect,
		unix.LANDLOCK_ACCESS_NET_BIND_TCP:    p.Listen,
	} {
		for _, port := range ports {
			rule := struct{ access, port uint64 }{access, uint64(port)}
			_, _, errno := unix.Syscall6(
				unix.SYS_LANDLOCK_ADD_RULE,
				fd,
				ruleNetPort,
				uintptr(unsafe.Pointer(&rule)),
				0,
				0,
				0,
			)
			if errno != 0 {
				return errno
			}
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// limitChild bounds a process that was started. What fails leaves it as it is, and is said by the error.
func limitChild(pid int, i Isolate) error {
	limits := map[int]uint64{
		unix.RLIMIT_CORE: 0,
		unix.RLIMIT_DATA: uint64(cmp.Or(i.Memory, dataLimit)),
	}
	if i.User != 0 && i.Processes > 0 {
		limits[unix.RLIMIT_NPROC] = uint64(i.Processes)
	}
	err := limitProcess(pid, i.User, limits)
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte(strconv.Itoa(oomScore)), 0)
	return err
}

// limitProcess lowers limits of a process of a user, 0 = that of the host. Root may not do that for other users everywhere.
func limitProcess(pid, user int, limits map[int]uint64) error {
	var failed []error
	set := func() {
		for what, n := range limits {
			if err := lowerLimit(pid, what, n); err != nil {
				failed = append(failed, err)
			}
		}
	}
	if user == 0 {
		set()
	} else if err := asUser(user, set); err != nil {
		failed = append(
			failed,
			fmt.Errorf("the limits of process %d cannot be set as user %d: %w", pid, user, err),
		)
	}
	return errors.Join(failed...)
}

// lowerLimit lowers one limit. One that is lower already stays: only CAP_SYS_RESOURCE could raise it.
func lowerLimit(pid, what int, n uint64) error {
	var have unix.Rlimit
	if err := unix.Prlimit(pid, what, nil, &have); err == nil && have.Max < n {
		n = have.Max
	}
	err := unix.Prlimit(pid, what, &unix.Rlimit{
		Cur: n,
		Max: n,
	}, nil)
	if err == nil || errors.Is(err, unix.ESRCH) { // it has ended: its end says why
		return nil
	}
	return fmt.Errorf(
		"prlimit %s of process %d to %d: %w: ctld needs the user of the process, or CAP_SYS_RESOURCE in its unit or container",
		limitNames[what],
		pid,
		n,
		err,
	)
}

var limitNames = map[int]string{
	unix.RLIMIT_CORE:   "RLIMIT_CORE (core files)",
	unix.RLIMIT_DATA:   "RLIMIT_DATA (memory)",
	unix.RLIMIT_NPROC:  "RLIMIT_NPROC (processes and threads)",
	unix.RLIMIT_RTTIME: "RLIMIT_RTTIME (the mark by which its orphans are found)",
}
