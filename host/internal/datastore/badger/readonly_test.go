package badger

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
	"ctl.internal/test/harness"
)

const ext4Env = "CTL_TEST_STORE_EXT4"

// A file system that was made read-only under the store refuses each write and says so;
// the process lives and reads go on.
func TestAFileSystemThatBecomesReadOnly(t *testing.T) {
	where := os.Getenv(ext4Env)
	if where == "" {
		alone(t, ext4Env)
		return
	}
	disk, device := mountExt4(t, where)
	s, err := Open(Options{Dir: filepath.Join(disk, "store")})
	if err != nil {
		t.Fatal(err)
	}
	put := func(value string) error {
		_, err := s.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "k", []byte(value))}})
		return err
	}
	if err := put("1"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("/sys/fs/ext4/"+filepath.Base(device)+"/trigger_fs_error", []byte("1"), 0o200); err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer, a kernel whose ext4 can be asked for an error (trigger_fs_error), is not here: ", err)
	}
	for range 3 {
		err := put("2")
		if !errors.Is(err, datastore.ErrDisk) || fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "repair") {
			t.Fatalf("on a read-only file system: %v", err)
		}
	}
	if e, err := datastore.Get(context.Background(), s, "n", "k"); err != nil || string(e.Value) != "1" {
		t.Errorf("a read: %q, %v", e.Value, err)
	}
}

// What the disk was given and did not store is unknown, what comes after is refused.
func TestADiskThatFails(t *testing.T) {
	s := openAt(t, t.TempDir(), 0)
	put := func() error {
		_, err := s.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "k", nil)}})
		return err
	}
	if err := put(); err != nil || s.Failed() != nil {
		t.Fatal(err, s.Failed())
	}
	err := s.failDisk(syscall.EIO)
	if fault.KindOf(err) != fault.Timeout || !errors.Is(err, datastore.ErrDisk) || !strings.Contains(err.Error(), "not known") {
		t.Errorf("the first: %v", err)
	}
	err = put()
	if fault.KindOf(err) != fault.Unavailable || !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "restart") || s.Failed() == nil {
		t.Errorf("the next: %v", err)
	}
	if _, err := datastore.Get(context.Background(), s, "n", "k"); err != nil {
		t.Errorf("a read: %v", err)
	}
	s.failed.Store(nil)
}

// alone runs the test again in a process with mounts of its own; variable names a directory.
func alone(t *testing.T, variable string) {
	t.Helper()
	cmd := exec.CommandContext(harness.Deadline(t), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), variable+"="+t.TempDir(), leaksEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, os.ErrPermission):
		t.Skip("SKIPPED, NOT TESTED: the peer, a file system of the test's own, needs root to be mounted")
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("SKIPPED, NOT TESTED: the peer, a file system whose errors can be made, is not here:\n%s", out)
	}
	t.Logf("%s", out)
}

// mountExt4 makes an ext4 that becomes read-only at its first error, and mounts it.
func mountExt4(t *testing.T, where string) (disk, device string) {
	t.Helper()
	image := filepath.Join(where, "image")
	disk = filepath.Join(where, "disk")
	run := func(name string, args ...string) string {
		out, err := exec.CommandContext(harness.Deadline(t), name, args...).CombinedOutput()
		if err != nil {
			t.Skipf("SKIPPED, NOT TESTED: the peer, ext4 on a loop device, cannot be had: %s %v: %v\n%s", name, args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if err := errors.Join(os.Mkdir(disk, 0o700), os.WriteFile(image, nil, 0o600), os.Truncate(image, 200<<20)); err != nil {
		t.Fatal(err)
	}
	run("mkfs.ext4", "-q", "-F", image)
	run("mount", "-o", "loop,errors=remount-ro", image, disk)
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	return disk, run("findmnt", "-n", "-o", "SOURCE", disk)
}
