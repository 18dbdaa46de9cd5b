package sdk

import "syscall"

// closeMemory closes the process's memory, environment and descriptors below /proc to others of the same user, where
// Landlock does not, and keeps them out of core files.
func closeMemory() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0)
}
