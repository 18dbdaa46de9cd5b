package service

import (
	"fmt"
	"syscall"
)

// spare descriptors are for all that is not a switch.
const spare = 64

// descriptors returns how many of the connections wanted fit into the limit of open files,
// with a warning for the operator when not all do. Go's runtime has raised the soft limit
// to the hard one.
func descriptors(wanted int) (int, string) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return wanted, "the limit of open files is not known: " + err.Error()
	}
	if l.Cur >= uint64(wanted+spare) {
		return wanted, ""
	}
	fit := max(int(l.Cur)-spare, 1)
	return fit, fmt.Sprintf("only %d of limits.connections: %d fit into the limit of open files, %d; raise it (LimitNOFILE of the service, ulimit -Hn)", fit, wanted, l.Cur)
}
