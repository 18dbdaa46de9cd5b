package fault_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"ctl.internal/sdk/fault"
)

// A disk that is full, read-only or broken is no defect of the program.
func TestAFileThatItsDiskDoesNotTake(t *testing.T) {
	for _, c := range []struct {
		err  error
		want fault.Kind
	}{
		{&fs.PathError{Op: "write", Path: "/a", Err: syscall.EROFS}, fault.Unavailable},
		{fmt.Errorf("save: %w", &fs.PathError{Op: "sync", Path: "/a", Err: syscall.EIO}), fault.Unavailable},
		{&os.LinkError{Op: "rename", Old: "/a", New: "/b", Err: syscall.ENOSPC}, fault.Unavailable},
		{&fs.PathError{Op: "open", Path: "/a", Err: syscall.EDQUOT}, fault.Unavailable},
		{&fs.PathError{Op: "open", Path: "/a", Err: syscall.ENOENT}, fault.Internal},
		{&os.SyscallError{Syscall: "inotify_add_watch", Err: syscall.ENOSPC}, fault.Internal},
		{syscall.EIO, fault.Internal},
	} {
		all := fault.All(c.err)
		if all[0].Kind != c.want {
			t.Errorf("%v is %v, want %v", c.err, all[0].Kind, c.want)
		}
		if c.want == fault.Unavailable && (strings.Contains(all[0].Text, "/a") || !strings.Contains(all[0].Text, "ctl doctor")) {
			t.Errorf("%v is reported as %q", c.err, all[0].Text)
		}
	}
}
