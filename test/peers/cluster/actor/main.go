package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/state"
)

//go:embed plugin.yaml
var manifest []byte

//go:embed yang/*.yang
var modules embed.FS

// record is what is kept. A test builds a later release of it with one field more.
type record struct {
	Name  string `json:"name"`
	Count uint32 `json:"count"`
	// one more field
}

// act is one line of the file.
type act struct {
	Epoch uint64 `json:"epoch"`
	PID   int    `json:"pid"`
	At    int64  `json:"at"`              // CLOCK_BOOTTIME
	Store uint64 `json:"store,omitempty"` // revision of a fenced commit
}

func main() {
	sdk.Serve(sdk.Options{
		Manifest: manifest,
		YANG:     modules,
		New:      newPlugin,
	})
}

func newPlugin(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	var settings struct {
		Acts string `json:"acts"`
	}
	if err := env.DecodeConfig(&settings); err != nil {
		return nil, err
	}
	records := state.NewTable[record](state.Private("record/"))
	terms := state.NewTable[int64](state.Private("term"))
	ctx, cancel := context.WithCancel(context.Background())
	store, err := state.Open(ctx, env.Host, records, terms)
	if err != nil {
		cancel()
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		store.Role(ctx, "act", func(ctx context.Context, term *state.Term) {
			performActs(ctx, term, terms, settings.Acts)
		})
	}()
	return &sdk.Plugin{
		Operations: operations.Mux{
			"actor:put": operations.Func(func(ctx context.Context, in record) (out record, err error) {
				_, err = store.Update(ctx, func(tx *state.Tx) error {
					out, _ = records.Get(tx, in.Name)
					out.Name = in.Name
					out.Count++
					// and set it
					return records.Put(tx, in.Name, out)
				})
				return out, err
			}),
			"actor:get": operations.Func(func(_ context.Context, in record) (record, error) {
				out, ok := records.Get(store.Now(), in.Name)
				if !ok {
					return out, fault.New(fault.NotFound, "there is no record %q", in.Name)
				}
				return out, nil
			}),
		},
		Stop: func(context.Context) error { cancel(); <-done; return nil },
	}, nil
}

// performActs acts until the term ends. Every tenth act is a commit, too.
func performActs(ctx context.Context, term *state.Term, terms *state.Table[int64], file string) {
	if file == "" {
		<-ctx.Done()
		return
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		slog.Error("acts cannot be noted", "error", err)
		return
	}
	defer f.Close()
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		a := act{Epoch: term.Epoch(), PID: os.Getpid()}
		if n%10 == 0 {
			rev, err := term.Update(ctx, func(tx *state.Tx) error {
				return terms.Put(tx, "", int64(n))
			})
			if err == nil {
				a.Store = rev
			}
		}
		if term.Check() != nil {
			return
		}
		a.At = bootTimeNanos()
		line, _ := json.Marshal(a)
		if _, err := fmt.Fprintf(f, "%s\n", line); err != nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func bootTimeNanos() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts)
	return ts.Nano()
}
