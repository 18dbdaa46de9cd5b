package process

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Where the host is root each plugin runs as a user of its own, which is nothing but a number that owns the plugin's
// data directory. systemd gives away the numbers from 61184 on.
const (
	pluginsGroup = 61000 // of all these users; it passes the directories of the host that theirs are in
	describeUser = 61000 // of a program that is only asked what it is
	firstUser    = 61001
	lastUser     = 61183
)

// noUsers says why plugins cannot have users of their own; nil = they can.
func noUsers() error {
	if os.Geteuid() != 0 {
		return errors.New("ctld does not run as root")
	}
	if landlockABI() < landlockFiles { // it bounds those that must keep a capability for files that they were granted
		return errors.New("the kernel has no Landlock")
	}
	var have [2]unix.CapUserData
	err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &have[0])
	if err != nil {
		return err
	}
	for name, c := range map[string]int{
		"CAP_CHOWN":        unix.CAP_CHOWN,
		"CAP_DAC_OVERRIDE": unix.CAP_DAC_OVERRIDE,
		"CAP_FOWNER":       unix.CAP_FOWNER,
		"CAP_KILL":         unix.CAP_KILL,
		"CAP_SETGID":       unix.CAP_SETGID,
		"CAP_SETPCAP":      unix.CAP_SETPCAP,
		"CAP_SETUID":       unix.CAP_SETUID,
	} {
		if have[0].Effective&(1<<c) == 0 {
			return fmt.Errorf("ctld runs as root without %s", name)
		}
	}
	return asUser(lastUser, func() {}) // in a container there may be no such number
}

// asUser runs f on a thread that belongs to a user of plugins.
func asUser(uid int, f func()) error {
	failed := make(chan error)
	go onThread(func() {
		_, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, pluginsGroup, pluginsGroup, pluginsGroup)
		if errno == 0 {
			_, _, errno = unix.RawSyscall(
				unix.SYS_SETRESUID,
				uintptr(uid),
				uintptr(uid),
				uintptr(uid),
			)
		}
		if errno != 0 {
			failed <- errno
			return
		}
		f()
		failed <- nil
	})
	return <-failed
}

// keepOverUser lets the thread, and the child that it starts, keep its capabilities when the user changes. They end
// when the program is executed, but for the ambient ones.
func keepOverUser() error {
	const noSetuidFixup = 1 << 2 // SECBIT_NO_SETUID_FIXUP of linux/securebits.h
	return unix.Prctl(unix.PR_SET_SECUREBITS, noSetuidFixup, 0, 0, 0)
}

// User is the number of the user that a plugin runs as. It is kept as the owner of the plugin's data directory, so it
// is the same as long as there are data of the plugin.
func (k *Keeper) User(dataDir string) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.noUsers != nil {
		return 0, k.noUsers
	}
	mine, taken := 0, map[int]bool{}
	entries, _ := os.ReadDir(filepath.Dir(dataDir)) // the first plugin makes it
	for _, e := range entries {
		info, err := e.Info()
		switch uid := ownerUID(info); {
		case err != nil || uid < firstUser || uid > lastUser:
		case e.Name() == filepath.Base(dataDir):
			mine = uid
		default:
			taken[uid] = true
		}
	}
	if mine == 0 || taken[mine] {
		var err error
		if mine, err = freeUser(dataDir, taken); err != nil {
			return 0, err
		}
	}
	return mine, privateDir(dataDir, mine)
}

// freeUser begins to look at a place of its own for each directory, and leaves out users that processes have, so that
// controllers on one machine seldom share a user.
func freeUser(dataDir string, taken map[int]bool) (int, error) {
	const n = lastUser - firstUser + 1
	addRunning(taken)
	h := fnv.New32a()
	_, _ = h.Write([]byte(dataDir))
	for i := range uint32(n) {
		uid := firstUser + int((h.Sum32()+i)%n)
		_, err := user.LookupId(strconv.Itoa(uid))
		if !taken[uid] && err != nil {
			return uid, nil
		}
	}
	return 0, fmt.Errorf("all numbers from %d to %d are in use", firstUser, lastUser)
}

// addRunning adds the users of the processes that can be seen: those of plugins of other controllers among them.
func addRunning(taken map[int]bool) {
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range processes {
		uid := statusNumber(filepath.Base(dir), "Uid:")
		if uid >= firstUser && uid <= lastUser {
			taken[uid] = true
		}
	}
}

func ownerUID(info fs.FileInfo) int {
	if info == nil {
		return -1
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// chownTree makes a user the owner of a directory and all in it. It never leaves the directory, whatever is in it.
func chownTree(dir string, uid, gid int) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return root.Lchown(path, uid, gid)
	})
}

// Pass lets the users of plugins pass directories of the host that theirs are in, and those between them and the home,
// which itself stays as it is.
func (k *Keeper) Pass(home string, dirs ...string) error {
	if k.noUsers != nil {
		return nil
	}
	for _, d := range dirs {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
		d = resolveLinks(d)
		for ok := true; ok; ok = d != home && isBelowDirs(d, home) {
			if err := passTo(d); err != nil {
				return err
			}
			d = filepath.Dir(d)
		}
	}
	return nil
}

func passTo(dir string) error {
	return errors.Join(os.Chown(dir, -1, pluginsGroup), os.Chmod(dir, 0o710))
}

// shareWithPlugins lets the users of plugins write a directory of the home; Landlock says which of them do.
func shareWithPlugins(dir string, uid int) error {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if ok && st.Gid != pluginsGroup {
		if err := chownTree(dir, uid, pluginsGroup); err != nil {
			return err
		}
	}
	return os.Chmod(dir, 0o770|fs.ModeSetgid)
}

// kept are the capabilities that a process with the user of a host that runs as root keeps: its files are those of the
// host.
var kept = []uintptr{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER, unix.CAP_FSETID}

// keptCapabilities are those that the process keeps. With a user of its own it passes the modes of files only as far as it
// was granted files, or cannot reach its own otherwise: Landlock bounds that to exactly these files.
func (i Isolate) keptCapabilities(own ...string) []uintptr {
	var out []uintptr
	if i.User == 0 {
		out = slices.Clone(kept)
	} else if c := i.filesBy(own); c != 0 {
		out = append(out, c)
	}
	if i.LowPorts {
		out = append(out, unix.CAP_NET_BIND_SERVICE)
	}
	return out
}

func (i Isolate) filesBy(own []string) (c uintptr) {
	for _, f := range i.Files {
		switch {
		case f.Write && !i.isSharedDir(f):
			return unix.CAP_DAC_OVERRIDE
		case !f.Write && !isBelowDirs(f.Path, systemRun...):
			c = unix.CAP_DAC_READ_SEARCH
		}
	}
	for _, path := range own {
		if !isPassable(path) {
			c = unix.CAP_DAC_READ_SEARCH
		}
	}
	return c
}

// isSharedDir reports whether a file is a directory in the home that users of plugins may write.
func (i Isolate) isSharedDir(f File) bool {
	info, err := os.Stat(f.Path)
	return f.Write && i.Home != "" && isBelowDirs(f.Path, i.Home) && err == nil && info.IsDir()
}

func isBelowDirs(path string, dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool {
		return path == d || strings.HasPrefix(path, d+"/")
	})
}

// isPassable reports whether the users of plugins may pass all directories above a path, and read it when it is a file.
func isPassable(path string) bool {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() && info.Mode()&0o004 == 0 {
		return false
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return false
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if info.Mode()&0o001 == 0 && (!ok || st.Gid != pluginsGroup || info.Mode()&0o010 == 0) {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}
