package process

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// filterArch is the name of this machine's system calls, 0 when they are not known here.
func filterArch() uint32 {
	switch runtime.GOARCH {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64
	}
	return 0
}

// denied are the system calls that no plugin needs and that open the kernel, or other processes, to it.
var denied = []uint32{
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
	unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT,
	unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_UNSHARE,
	unix.SYS_SETNS, unix.SYS_CHROOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE,
	unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_ACCT, unix.SYS_QUOTACTL,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_SYSLOG, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_FANOTIFY_INIT, unix.SYS_VHANGUP, unix.SYS_MBIND, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	unix.SYS_IOPRIO_SET, // of all processes of the user
}

// ofOthers are system calls, with the place of their argument that names a process or thread: 0 is the caller, and
// others of the same user are not for it.
var ofOthers = map[uint32]uint32{
	unix.SYS_PRLIMIT64:          0,
	unix.SYS_SCHED_SETAFFINITY:  0,
	unix.SYS_SCHED_SETPARAM:     0,
	unix.SYS_SCHED_SETSCHEDULER: 0,
	unix.SYS_SCHED_SETATTR:      0,
}

// signalling are system calls that reach a thread, with the place of its number. The thread of the host that started
// the process is restricted as it is, so Landlock does not close it, and a signal to it is one to the host.
var signalling = map[uint32]uint32{
	unix.SYS_KILL:              0,
	unix.SYS_TKILL:             0,
	unix.SYS_TGKILL:            1,
	unix.SYS_RT_SIGQUEUEINFO:   0,
	unix.SYS_RT_TGSIGQUEUEINFO: 1,
	unix.SYS_PIDFD_OPEN:        0,
}

// modeCalls change mode, owner, times and attributes of a file by its path.
func modeCalls() []uint32 {
	calls := []uint32{unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT, unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_SETXATTRAT,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_REMOVEXATTRAT}
	if runtime.GOARCH == "amd64" { // elsewhere there are none of the old ones
		calls = append(calls, 90, 92, 94, 132, 235, 261) // chmod, chown, lchown, utime, utimes, futimesat
	}
	return calls
}

// families are the sockets that a plugin may make.
var families = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// Offsets in what a filter sees of a call.
const (
	callNumber = 0
	callArch   = 4
	callArgs   = 16
)

// filterCalls denies system calls to the calling thread and its children. They fail, nothing is killed: libraries go on
// without. noUDP denies UDP too; noModes changes of mode, owner, times and attributes of files by their path, which
// Landlock does not see.
func filterCalls(noUDP, noModes bool) error {
	arch := filterArch()
	if arch == 0 {
		return nil
	}
	var prog []unix.SockFilter
	emit := func(code uint16, jt, jf uint8, k uint32) {
		prog = append(prog, unix.SockFilter{
			Code: code,
			Jt:   jt,
			Jf:   jf,
			K:    k,
		})
	}
	load := func(offset uint32) {
		emit(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, offset)
	}
	fail := func(e unix.Errno) {
		emit(unix.BPF_RET|unix.BPF_K, 0, 0, unix.SECCOMP_RET_ERRNO|uint32(e))
	}
	allow := func() { emit(unix.BPF_RET|unix.BPF_K, 0, 0, unix.SECCOMP_RET_ALLOW) }
	// another value: skip so many
	unless := func(skip uint8, k uint32) {
		emit(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, skip, k)
	}

	load(callArch)
	emit(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, arch)
	fail(unix.EPERM) // calls of another architecture have other numbers
	load(callNumber)
	emit(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, 0, 1, 0x40000000)
	fail(unix.EPERM)
	denied := denied
	if noModes {
		denied = append(denied[:len(denied):len(denied)], modeCalls()...)
	}
	for _, nr := range denied {
		unless(1, nr)
		fail(unix.EPERM)
	}
	for nr, arg := range ofOthers {
		unless(4, nr)
		load(callArgs + 8*arg)
		emit(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, 0)
		fail(unix.EPERM)
		allow()
	}
	unless(7, unix.SYS_SETPRIORITY) // that of the caller alone, which it can only lower
	load(callArgs)
	emit(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, unix.PRIO_PROCESS)
	fail(unix.EPERM)
	load(callArgs + 8)
	emit(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, 0)
	fail(unix.EPERM)
	allow()
	for nr, arg := range signalling {
		unless(4, nr)
		load(callArgs + 8*arg)
		unless(1, uint32(unix.Gettid()))
		fail(unix.EPERM)
		allow()
	}
	if noModes {
		unless(4, unix.SYS_UTIMENSAT)
		load(callArgs + 8)
		emit(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, 0) // without a path it is the file of a descriptor
		fail(unix.EPERM)
		allow()
	}
	unless(1, unix.SYS_CLONE3)
	fail(unix.ENOSYS) // its flags are not visible here; the caller then uses clone
	unless(4, unix.SYS_CLONE)
	load(callArgs)
	emit(
		unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K,
		0,
		1,
		unix.CLONE_NEWUSER|unix.CLONE_NEWNS|unix.CLONE_NEWPID|unix.CLONE_NEWNET|unix.CLONE_NEWIPC|unix.CLONE_NEWUTS|unix.CLONE_NEWCGROUP,
	)
	fail(unix.EPERM)
	allow()
	skip := uint8(5 + 2*len(families))
	if noUDP {
		skip += 7
	}
	unless(skip, unix.SYS_SOCKET)
	load(callArgs + 2*8)
	unless(1, unix.IPPROTO_MPTCP)
	fail(unix.EPROTONOSUPPORT) // Landlock does not see its ports
	if noUDP {
		load(callArgs + 8)
		emit(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0, 0, 0xf) // the type without its flags
		unless(4, unix.SOCK_DGRAM)
		load(callArgs)
		emit(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, unix.AF_INET)
		unless(1, unix.AF_INET6)
		fail(unix.EACCES)
	}
	load(callArgs)
	for _, f := range families {
		unless(1, f)
		allow()
	}
	fail(unix.EAFNOSUPPORT)
	allow()
	p := unix.SockFprog{
		Len:    uint16(len(prog)),
		Filter: &prog[0],
	}
	err := unix.Prctl(
		unix.PR_SET_SECCOMP,
		unix.SECCOMP_MODE_FILTER,
		uintptr(unsafe.Pointer(&p)),
		0,
		0,
	)
	runtime.KeepAlive(prog)
	return err
}
