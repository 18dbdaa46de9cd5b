package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const recordFile = "process.json"

// record identifies a process beyond its pid, which the system gives away again.
type record struct {
	PID        int    `json:"pid"`
	StartTime  uint64 `json:"start_time"` // clock ticks since boot
	Executable string `json:"executable"`
	Host       ident  `json:"host"`
}

type ident struct {
	PID       int    `json:"pid"`
	StartTime uint64 `json:"start_time"`
}

func writeRecord(dir string, pid int) error {
	self := os.Getpid()
	r := record{PID: pid, StartTime: startTime(pid), Host: ident{PID: self, StartTime: startTime(self)}}
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

// alive reports whether the very process of the record runs still.
func (r record) alive() bool {
	if r.PID <= 1 || r.StartTime == 0 || startTime(r.PID) != r.StartTime {
		return false
	}
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", r.PID))
	if errors.Is(err, fs.ErrPermission) {
		return true // a plugin closes that to the same user; the start time says enough
	}
	return err == nil && exe == r.Executable
}

func (i ident) alive() bool {
	return i.PID > 1 && i.StartTime != 0 && startTime(i.PID) == i.StartTime
}
