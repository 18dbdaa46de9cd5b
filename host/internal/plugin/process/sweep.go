package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Sweep removes what a host that died left in the directory: the sockets, and
// processes that outlived it. A process is ended only if the record was written in this
// PID namespace since the machine was started, and pid, start time and executable are
// those of the record.
func (l *RunLock) Sweep(log *slog.Logger) error {
	files, err := filepath.Glob(filepath.Join(l.dir, "*", "p*", recordFile))
	if err != nil {
		return err
	}
	for _, file := range files {
		sweepOne(file, log)
	}
	// What is left are sockets, and directories without a record: the host died
	// between making and writing it. Anything else is not ours.
	for _, pattern := range []string{"p*", "host.sock"} {
		left, err := filepath.Glob(filepath.Join(l.dir, "*", pattern))
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

func sweepOne(file string, log *slog.Logger) {
	var r record
	b, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(b, &r) != nil {
		return // unreadable: nothing is known, so nothing is killed
	}
	if !r.isAlive() {
		return
	}
	log.Warn(
		"a plugin process has outlived its controller and is ended",
		"pid",
		r.PID,
		"executable",
		r.Executable,
	)
	if pg, err := unix.Getpgid(r.PID); err == nil && pg == r.PID {
		_ = unix.Kill(-r.PID, unix.SIGKILL)
	} else {
		_ = unix.Kill(r.PID, unix.SIGKILL)
	}
}

const recordFile = "process.json"

// record identifies a process beyond its pid, which the system gives away again.
type record struct {
	ident
	Executable string `json:"executable"`
	Boot       string `json:"boot"`      // since which start of the machine
	Namespace  string `json:"namespace"` // in which pid is its number
}

type ident struct {
	PID       int    `json:"pid"`
	StartTime uint64 `json:"start_time"` // clock ticks since boot
}

func writeRecord(dir string, pid int) error {
	r := record{
		ident:     ident{PID: pid, StartTime: startTime(pid)},
		Boot:      bootID(),
		Namespace: pidNamespace(),
	}
	r.Executable, _ = os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, recordFile), b, 0o600)
}

// startTime returns field 22 of /proc/PID/stat, 0 when there is no such process.
// The second field may hold blanks and parentheses, so counting begins after it.
func startTime(pid int) uint64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	s := string(b)
	f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	const field = 22 - 3 // the third is the first after the name
	if len(f) <= field {
		return 0
	}
	if f[0] == "Z" || f[0] == "X" {
		return 0 // ended, only not yet waited for: it may stay so under an init that does not reap
	}
	n, _ := strconv.ParseUint(f[field], 10, 64)
	return n
}

// isAlive reports whether the very process of the record runs still.
func (r record) isAlive() bool {
	if r.Boot == "" ||
		r.Boot != bootID() ||
		r.Namespace == "" ||
		r.Namespace != pidNamespace() ||
		!r.ident.isAlive() {
		return false
	}
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", r.PID))
	if errors.Is(err, fs.ErrPermission) {
		return true // a plugin closes that to the same user; the start time says enough
	}
	return err == nil && exe == r.Executable
}

func (i ident) isAlive() bool {
	return i.PID > 1 && i.StartTime != 0 && startTime(i.PID) == i.StartTime
}
