package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Freeze stops a process, or with a negative pid a process group as kill(2) has it, and waits until every thread of it
// stands still: until then it may answer.
func Freeze(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	Within(t, fmt.Sprintf("process %d stands still", pid), func() bool {
		pattern := fmt.Sprintf("/proc/%d/task/*/stat", pid)
		if pid < 0 {
			pattern = "/proc/[0-9]*/task/*/stat"
		}
		threads, _ := filepath.Glob(pattern)
		for _, thread := range threads {
			stat, err := os.ReadFile(thread)
			if err != nil {
				continue // it has ended
			}
			// After the name, which is in brackets: state, parent, process group.
			words := strings.Fields(string(stat)[strings.LastIndexByte(string(stat), ')')+1:])
			if len(words) < 3 || pid < 0 && words[2] != strconv.Itoa(-pid) {
				continue
			}
			if words[0] != "T" && words[0] != "Z" && words[0] != "X" {
				return false
			}
		}
		return true
	})
}
