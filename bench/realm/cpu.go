package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of /proc/PID/stat on Linux.
const tick = 10 * time.Millisecond

// used is the processor time of a process so far.
func used(pid int) time.Duration {
	fields := stat(strconv.Itoa(pid))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick
}

// child finds the process that a parent started from a program of a name.
func child(parent int, program string) int {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid := filepath.Base(dir)
		if f := stat(pid); len(f) > 1 && f[1] == strconv.Itoa(parent) {
			line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			if strings.Contains(string(line), program) {
				n, _ := strconv.Atoi(pid)
				return n
			}
		}
	}
	return 0
}

// stat is /proc/PID/stat behind the name of the program: state, parent and so on.
func stat(pid string) []string {
	text, _ := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.Fields(rest)
}
