package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clockTick is the unit of /proc/PID/stat: Linux shows programs 100 of them a second on every architecture.
const clockTick = 10 * time.Millisecond

// Process is one that runs.
type Process struct {
	PID, Parent int
	Name        string        // of its program, 15 letters at most
	Used        time.Duration // of the processors, so far
}

// Family is a process and all below it.
func Family(pid int) []Process {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	children := map[int][]Process{}
	var out []Process
	for _, file := range files {
		text, err := os.ReadFile(file)
		// a name may hold anything
		open := strings.IndexByte(string(text), '(')
		end := strings.LastIndexByte(string(text), ')')
		if err != nil || open < 0 || end < open {
			continue // it has ended
		}
		f := strings.Fields(string(text[end+1:]))
		if len(f) < 13 {
			continue
		}
		number := func(s string) int { n, _ := strconv.Atoi(s); return n }
		p := Process{
			PID:    number(filepath.Base(filepath.Dir(file))),
			Parent: number(f[1]),
			Name:   string(text[open+1 : end]),
			Used:   time.Duration(number(f[11])+number(f[12])) * clockTick,
		}
		if p.PID == pid {
			out = append(out, p)
		}
		children[p.Parent] = append(children[p.Parent], p)
	}
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i].PID]...)
	}
	return out
}

// ChildOf finds the process below another that runs a program; 0: there is none.
func ChildOf(parent int, program string) int {
	family := Family(parent)
	i := slices.IndexFunc(family, func(p Process) bool {
		return p.PID != parent && p.Name == program
	})
	if i >= 0 {
		return family[i].PID
	}
	return 0
}

// Used is the processor time of a process alone, so far. On a machine that others use too it is a steadier
// measure than the rate.
func Used(pid int) time.Duration {
	for _, p := range Family(pid) {
		return p.Used
	}
	return 0
}

// UsedByAll is Used of a process and all below it.
func UsedByAll(pid int) (sum time.Duration) {
	for _, p := range Family(pid) {
		sum += p.Used
	}
	return sum
}

// Self is the processor time that this process has used.
func Self() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Memory is that of a process in KiB: "VmRSS", what it has now, or "VmHWM", the most it ever had.
func Memory(pid int, what string) (kib int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, what+":"); ok {
			kib, _ = strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(v), " kB"))
		}
	}
	return kib
}
