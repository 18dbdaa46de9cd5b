package server

import (
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Within leastMemory the collector of the runtime works as little as gcPercent has it. Beyond, the memory of the runtime
// may be a quarter more than what is live, and moreMemory: not four times as much.
const (
	leastMemory = 320 << 20
	moreMemory  = 64 << 20
)

// memorySamples are the last so many measurements, one a second. The smallest counts, so that a moment in which the store
// writes a table does not let the heap grow.
const memorySamples = 3

// followMemory sets the memory limit of the runtime by what is live, until ctx ends, never above what there is: of its
// control group nine tenths, else of the machine three quarters. GOMEMLIMIT comes first.
func followMemory(ctx context.Context, log *slog.Logger, root string) error {
	if os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	most, of := memoryLimit(root)
	log.Debug("the memory of the runtime is limited", "bytes", most, "of", of)
	var samples []uint64
	last := int64(0)
	for tick := time.Tick(time.Second); ; {
		samples = append(samples[max(0, len(samples)-memorySamples+1):], liveMemory())
		if next := nextLimit(samples, most); next != last {
			debug.SetMemoryLimit(next)
			last = next
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return nil
		}
	}
}

// nextLimit returns the limit for measurements of what is live; most is 0 when it is not known.
func nextLimit(samples []uint64, most int64) int64 {
	const step = 16 << 20 // of the limit, so that it does not change each second
	live := int64(slices.Min(samples))
	limit := max(leastMemory, (live+live/4+moreMemory)/step*step)
	if most > 0 {
		limit = min(limit, most)
	}
	return limit
}

// liveMemory is what the last collection found live, and the stacks.
func liveMemory() uint64 {
	found := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(found)
	return found[0].Value.Uint64() + found[1].Value.Uint64()
}

// memoryLimit is the limit in bytes and what it is a part of; 0 when neither is known. root is where /proc and /sys are.
func memoryLimit(root string) (limit int64, of string) {
	if total := machineMemory(root); total > 0 {
		limit, of = total/4*3, "the machine"
	}
	for _, group := range memoryGroups(root) {
		most := groupLimit(group)
		if most > 0 && (limit == 0 || most/10*9 < limit) {
			limit, of = most/10*9, strings.TrimPrefix(group, root)
		}
	}
	return limit, of
}

func machineMemory(root string) int64 {
	text, _ := os.ReadFile(filepath.Join(root, "proc/meminfo")) // empty: not known
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) > 1 && f[0] == "MemTotal:" {
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
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil &&
			n > 0 &&
			n < math.MaxInt64/2 { // "max", or a number that means it
			return n
		}
	}
	return 0
}
