package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// hostileAct is one act of a hostile plugin. Which are made, at what, and what must become of each is in
// test/peers/rogue, whose plugin in Python makes the same.
type hostileAct struct {
	Name   string
	Target string
	Number []uint64
}

// actOutcome says how often an act was done, and what ended it.
type actOutcome struct {
	Taken   int    `json:"taken"`
	Refused string `json:"refused"`
	Text    string `json:"text"`
}

// mostChildren bounds the fork bomb, mostMiB the eater of memory: the machine must survive where nothing else bounds
// them.
const (
	mostChildren = 1000
	mostMiB      = 3 << 10
)

// repeatAct makes an act so often, or until it fails.
func repeatAct(times int, act func(i int) error) actOutcome {
	for i := range times {
		if err := act(i); err != nil {
			return actOutcome{
				Taken:   i,
				Refused: errorReason(err),
			}
		}
	}
	return actOutcome{Taken: times}
}

// errorReason is the name of a system error, else the text of it.
func errorReason(err error) string {
	var number syscall.Errno
	switch {
	case errors.As(err, &number):
		return unix.ErrnoName(number)
	case errors.Is(err, io.EOF):
		return "cut off"
	}
	return err.Error()
}

// numberAt is a number of the act, or another when it has none.
func (a hostileAct) numberAt(i, other int) int {
	if i < len(a.Number) {
		return int(a.Number[i])
	}
	return other
}

func (a hostileAct) performAct(ctx context.Context, env *sdk.Env) (actOutcome, error) {
	t := a.Target
	own := func(name string) string { return filepath.Join(env.DataDir, name) }
	once := func(act func() error) (actOutcome, error) {
		return repeatAct(1, func(int) error { return act() }), nil
	}
	repeat := func(act func(i int) error) (actOutcome, error) {
		return repeatAct(a.numberAt(0, 1), act), nil
	}
	switch a.Name {
	case "hang":
		select {}
	case "read":
		var head [4096]byte
		out := repeatAct(1, func(int) error {
			f, err := os.Open(t)
			if err != nil {
				return err
			}
			defer f.Close()
			if _, err = f.Read(head[:]); errors.Is(err, io.EOF) {
				return nil
			}
			return err
		})
		out.Text = strings.Map(func(r rune) rune {
			if r == '\n' || r >= ' ' && r < 0x7f {
				return r
			}
			return -1
		}, string(head[:]))
		return out, nil
	case "list":
		return once(func() error { _, err := os.ReadDir(t); return err })
	case "write":
		return once(func() error {
			f, err := os.OpenFile(t, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("500")
			return err
		})
	case "truncate":
		return once(func() error { return os.Truncate(t, 0) })
	case "rename":
		return once(func() error { return os.Rename(t, own("stolen")) })
	case "link":
		return once(func() error { return os.Link(t, own("link")) })
	case "chmod":
		return once(func() error { return os.Chmod(t, 0o777) })
	case "chown":
		return once(func() error { return os.Chown(t, 1, 1) })
	case "utime":
		return once(func() error {
			return os.Chtimes(t, time.Unix(1, 0), time.Unix(1, 0))
		})
	case "run-own":
		return once(func() error {
			err := os.WriteFile(own("script"), []byte("#!/bin/sh\n"), 0o755)
			if err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			return exec.CommandContext(ctx, own("script")).Run()
		})
	case "call":
		return once(func() error {
			args := append(append([]uint64(nil), a.Number...), make([]uint64, 7)...)
			_, _, errno := unix.Syscall6(
				uintptr(args[0]),
				uintptr(args[1]),
				uintptr(args[2]),
				uintptr(args[3]),
				uintptr(args[4]),
				uintptr(args[5]),
				uintptr(args[6]),
			)
			if errno != 0 {
				return errno
			}
			return nil
		})
	case "unix":
		return once(func() error { return awaitGreeting(ctx, t) })
	case "sockets": // they stay open
		return repeat(func(int) error {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err == nil {
				err = unix.SetNonblock(fd, true)
			}
			if err != nil {
				return err
			}
			return unix.Connect(fd, &unix.SockaddrUnix{Name: t})
		})
	case "tcp":
		return once(func() error {
			c, err := (&net.Dialer{}).DialContext(ctx, "tcp", t)
			if err == nil {
				_ = c.Close()
			}
			return err
		})
	case "steal": // SOCKET TOKEN
		return once(func() error { return useStolenToken(ctx, t) })
	case "fork":
		return repeatAct(min(a.numberAt(0, 0), mostChildren), func(int) error {
			return exec.Command("sleep", t).Start()
		}), nil
	case "orphan":
		child, err := spawnProcess(ctx, struct {
			OwnGroup bool `json:"own-group"`
		}{true})
		return actOutcome{Taken: child["pid"]}, err
	case "eat":
		var kept [][]byte
		out := repeatAct(min(a.numberAt(0, 0), mostMiB), func(int) error {
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			kept = append(kept, b)
			return nil
		})
		out.Text = strconv.Itoa(len(kept)) + " MiB"
		return out, nil
	case "rpc", "rpc-guess", "rpc-for": // as itself; for a guessed call; for the caller
		module, name, _ := strings.Cut(t, ":")
		switch a.Name {
		case "rpc":
			ctx = context.Background()
		case "rpc-guess":
			ctx = caller.With(ctx, caller.Caller{
				User:      "admin",
				RequestID: "12345678-1",
			})
		}
		return once(func() error {
			return env.Host.Operations.Call(
				ctx,
				module,
				name,
				map[string]string{"command": "plugin:list"},
				nil,
			)
		})
	case "foreign":
		return once(func() error {
			_, err := env.Host.Datastore.Get(ctx, host.Tree, t)
			return err
		})
	case "publish-tree":
		return once(func() error {
			return writeDocument(ctx, env.Host, host.Operational, t)
		})
	case "identity":
		return repeat(func(int) error {
			_, err := (hostCall{Call: "identity"}).makeCall(ctx, env.Host)
			if fault.KindOf(err) != fault.Denied {
				return fmt.Errorf("not denied: %w", err)
			}
			return nil
		})
	case "events":
		return repeat(func(int) error {
			return env.Host.Events.Publish(
				ctx,
				"faulty-events",
				"faulty:event",
				map[string]int{"n": 1},
			)
		})
	case "store":
		value := []byte(strings.Repeat("x", 512<<10))
		return repeat(func(i int) error {
			return env.Host.Datastore.Put(
				ctx,
				fmt.Sprintf("fill/%d/%d", a.numberAt(1, 0), i),
				value,
			)
		})
	case "rewrite": // for so many seconds
		return rewrite(ctx, env.Host, time.Duration(a.numberAt(0, 1))*time.Second), nil
	case "unread":
		return unread(env.Host, a.numberAt(0, 1), a.numberAt(1, 1), a.numberAt(2, 1)), nil
	case "memfd":
		return fillMemfd(a.numberAt(0, 0)), nil
	case "watches":
		ended := make(chan error, a.numberAt(0, 1))
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for range cap(ended) {
			go func() {
				ended <- env.Host.Events.Subscribe(ctx, []string{"faulty-events"}, func(host.Received) error {
					return nil
				})
			}()
		}
		return once(func() error { return <-ended })
	case "log":
		for i := range a.numberAt(0, 1) {
			slog.Error("flood "+strings.Repeat("x", 4000), "line", i)
		}
		fmt.Fprintln(stderr, strings.Repeat("y", 3<<20))
		return actOutcome{}, nil
	case "flap":
		for i := range a.numberAt(0, 1) {
			env.Health(sdk.Health{
				State:  []sdk.State{sdk.Healthy, sdk.Degraded}[i%2],
				Reason: strings.Repeat("x", 5000),
			})
		}
		env.Health(sdk.Health{State: sdk.Healthy})
		return actOutcome{}, nil
	case "metrics": // more series than one may have
		v := prometheus.NewGaugeVec(
			prometheus.GaugeOpts{
				Name: "faulty_series",
				Help: "Too many.",
			},
			[]string{"n"},
		)
		for i := range a.numberAt(0, 1) {
			v.WithLabelValues(strconv.Itoa(i))
		}
		return once(func() error { return env.Metrics.Register(v) })
	}
	return actOutcome{}, fault.New(fault.Invalid, "unknown act %q", a.Name)
}

// awaitGreeting connects to a unix socket, speaks HTTP/2, and waits for the first byte of an answer.
func awaitGreeting(ctx context.Context, path string) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	if _, err = c.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")); err == nil {
		_, err = c.Read(make([]byte, 1))
	}
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return io.EOF
	}
	return err
}

// useStolenToken uses the socket and the token of another plugin.
func useStolenToken(ctx context.Context, target string) error {
	socket, token, _ := strings.Cut(target, " ")
	conn, err := grpc.NewClient(
		"unix:"+socket,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
	)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx = metadata.AppendToOutgoingContext(ctx, wire.MetaToken, token)
	_, err = pluginv1.NewHostDatastoreClient(conn).Commit(ctx, &pluginv1.CommitRequest{
		Ops: []*pluginv1.Op{{
			Space: pluginv1.Space_SPACE_PRIVATE,
			Key:   "stolen",
			Value: []byte("{}"),
		}}})
	return err
}

// oddAnswer sends an invalid HTTP response, as the path says.
func oddAnswer(w http.ResponseWriter, path string) bool {
	length := func(n string) { w.Header().Set("Content-Length", n) }
	status, body := 200, "body"
	switch path {
	case "/faulty/204":
		status = 204
	case "/faulty/304":
		status = 304
		length("4")
	case "/faulty/short":
		length("100")
	case "/faulty/long":
		length("3")
	case "/faulty/status":
		status = 9999
	case "/faulty/headers":
		for i := range 5000 {
			w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 100))
		}
	case "/faulty/forge":
		w.Header().Set("X-Request-Id", "forged")
	default:
		return false
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
	return true
}
