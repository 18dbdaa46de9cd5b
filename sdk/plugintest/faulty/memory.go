package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"ctl.internal/sdk/host"
)

// Acts against the memory of the host, and of the machine.

// rewriters write at once.
const rewriters = 4

// rewrite replaces 8 values of 1 MB, without a pause, for a time. Refused is the last refusal.
func rewrite(ctx context.Context, h *host.Client, d time.Duration) actOutcome {
	value := bytes.Repeat([]byte("v"), 1_000_000)
	var t host.Txn
	for i := range 8 {
		t.Ops = append(t.Ops, host.Op{
			Key:   fmt.Sprint("rewritten/", i),
			Value: value,
		})
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var work sync.WaitGroup
	var made atomic.Int64
	var refusal atomic.Pointer[error]
	for range rewriters {
		work.Go(func() {
			for ctx.Err() == nil {
				if _, err := h.Datastore.Commit(ctx, t); err == nil {
					made.Add(1)
				} else if ctx.Err() == nil {
					refusal.Store(&err)
				}
			}
		})
	}
	work.Wait()
	out := actOutcome{Taken: int(made.Load())}
	if err := refusal.Load(); err != nil {
		out.Refused = errorReason(*err)
	}
	return out
}

// unread opens streams of three kinds, as many as the numbers say, and reads none of them. They are opened again when
// they end, while the process lives.
func unread(h *host.Client, follows, subscriptions, ranges int) actOutcome {
	ctx := context.Background()
	again := func(n int, open func() error) {
		for range n {
			go func() {
				for {
					_ = open()
					host.Pause(ctx, 100*time.Millisecond)
				}
			}()
		}
	}
	again(follows, func() error {
		return h.Datastore.Follow(ctx, []host.Prefix{{Space: host.Private}}, deaf{})
	})
	again(subscriptions, func() error {
		return h.Events.Subscribe(ctx, []string{"faulty-events"}, func(host.Received) error {
			return errDeaf()
		})
	})
	again(ranges, func() error {
		for range h.Datastore.Range(ctx, host.Private, "") {
			return errDeaf()
		}
		return nil
	})
	return actOutcome{Taken: follows + subscriptions + ranges}
}

// errDeaf does not return while a host waits for what it sends to be read.
func errDeaf() error {
	host.Pause(context.Background(), time.Minute)
	return errors.New("not read")
}

// deaf follows and does not listen.
type deaf struct{}

func (deaf) Reset(uint64, []host.Event) error {
	return errDeaf()
}
func (deaf) Apply(uint64, []host.Event) error {
	return errDeaf()
}

// fillMemfd writes so many MiB, as far as it goes, into a file that is memory only.
func fillMemfd(mib int) actOutcome {
	fd, err := unix.MemfdCreate("eaten", unix.MFD_CLOEXEC)
	if err != nil {
		return actOutcome{Refused: errorReason(err)}
	}
	page := bytes.Repeat([]byte("m"), 1<<20)
	return repeatAct(min(mib, mostMiB), func(int) error {
		_, err := unix.Write(fd, page)
		return err
	})
}
