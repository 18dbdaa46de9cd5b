package service

import (
	"fmt"
	"syscall"
)

// spare descriptors are for all that is not a switch.
const spare = 64

// descriptors raises the limit of open files as far as it goes, and returns how many
// of the connections wanted fit, with a warning for the operator when not all do.
func descriptors(wanted int) (int, string) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return wanted, "the limit of open files is not known: " + err.Error()
	}
	need := uint64(wanted + spare)
	if l.Cur < need {
		raised := l
		raised.Cur = min(need, l.Max)
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised); err == nil {
			l = raised
		}
	}
	if l.Cur >= need {
		return wanted, ""
	}
	fit := max(int(l.Cur)-spare, 1)
	return fit, fmt.Sprintf("only %d of limits.connections: %d fit into the limit of open files, %d; raise it (LimitNOFILE of the service, ulimit -Hn)", fit, wanted, l.Cur)
}
