package sdk

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
)

// releasePages gives back what only the start needed: memory, and pages of the program's own file. Kernels map all that
// is cached around a page that is used, 2 MiB at a time where the file is cached in huge pages, which is turned off.
// What is used again is mapped again. Mappings with pages of their own, as relocations make, are left alone.
func releasePages() {
	debug.FreeOSMemory()
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	var from, to uintptr
	own := false
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		switch {
		case len(f) > 5 && !strings.HasSuffix(f[0], ":"): // 00400000-00f5b000 r-xp 00000000 fe:00 1017 /path
			n, _ := fmt.Sscanf(f[0], "%x-%x", &from, &to)
			own = n == 2 && strings.Join(f[5:], " ") == program && !strings.Contains(f[1], "w")
		case own && slices.Equal(f, []string{"Anonymous:", "0", "kB"}):
			for _, advice := range [...]uintptr{syscall.MADV_NOHUGEPAGE, syscall.MADV_DONTNEED} {
				_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, from, to-from, advice)
			}
		}
	}
}

// closeMemory closes the process's memory, environment and descriptors below /proc to others of the same user, where
// Landlock does not, and keeps them out of core files.
func closeMemory() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0)
}
