package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	ctl "ctl.internal"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/cluster"
	"ctl.internal/host/internal/console/settings"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/open"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/logs"
)

// Options are what ctld was started with.
type Options struct {
	Home           string
	Join           string            // file of a token; empty = none
	Flags          map[string]string // dotted key → value, over the settings of the file
	Stdout, Stderr io.Writer

	shutdown func() // ends the controller, as a signal does
	first    *identity.First
}

// stopGrace bounds the orderly end: requests in flight, then plugins, then the store.
const stopGrace = 30 * time.Second

// Run runs a controller until ctx ends and returns ctld's exit code. A start that finds
// the disk full is repeated when there is room.
func Run(ctx context.Context, o Options) int {
	collectLess()
	ctx, o.shutdown = context.WithCancel(ctx)
	defer o.shutdown()
	if o.Join != "" {
		abs, err := filepath.Abs(o.Home)
		if err == nil {
			err = cluster.Join(home.Dir(abs), o.Join, o.Flags["cluster.listen"])
		}
		if err != nil {
			fmt.Fprintln(o.Stderr, "ctld:", err)
			return exitConfig
		}
	}
	// Passwords of the first start are read once; they must not reach any child.
	o.first = firstPasswords()
	for {
		code, full := runOnce(ctx, o)
		if full == nil || ctx.Err() != nil || !waitForRoom(ctx, o, full) {
			return code
		}
	}
}

// runOnce is one start, and what follows. full says that the disk had no room for it.
func runOnce(ctx context.Context, o Options) (code int, full error) {
	began := time.Now()
	h, err := home.Open(o.Home, ctl.Templates)
	if isFull(err) {
		return exitFailed, err
	}
	if err != nil {
		fmt.Fprintln(o.Stderr, "ctld:", err)
		return exitFailed, nil
	}
	defer h.Close()
	loaded, problems := home.Load(h.Dir, os.Environ(), o.Flags)
	for _, p := range problems {
		fmt.Fprintln(o.Stderr, "ctld:", p)
	}
	if home.Fatal(problems) != nil {
		return exitConfig, nil
	}
	if h.CopyOf != "" {
		fmt.Fprintf(o.Stderr, "ctld: %s\n", describeCopiedHome(h))
	}
	if err := h.Upgrade(ctl.Templates, func() error {
		return open.Check(h.Dir, loaded.Datastore)
	}); isFull(err) {
		return exitFailed, err
	} else if err != nil {
		fmt.Fprintln(o.Stderr, "ctld:", err)
		return exitFailed, nil
	}
	if faults := settings.Access(h.Dir, loaded.AAA.RealmKinds); home.Fatal(faults) != nil {
		for _, p := range faults {
			fmt.Fprintln(o.Stderr, "ctld:", p)
		}
		return exitConfig, nil
	}
	first := *o.first
	first.File = h.Etc("initial-passwords")
	registry, err := openLogs(h.Dir, loaded.Log, o.Stderr)
	if err != nil {
		fmt.Fprintln(o.Stderr, "ctld:", err)
		return exitConfig, nil
	}
	defer registry.Close()
	slog.SetDefault(registry.Logger("org.ctl"))
	log := registry.Logger("org.ctl.server")
	log.Info("starting", "version", Version(), "home", string(h.Dir), "pid", os.Getpid())
	keepReserve(h.Dir)

	s := &Server{
		home:           h.Dir,
		inode:          h.Inode,
		loaded:         loaded,
		registry:       registry,
		log:            log,
		options:        o,
		firstPasswords: first,
	}
	err = s.start(ctx)
	if err == nil {
		for _, p := range problems {
			log.Warn("settings", "problem", p.String())
		}
		s.announceReady(began)
		if err := notifySystemd("READY=1"); err != nil {
			log.Warn("the service manager was not notified", "error", err)
		}
		<-ctx.Done()
		log.Info("stopping")
		_ = notifySystemd("STOPPING=1")
	}
	// The context of the process has ended or the start has failed: the orderly end
	// needs one of its own.
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	disorder := s.stop(end)
	if isFull(err) {
		log.Error("the controller did not start", "error", err)
		return exitFailed, err
	}
	if disorder != nil {
		log.Error("the end was not in order", "error", disorder)
		fmt.Fprintln(o.Stderr, "ctld: the end was not in order:", disorder)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		if h.CopyOf != "" && errors.Is(err, datastore.ErrDamaged) {
			err = fmt.Errorf("%s: %w", describeCopiedHome(h), err)
		}
		log.Error("the controller did not start", "error", err)
		fmt.Fprintln(o.Stderr, "ctld:", err)
		return exitFailed, nil
	}
	log.Info("stopped")
	if disorder != nil || s.gaveUp.Load() {
		return exitFailed, nil
	}
	return exitOK, nil
}

// describeCopiedHome says what the copy of a running home is.
func describeCopiedHome(h *home.Home) string {
	return fmt.Sprintf("%s is a copy of %s, made while a controller ran there or after it was killed, so its store may not be whole: "+
		"copy a home when its controller is stopped, or use ctl snapshot save and restore", h.Dir, h.CopyOf)
}

// gcPercent lets the heap grow to four times what is live: the daemon lives in few
// megabytes, and a collection each ten milliseconds under load costs more than they do.
const gcPercent = 300

// collectLess sets gcPercent unless the operator chose with GOGC.
func collectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

func openLogs(dir home.Dir, c home.Log, fallback io.Writer) (*logs.Registry, error) {
	level, err := logs.ParseLevel(c.Level)
	if err != nil {
		return nil, err
	}
	o := logs.Options{
		File:     dir.Log("ctl.log"),
		MaxSize:  int(c.MaxSize >> 20),
		Keep:     c.Keep,
		Buffer:   c.Buffer,
		Level:    level,
		Fallback: fallback,
		Levels:   map[string]slog.Level{},
	}
	for name, text := range c.Levels {
		if o.Levels[name], err = logs.ParseLevel(text); err != nil {
			return nil, fmt.Errorf("log.levels.%s: %w", name, err)
		}
	}
	return logs.New(o), nil
}

// announceReady prints for a person at a terminal where things are.
func (s *Server) announceReady(began time.Time) {
	fmt.Fprintf(
		s.options.Stdout,
		"ctld %s is ready after %s, home %s\n",
		Version(),
		time.Since(began).Round(time.Millisecond),
		s.home,
	)
	for _, l := range s.listeners {
		fmt.Fprintf(s.options.Stdout, "  %-6s %s\n", l.name, l.address())
	}
	if s.sshAddress != nil {
		fmt.Fprintf(s.options.Stdout, "  %-6s %s\n", "ssh", s.sshAddress)
	}
	fmt.Fprintf(s.options.Stdout, "  console: ctl --home %s\n", s.home)
	file := s.home.Etc("initial-passwords")
	if _, err := os.Stat(file); err == nil {
		fmt.Fprintf(
			s.options.Stdout,
			"  first passwords: %s (remove it when you have noted them)\n",
			file,
		)
	}
}

// notifySystemd reports a state to the service manager (sd_notify(3)): READY=1,
// STOPPING=1. Without one it does nothing.
func notifySystemd(state string) error {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{
		Name: socket,
		Net:  "unixgram",
	})
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte(state))
	return err
}
