//go:build peers

package truthpeers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

// traced reports whether every thread of a process has a tracer, or the process has ended.
func traced(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, thread := range threads {
		status, err := os.ReadFile(thread)
		if err == nil && strings.Contains(string(status), "TracerPid:\t0\n") {
			return false
		}
	}
	return true
}

// disk is a file system of the test's own, ext4 that becomes read-only at its first error.
type disk struct {
	t                *testing.T
	image, dir, loop string
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	where := reserve.Dir(t, "ctl-disk")
	d := &disk{t: t, image: filepath.Join(where, "image"), dir: filepath.Join(where, "d")}
	err := os.WriteFile(d.image, nil, 0o600)
	if err == nil {
		err = os.Truncate(d.image, 1<<30)
	}
	if err == nil {
		err = os.Mkdir(d.dir, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(harness.Deadline(t), "mkfs.ext4", "-q", "-F", d.image).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: the peer mkfs.ext4 (e2fsprogs) does not work here: %v\n%s", err, out)
	}
	t.Cleanup(func() { _ = unix.Unmount(d.dir, unix.MNT_DETACH) })
	d.mount()
	return d
}

func (d *disk) run(name string, args ...string) string {
	d.t.Helper()
	out, err := exec.CommandContext(harness.Deadline(d.t), name, args...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (d *disk) mount() {
	d.t.Helper()
	if out, err := exec.CommandContext(harness.Deadline(d.t), "mount", "-o", "loop,errors=remount-ro", d.image, d.dir).CombinedOutput(); err != nil {
		d.t.Skipf("SKIPPED, NOT TESTED: the peer, ext4 on a loop device, needs root and a kernel with both: %v\n%s", err, out)
	}
	d.loop = d.run("findmnt", "-n", "-o", "SOURCE", d.dir)
}

// fail makes the kernel find an error in the file system.
func (d *disk) fail() {
	d.t.Helper()
	if err := os.WriteFile("/sys/fs/ext4/"+filepath.Base(d.loop)+"/trigger_fs_error", []byte("1"), 0o200); err != nil {
		d.t.Skip("SKIPPED, NOT TESTED: the peer, a kernel whose ext4 can be asked for an error (trigger_fs_error), is not here: ", err)
	}
}

// repair is what an operator does who finds it read-only.
func (d *disk) repair() {
	d.t.Helper()
	d.run("umount", d.dir)
	if out, err := exec.CommandContext(harness.Deadline(d.t), "fsck.ext4", "-f", "-p", d.image).CombinedOutput(); err != nil && !strings.Contains(err.Error(), "exit status 1") {
		d.t.Fatalf("fsck: %v\n%s", err, out)
	}
	d.mount()
}

// fill leaves no byte free until the file that it returns is removed.
func (d *disk) fill() (file string) {
	d.t.Helper()
	file = filepath.Join(d.dir, "filled")
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for size, at := int64(64<<20), int64(0); size >= 4096; {
		if unix.Fallocate(int(f.Fd()), 0, at, size) == nil {
			at += size
		} else {
			size /= 2
		}
	}
	return file
}

// diskChaos makes the faults of a node with a store of its own, and returns their rows of the table.
func diskChaos(t *testing.T) []string {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer strace is not installed (test/peers/install.sh installs it as root)")
	}
	d := newDisk(t)
	address := fmt.Sprint("127.0.0.1:", reserve.Port(t, "tcp", "127.0.0.1"))
	c := harness.Run(t, harness.Options{Bin: bin, Home: filepath.Join(d.dir, "home"), Files: settings(t), Args: []string{"--http", address}})
	c.Ctl("feature:install ctl-bier-all")
	installRogue(t, c)
	var filled string
	var stop func()
	faults := []chaos{
		{"one node: kill -9, and started again at once", func() { c.Kill(); c.Launch() }, func() {}, false},
		{"one node: a hostile plugin hangs, floods and crashes", func() { stop = actRogue(t, c) }, func() { stop() }, true},
		{"one node: the disk is full (ENOSPC)", func() { filled = d.fill() }, func() { remove(t, filled) }, true},
		{"one node: the disk fails (EIO of fsync), then a restart", func() {
			stop = inject(t, c.PID(), "fsync,fdatasync,msync", "EIO")
		}, func() { stop(); c.Stop(); c.Launch() }, true},
		{"one node: the file system becomes read-only, then fsck and a restart", d.fail, func() { c.Kill(); d.repair(); c.Launch() }, false},
	}
	return makeChaos(t, "o", reached(c), faults)
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}
