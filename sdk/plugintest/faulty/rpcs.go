package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"ctl.internal/sdk"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/switchdriver"
)

type text struct {
	Text string `json:"text"`
}

type number struct {
	Number uint64 `json:"number"`
}

type none = operations.None

// stderr is the real one: go-plugin replaces os.Stderr when it serves.
var stderr = os.Stderr

func operationsOf(env *sdk.Env) operations.Handler {
	var served atomic.Uint64
	mux := operations.Mux{
		"faulty:echo":  operations.Func(func(_ context.Context, in text) (text, error) { return in, nil }),
		"faulty:wait":  operations.Func(wait),
		"faulty:fail":  operations.Func(fail),
		"faulty:count": operations.Func(func(context.Context, none) (number, error) { return number{served.Load()}, nil }),
		"faulty:panic": act(func() { panic("in the handler") }),
		"faulty:panic-goroutine": act(func() {
			go panic("in a goroutine")
			select {}
		}),
		"faulty:crash": act(kill),
		"faulty:hang":  act(func() { select {} }),
		"faulty:crash-once": act(func() {
			mark := filepath.Join(env.DataDir, "crashed")
			if _, err := os.Stat(mark); err != nil {
				_ = os.WriteFile(mark, nil, 0o600)
				kill()
			}
		}),
		"faulty:exit": operations.Func(func(_ context.Context, in struct{ Code int }) (none, error) {
			fmt.Fprintln(stderr, "leaving with", in.Code)
			os.Exit(in.Code)
			return none{}, nil
		}),
		"faulty:spawn": operations.Func(spawn),
		"faulty:flood": operations.Func(func(_ context.Context, in struct{ Lines int }) (none, error) {
			for i := range in.Lines {
				slog.Info("flood", "line", i)
			}
			return none{}, nil
		}),
		"faulty:log":   operations.Func(func(_ context.Context, in text) (none, error) { fmt.Fprintln(stderr, in.Text); return none{}, nil }),
		"faulty:print": operations.Func(func(_ context.Context, in text) (none, error) { fmt.Println(in.Text); return none{}, nil }),
		"faulty:huge-line": operations.Func(func(_ context.Context, in struct{ Bytes int }) (none, error) {
			fmt.Fprintln(stderr, strings.Repeat("x", in.Bytes))
			return none{}, nil
		}),
		"faulty:big": operations.Func(func(_ context.Context, in struct{ Bytes int }) (text, error) {
			return text{strings.Repeat("x", in.Bytes)}, nil
		}),
		"faulty:environment": operations.Func(func(context.Context, none) (any, error) {
			return map[string][]string{"variable": os.Environ()}, nil
		}),
		"faulty:who": operations.Func(func(ctx context.Context, _ none) (any, error) {
			who, _ := caller.From(ctx)
			return map[string]string{"user": who.User, "request-id": who.RequestID}, nil
		}),
		"faulty:health": operations.Func(func(_ context.Context, in struct{ State, Text string }) (none, error) {
			env.Health(sdk.Health{State: states[in.State], Reason: in.Text})
			return none{}, nil
		}),
		"faulty:host": operations.Func(func(ctx context.Context, in hostCall) (text, error) { return in.make(ctx, env.Host) }),
		"faulty:act":  operations.Func(func(ctx context.Context, in hostileAct) (actOutcome, error) { return in.make(ctx, env) }),
		"faulty:relay": operations.Func(func(ctx context.Context, in struct{ Provider string }) (number, error) {
			slog.InfoContext(ctx, "relaying")
			ports, err := switchdriver.NewClient(env.Host.Switchboard.Dial(in.Provider)).ReadPorts(ctx, &switchdriver.Switch{NodeId: 7})
			if err != nil {
				return number{}, err
			}
			return number{uint64(ports[0].Number)}, nil
		}),
	}
	return operations.HandlerFunc(func(ctx context.Context, r *operations.Request) (any, error) {
		served.Add(1)
		return mux.Invoke(ctx, r)
	})
}

func act(f func()) operations.Handler {
	return operations.Func(func(context.Context, none) (none, error) { f(); return none{}, nil })
}

func kill() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func wait(ctx context.Context, in struct{ Milliseconds int }) (none, error) {
	slog.Info("the wait has begun")
	select {
	case <-time.After(time.Duration(in.Milliseconds) * time.Millisecond):
		return none{}, nil
	case <-ctx.Done():
		slog.Info("cancelled")
		return none{}, ctx.Err()
	}
}

func fail(_ context.Context, in struct {
	Kind int32
	Text string
}) (none, error) {
	return none{}, fault.At(fault.Kind(in.Kind), "/faulty:fail/input/kind", "%s", in.Text)
}

func spawn(_ context.Context, in struct {
	OwnGroup bool `json:"own-group"`
}) (map[string]int, error) {
	if in.OwnGroup { // in a session of its own, and its parent ends
		c := exec.Command("sh", "-c", "sleep 300 >/dev/null & echo $!")
		c.Stderr = stderr
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := c.Output()
		if err != nil {
			return nil, err
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
		return map[string]int{"pid": pid}, err
	}
	c := exec.Command("sleep", "300")
	c.Stdout, c.Stderr = stderr, stderr
	if err := c.Start(); err != nil {
		return nil, err
	}
	return map[string]int{"pid": c.Process.Pid}, nil
}
