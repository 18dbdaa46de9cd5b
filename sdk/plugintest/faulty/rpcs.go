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
	"ctl.internal/sdk/host"
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
		"faulty:echo": operations.Func(func(_ context.Context, in text) (text, error) {
			return in, nil
		}),
		"faulty:wait": operations.Func(waitMilliseconds),
		"faulty:fail": operations.Func(failWithKind),
		"faulty:count": operations.Func(func(context.Context, none) (number, error) {
			return number{served.Load()}, nil
		}),
		"faulty:panic": newActHandler(func() { panic("in the handler") }),
		"faulty:panic-goroutine": newActHandler(func() {
			go panic("in a goroutine")
			select {}
		}),
		"faulty:crash": newActHandler(killSelf),
		"faulty:hang":  newActHandler(func() { select {} }),
		"faulty:crash-once": newActHandler(func() {
			mark := filepath.Join(env.DataDir, "crashed")
			if _, err := os.Stat(mark); err != nil {
				_ = os.WriteFile(mark, nil, 0o600)
				killSelf()
			}
		}),
		"faulty:exit": operations.Func(func(_ context.Context, in struct{ Code int }) (none, error) {
			fmt.Fprintln(stderr, "leaving with", in.Code)
			os.Exit(in.Code)
			return none{}, nil
		}),
		"faulty:spawn": operations.Func(spawnProcess),
		"faulty:flood": operations.Func(func(_ context.Context, in struct{ Lines int }) (none, error) {
			for i := range in.Lines {
				slog.Info("flood", "line", i)
			}
			return none{}, nil
		}),
		"faulty:log": operations.Func(func(_ context.Context, in text) (none, error) {
			fmt.Fprintln(stderr, in.Text)
			return none{}, nil
		}),
		"faulty:print": operations.Func(func(_ context.Context, in text) (none, error) {
			fmt.Println(in.Text)
			return none{}, nil
		}),
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
			return map[string]string{
				"user":       who.User,
				"request-id": who.RequestID,
			}, nil
		}),
		"faulty:health": operations.Func(func(_ context.Context, in struct{ State, Text string }) (none, error) {
			env.Health(sdk.Health{
				State:  states[in.State],
				Reason: in.Text,
			})
			return none{}, nil
		}),
		"faulty:host": operations.Func(func(ctx context.Context, in hostCall) (text, error) {
			return in.makeCall(ctx, env.Host)
		}),
		"faulty:act": operations.Func(func(ctx context.Context, in hostileAct) (actOutcome, error) {
			return in.performAct(ctx, env)
		}),
		"faulty:relay": operations.Func(func(ctx context.Context, in struct{ Provider string }) (number, error) {
			slog.InfoContext(ctx, "relaying")
			ports, err := switchdriver.NewClient(env.Host.Switchboard.Dial(in.Provider)).ReadPorts(ctx, &switchdriver.Switch{NodeId: 7})
			if err != nil {
				return number{}, err
			}
			return number{uint64(ports[0].Number)}, nil
		}),
	}
	mux["/faulty:boxes/box/reset"] = operations.HandlerFunc(func(_ context.Context, r *operations.Request) (any, error) {
		keys, err := r.Keys()
		return text{r.Path + " " + strings.Join(keys, " ") + " " + string(r.Input)}, err
	})
	return operations.HandlerFunc(func(ctx context.Context, r *operations.Request) (any, error) {
		served.Add(1)
		return mux.Invoke(ctx, r)
	})
}

func newActHandler(f func()) operations.Handler {
	return operations.Func(func(context.Context, none) (none, error) {
		f()
		return none{}, nil
	})
}

func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func waitMilliseconds(ctx context.Context, in struct{ Milliseconds int }) (none, error) {
	slog.Info("the wait has begun")
	select {
	case <-time.After(time.Duration(in.Milliseconds) * time.Millisecond):
		return none{}, nil
	case <-ctx.Done():
		slog.Info("cancelled")
		return none{}, ctx.Err()
	}
}

func failWithKind(_ context.Context, in struct {
	Kind int32
	Text string
}) (none, error) {
	return none{}, fault.At(fault.Kind(in.Kind), "/faulty:fail/input/kind", "%s", in.Text)
}

func spawnProcess(_ context.Context, in struct {
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

// hostCall is a call to the host's services, made for the host's tests.
type hostCall struct {
	Call string `json:"call"`
	Text string `json:"text"`
}

func writeDocument(ctx context.Context, h *host.Client, space host.Space, path string) error {
	_, err := h.Datastore.Commit(
		ctx,
		host.Txn{Ops: []host.Op{{
			Space: space,
			Key:   path,
			Value: []byte("{}"),
		}}},
	)
	return err
}

func (c hostCall) makeCall(ctx context.Context, h *host.Client) (text, error) {
	switch c.Call {
	case "put":
		return text{}, h.Datastore.Put(ctx, "k", []byte(c.Text))
	case "get":
		e, err := h.Datastore.Get(ctx, host.Private, "k")
		return text{string(e.Value)}, err
	case "publish-tree":
		return text{}, writeDocument(ctx, h, host.Operational, c.Text)
	case "write-config":
		return text{}, writeDocument(ctx, h, host.Tree, c.Text)
	case "publish":
		return text{}, h.Events.Publish(ctx, c.Text, "faulty:event", map[string]int{"n": 1})
	case "seal":
		sealed, err := h.Secrets.Seal(ctx, "test", []byte(c.Text))
		if err != nil {
			return text{}, err
		}
		plain, err := h.Secrets.Open(ctx, "test", sealed)
		return text{string(plain)}, err
	case "seal-mix":
		sealed, err := h.Secrets.Seal(ctx, "test", []byte(c.Text))
		if err != nil {
			return text{}, err
		}
		_, err = h.Secrets.Open(ctx, "other", sealed)
		return text{}, err
	case "call":
		module, rpc, _ := strings.Cut(c.Text, ":")
		var out map[string]any
		err := h.Operations.Call(ctx, module, rpc, nil, &out)
		return text{fmt.Sprint(out)}, err
	case "providers":
		p, err := h.Switchboard.Providers(ctx, c.Text)
		var names []string
		for _, x := range p {
			names = append(names, fmt.Sprintf("%s:%v", x.Name, x.Ready))
		}
		return text{strings.Join(names, " ")}, err
	case "troubles":
		return text{}, h.Troubles.Replace(ctx, []host.Trouble{{Kind: "test", Resource: c.Text}})
	case "identity":
		_, err := h.Certificates.Identity(ctx)
		return text{}, err
	}
	return text{}, fault.New(fault.Invalid, "unknown call %q", c.Call)
}
