package badger

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

const (
	mountEnv  = "CTL_TEST_STORE_MOUNT"
	secondEnv = "CTL_TEST_STORE_SECOND"
)

// On a disk that is really full (a tmpfs of its own) the store refuses and goes on, an end
// loses nothing, and a start says what it needs and works when there is room.
func TestARealFullDisk(t *testing.T) {
	disk, again := os.Getenv(mountEnv), os.Getenv(secondEnv)
	if disk == "" {
		cmd := sameTest(mountEnv+"="+t.TempDir(), leaksEnv+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		out, err := cmd.CombinedOutput()
		if errors.Is(err, os.ErrPermission) {
			t.Skip("SKIPPED, NOT TESTED: the peer, a file system that is full, needs root to be mounted")
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
		return
	}
	if again == "" {
		if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=120m"); err != nil {
			t.Fatal(err)
		}
	}
	dir, ballast := filepath.Join(disk, "store"), filepath.Join(disk, "ballast")
	fill := func(leave int64) {
		t.Helper()
		_ = os.Remove(ballast)
		free, err := freeOn(disk)
		if err == nil {
			err = os.WriteFile(ballast, make([]byte, max(0, free-leave)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	isFull := func(err error) {
		t.Helper()
		if !errors.Is(err, datastore.ErrFull) || fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "make room") {
			t.Fatalf("on a full disk: %v", err)
		}
	}
	acked, _ := strconv.Atoi(again)
	value := strings.Repeat("v", 100<<10)
	if again != "" { // a process later, with the disk still full
		_, err := Open(Options{Dir: dir})
		isFull(err)
		t.Log(err)
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		s := openAt(t, dir, 0)
		for i := max(0, acked-40); i < acked; i++ {
			e, err := datastore.Get(context.Background(), s, "n", strconv.Itoa(i%40))
			if err != nil || string(e.Value) != strconv.Itoa(i)+value {
				t.Errorf("acknowledged write %d: %.10q, %v", i, e.Value, err)
			}
		}
		return
	}
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	write := func() error {
		op := datastore.Put("n", strconv.Itoa(acked%40), []byte(strconv.Itoa(acked)+value))
		_, err := s.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{op}})
		if err == nil {
			acked++
		}
		return err
	}
	fill(30 << 20)
	for err = write(); err == nil; err = write() {
	}
	isFull(err)
	if acked == 0 {
		t.Fatal("nothing was written with 30 MiB free")
	}
	fill(60 << 20)
	if err := write(); err != nil {
		t.Fatalf("with room again: %v", err)
	}
	// Others take all space between the check and the write: it was allocated before, and what does not fit is refused.
	s.free = func(dir string) (int64, error) { return 1 << 40, nil }
	if err := write(); err != nil {
		t.Fatal(err)
	}
	fill(0)
	if err := write(); err != nil {
		t.Fatalf("on a disk that was filled at once: %v", err)
	}
	for err = write(); err == nil; err = write() {
	}
	isFull(err)
	s.free = freeOn
	isFull(write())
	isFull(s.Close())
	s.lock.Close() // as the end of the process would; Badger's own lock goes only with that
	cmd := sameTest(secondEnv + "=" + strconv.Itoa(acked))
	// This process ends before the other one opens the store.
	if err := syscall.Exec(cmd.Path, cmd.Args, cmd.Env); err != nil {
		t.Fatal(err)
	}
}

func sameTest(env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestARealFullDisk$", "-test.v")
	cmd.Env = append(os.Environ(), env...)
	return cmd
}
