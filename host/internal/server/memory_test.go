package server

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMemoryLimit(t *testing.T) {
	const unlimited = "9223372036854771712" // of version 1
	for name, c := range map[string]struct {
		files map[string]string
		limit int64
		of    string
	}{
		"nothing is known":           {nil, 0, ""},
		"the machine":                {map[string]string{"proc/meminfo": "MemTotal:       1000 kB\n"}, 1000 << 10 / 4 * 3, "the machine"},
		"a group of version 2":       {map[string]string{"proc/meminfo": "MemTotal: 1000000 kB\n", "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000000\n"}, 900000, "/sys/fs/cgroup/a/b"},
		"a group above":              {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "1000000\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, 900000, "/sys/fs/cgroup/a"},
		"a group of version 1":       {map[string]string{"proc/self/cgroup": "4:memory:/x\n0::/\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "1000000\n"}, 900000, "/sys/fs/cgroup/memory/x"},
		"a group of no limit":        {map[string]string{"proc/meminfo": "MemTotal: 1000 kB\n", "proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": unlimited}, 1000 << 10 / 4 * 3, "the machine"},
		"a group of a container":     {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000000\n"}, 900000, "/sys/fs/cgroup"},
		"a group wider than machine": {map[string]string{"proc/meminfo": "MemTotal: 1000 kB\n", "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "100000000\n"}, 1000 << 10 / 4 * 3, "the machine"},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			path := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if limit, of := memoryLimit(root); limit != c.limit || of != c.of {
			t.Errorf("%s: %d of %q, not %d of %q", name, limit, of, c.limit, c.of)
		}
	}
}

// What the runtime may take follows what is live, so that garbage is a part of it only.
func TestMemoryLimitFollowsWhatIsLive(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		samples []uint64
		most    int64
		limit   int64
	}{
		"little is live":        {[]uint64{50 * mib}, 18000 * mib, 320 * mib},
		"much is live":          {[]uint64{800 * mib, 800 * mib}, 18000 * mib, 1056 * mib},
		"much for a moment":     {[]uint64{100 * mib, 900 * mib, 100 * mib}, 18000 * mib, 320 * mib},
		"more than there is":    {[]uint64{2000 * mib}, 1000 * mib, 1000 * mib},
		"less than it may have": {[]uint64{10 * mib}, 200 * mib, 200 * mib},
		"not known what is":     {[]uint64{800 * mib}, 0, 1056 * mib},
	} {
		if limit := nextLimit(c.samples, c.most); limit != c.limit {
			t.Errorf("%s: %d MiB, not %d", name, limit/mib, c.limit/mib)
		}
	}
}
