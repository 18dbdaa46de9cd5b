package process

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Sweep removes what a host that died left in the run directory: the sockets, and
// processes that outlived it. A process is ended only if pid, start time and
// executable are those of the record. It fails when another host is using the
// directory.
func Sweep(runDir string, log *slog.Logger) error {
	dirs, err := filepath.Glob(filepath.Join(runDir, "*", "p*", recordFile))
	if err != nil {
		return err
	}
	for _, file := range dirs {
		if err := sweepOne(file, log); err != nil {
			return err
		}
	}
	// What is left are sockets, and directories without a record: the host died
	// between making and writing it. Anything else is not ours.
	for _, pattern := range []string{"p*", "host.sock"} {
		left, err := filepath.Glob(filepath.Join(runDir, "*", pattern))
		if err != nil {
			return err
		}
		for _, path := range left {
			_ = os.RemoveAll(path)
			_ = os.Remove(filepath.Dir(path)) // fails while it holds something
		}
	}
	return nil
}

func sweepOne(file string, log *slog.Logger) error {
	var r record
	b, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(b, &r) != nil {
		return nil // unreadable: nothing is known, so nothing is killed
	}
	if r.Host.PID != os.Getpid() && r.Host.alive() {
		return fmt.Errorf("the run directory %s is in use by another controller, process %d",
			filepath.Dir(filepath.Dir(filepath.Dir(file))), r.Host.PID)
	}
	if r.alive() {
		log.Warn("a plugin process has outlived its controller and is ended", "pid", r.PID, "executable", r.Executable)
		if pg, err := unix.Getpgid(r.PID); err == nil && pg == r.PID {
			_ = unix.Kill(-r.PID, unix.SIGKILL)
		} else {
			_ = unix.Kill(r.PID, unix.SIGKILL)
		}
	}
	return nil
}
