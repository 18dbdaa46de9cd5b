package server

import (
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
)

// limitMemory makes the collector of the runtime work harder before the controller has all memory that there is: of its
// control group nine tenths, else of the machine three quarters. GOMEMLIMIT comes first.
func limitMemory(log *slog.Logger, root string) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	limit, of := memoryLimit(root)
	if limit <= 0 {
		return
	}
	debug.SetMemoryLimit(limit)
	log.Debug("the memory limit of the runtime is set", "bytes", limit, "of", of)
}

// memoryLimit is the limit in bytes and what it is a part of; 0 when neither is known. root is where /proc and /sys are.
func memoryLimit(root string) (limit int64, of string) {
	if total := machineMemory(root); total > 0 {
		limit, of = total/4*3, "the machine"
	}
	for _, group := range memoryGroups(root) {
		if most := groupLimit(group); most > 0 && (limit == 0 || most/10*9 < limit) {
			limit, of = most/10*9, strings.TrimPrefix(group, root)
		}
	}
	return limit, of
}

func machineMemory(root string) int64 {
	text, _ := os.ReadFile(filepath.Join(root, "proc/meminfo")) // empty: not known
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemTotal:" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	return 0
}

// memoryGroups are the directories of the control groups, of both versions, that this process is in and that bound
// memory, with those above.
func memoryGroups(root string) (out []string) {
	text, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 {
			continue
		}
		var mounts []string
		switch {
		case f[0] == "0" && f[1] == "":
			mounts = []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}
		case strings.Contains(","+f[1]+",", ",memory,"):
			mounts = []string{"sys/fs/cgroup/memory"}
		}
		for _, m := range mounts {
			for path := filepath.Clean(f[2]); ; path = filepath.Dir(path) {
				out = append(out, filepath.Join(root, m, path))
				if path == "/" || path == "." {
					break
				}
			}
		}
	}
	return out
}

// groupLimit is the limit of a control group in bytes, 0 for none.
func groupLimit(dir string) int64 {
	for _, name := range []string{"memory.max", "memory.high", "memory.limit_in_bytes"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 && n < math.MaxInt64/2 { // "max", or a number that means it
			return n
		}
	}
	return 0
}
