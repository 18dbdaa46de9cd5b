package main

import (
	"syscall"
	"time"
)

// spent is the processor time this process has used: on a busy machine it says more
// than the clock.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// best keeps the least of what several rounds took, by the clock and of the processor.
type best struct{ clock, cpu time.Duration }

func never() best { return best{time.Hour, time.Hour} }

// round runs f and keeps what it took, if that is less.
func (b *best) round(f func() error) error {
	start, used := time.Now(), spent()
	err := f()
	b.clock, b.cpu = min(b.clock, time.Since(start)), min(b.cpu, spent()-used)
	return err
}
