package sdk

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/protobuf/encoding/protojson"

	"ctl.internal/internal/wire"
	"ctl.internal/internal/wire/onward"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// Serve runs the plugin until the host stops it. It is all that main does, and it
// ends the process itself. Arguments: none when the host starts it, `describe`,
// `version`, or `--debug`.
func Serve(o Options) {
	stderr := os.Stderr // go-plugin replaces os.Stderr once it serves
	os.Exit(servePlugin(o, os.Args[1:], os.Stdout, stderr))
}

// Exit codes of a plugin.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitManifest = 3
)

func servePlugin(o Options, args []string, stdout io.Writer, stderr *os.File) int {
	slog.SetDefault(slog.New(onward.LogHandler(slog.NewJSONHandler(
		stderr,
		&slog.HandlerOptions{Level: wire.LevelTrace},
	))))
	s, err := NewServer(o)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitManifest
	}
	debug := false
	for _, a := range args {
		switch a {
		case "describe":
			return printManifest(s.manifest, stdout, stderr)
		case "version":
			fmt.Fprintf(
				stdout,
				"%s %s (contract %v)\n",
				s.manifest.Name,
				s.manifest.Version,
				wire.APIVersions,
			)
			return exitOK
		case "--debug":
			debug = true
		default:
			fmt.Fprintf(
				stderr,
				"%s is a plugin of ctld; it takes `describe`, `version` or `--debug`, not %q\n",
				s.manifest.Name,
				a,
			)
			return exitUsage
		}
	}
	if !debug && os.Getenv(wire.Handshake.MagicCookieKey) != wire.Handshake.MagicCookieValue {
		fmt.Fprintf(stderr, "%s is a plugin: ctld starts it when its feature is installed.\n"+
			"Run it with `describe` to see what it serves, or with `--debug` to attach a debugger.\n", s.manifest.Name)
		return exitUsage
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := ignoreTerm(s)
	defer signal.Stop(signals)
	cfg := &plugin.ServeConfig{
		HandshakeConfig: wire.Handshake,
		Plugins:         wire.Set(s.Register),
		GRPCServer:      s.NewGRPC,
		Logger:          wire.HCLog(slog.Default(), slog.LevelError),
	}
	if debug {
		return s.serveDebug(ctx, cfg, stdout)
	}
	go watchParent(ctx, s)
	plugin.Serve(cfg)
	s.lastStop()
	return exitOK
}

// NewGRPC returns a gRPC server whose calls are counted, traced, and wait for the plugin's
// data.
func (s *Server) NewGRPC(opts []grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append(opts, wire.ServerOptions(
		grpc.UnaryInterceptor(s.interceptUnary), grpc.StreamInterceptor(s.interceptStream),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{
			MinTime:             time.Second,
			PermitWithoutStream: true,
		}),
	)...)...)
}

func printManifest(m *pluginv1.Manifest, stdout, stderr io.Writer) int {
	raw, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	var text bytes.Buffer
	if err == nil {
		err = json.Indent(&text, raw, "", "  ")
	}
	if err == nil {
		_, err = fmt.Fprintln(stdout, text.String())
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitFailed
	}
	return exitOK
}

// ignoreTerm outlives a SIGTERM while the host lives: systemd sends it to the
// whole group, and the host still needs its plugins to drain.
func ignoreTerm(s *Server) chan os.Signal {
	c := make(chan os.Signal, 4)
	signal.Notify(c, syscall.SIGTERM)
	go func() {
		for range c {
			slog.Info("SIGTERM: waiting for the host's Stop", "plugin", s.manifest.Name)
		}
	}()
	return c
}

// watchParent ends the process when the host has died without stopping it. It is
// the second net: the first is the kernel's parent-death signal.
func watchParent(ctx context.Context, s *Server) {
	parent, err := strconv.Atoi(os.Getenv(wire.EnvParent))
	if err != nil {
		return
	}
	t := time.NewTicker(time.Second)
	defer t.Stop()
	frozen := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if os.Getppid() != parent {
				s.lastStop()
				os.Exit(exitOK)
			}
			// A host that is frozen cannot end a plugin that another node may run soon.
			if frozen++; !s.manifest.SingleNode || !isStopped(parent) {
				frozen = 0
			}
			if frozen == frozenTicks {
				os.Exit(exitFailed)
			}
		}
	}
}

// frozenTicks is how many seconds a host may be stopped (SIGSTOP): less than its lease lives.
const frozenTicks = 2

// isStopped reports whether a process is stopped by a signal.
func isStopped(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	i := bytes.LastIndexByte(stat, ')') // after the name, which may hold anything
	return i >= 0 && bytes.HasPrefix(stat[i:], []byte(") T"))
}

func (s *Server) lastStop() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := s.stop(ctx); err != nil {
		slog.Error("the plugin did not stop in order", "error", err)
	}
}

// serveDebug serves outside the host: the printed value goes into the environment
// of ctld, which then attaches instead of starting a process.
func (s *Server) serveDebug(ctx context.Context, cfg *plugin.ServeConfig, stdout io.Writer) int {
	reattach := make(chan *plugin.ReattachConfig, 1)
	closed := make(chan struct{})
	cfg.Test = &plugin.ServeTestConfig{
		Context:          ctx,
		ReattachConfigCh: reattach,
		CloseCh:          closed,
	}
	go plugin.Serve(cfg)
	r := <-reattach
	value, err := json.Marshal(wire.Reattach{
		Protocol:        string(r.Protocol),
		ProtocolVersion: r.ProtocolVersion,
		Pid:             r.Pid,
		Network:         r.Addr.Network(),
		Address:         r.Addr.String(),
	})
	if err != nil {
		return exitFailed
	}
	fmt.Fprintf(
		stdout,
		"Start ctld with this in its environment to attach to this process:\n\n%s='%s'\n\n",
		wire.ReattachVariable(s.manifest.Name),
		value,
	)
	<-closed
	s.lastStop()
	return exitOK
}

// linkTime bounds the wait for the host's link: it is there at once, or not at all.
const linkTime = 5 * time.Second

// dialHost connects to the host's services.
func dialHost(ctx context.Context, r *pluginv1.ConfigureRequest) (*host.Client, error) {
	socket := cmp.Or(r.HostSocket, os.Getenv(wire.EnvSocket))
	if socket == "" {
		return nil, fault.New(
			fault.Internal,
			"the host provided no socket (%s is not set)",
			wire.EnvSocket,
		)
	}
	conn, err := wire.DialHost(socket, r.HostToken, onward.DialOptions()...)
	if err != nil {
		return nil, fault.Wrap(
			fault.Internal,
			err,
			"the host's socket %s cannot be used: %v",
			socket,
			err,
		)
	}
	ctx, cancel := context.WithTimeout(ctx, linkTime)
	defer cancel()
	client, err := host.NewClient(ctx, conn)
	if err != nil {
		slog.Warn(
			"the host's link cannot be opened: calls to the host are made one by one, which is slower",
			"error",
			err,
		)
	}
	return client, nil
}
