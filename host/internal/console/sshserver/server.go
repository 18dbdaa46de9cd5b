// Package sshserver gives the shell of package engine to users: over TCP to
// controller users of role admin, and over a unix socket to the owner of the
// controller's process. Both speak SSH, so there is one way from a key typed to a
// command run. ctl is the client of the socket; any ssh that of the port.
package sshserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"ctl.internal/host/internal/console/engine"
	"ctl.internal/host/internal/console/files"
	"ctl.internal/host/internal/console/history"
	"ctl.internal/internal/together"
	"ctl.internal/sdk/caller"
)

// Login decides who may come in over TCP.
type Login interface {
	// Password authenticates a user. Throttling is the implementation's. Now returns the user as of now; it fails when the
	// user is gone, disabled or blocked. It is asked before every command, and while a connection is idle.
	Password(ctx context.Context, user, password, address string) (
		who caller.Caller,
		now func(context.Context) (caller.Caller, error),
		err error,
	)
	// Key returns the user of a login by an SSH key; it fails when it is none of the user's. It is asked before every
	// command of such a login, too.
	Key(ctx context.Context, user string, key ssh.PublicKey, address string) (caller.Caller, error)
}

// Config is what a Server is made of. Zero limits take the defaults in brackets.
type Config struct {
	Shell       *engine.Shell
	Histories   *history.Store
	HostKeyFile string // made once, 0600
	InitScript  string // lines that every interactive session runs first; may be absent
	Greeting    string // shown when an interactive session begins
	Log         *slog.Logger
	Files       files.Area // that commands may reach over TCP

	Login Login // needed for TCP
	// Own is the shell of users without the role admin, for their own account; nil = they do not get in.
	Own *engine.Shell

	Idle           time.Duration // without input and running command; 0 = no limit
	LoginTime      time.Duration // from connect to authenticated [30 s]
	MaxConnections int           // over TCP; who is not logged in makes room for who comes [128]
}

const (
	adminRole   = "admin" // that a user needs over TCP
	maxAttempts = 4       // failed authentications of a connection
	maxLocal    = 64      // connections of the unix socket
)

// Server serves the console.
type Server struct {
	cfg     Config
	local   *ssh.ServerConfig
	hostKey ssh.Signer
	lis     []listener
}

type listener struct {
	net.Listener
	local bool
	limit *connLimiter
}

// New makes a Server and its host key.
func New(cfg Config) (*Server, error) {
	cfg.LoginTime, cfg.MaxConnections = cmp.Or(cfg.LoginTime, 30*time.Second), cmp.Or(cfg.MaxConnections, 128)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	key, err := hostKey(cfg.HostKeyFile)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, hostKey: key}
	s.local = &ssh.ServerConfig{
		Config:        secureAlgorithms(),
		NoClientAuth:  true,
		ServerVersion: "SSH-2.0-ctld",
	}
	s.local.AddHostKey(key)
	return s, nil
}

// secureAlgorithms are what the library holds to be good, without those on SHA-1 (RFC 9142, RFC 8332).
func secureAlgorithms() ssh.Config {
	all := ssh.SupportedAlgorithms()
	without := func(list []string) []string {
		return slices.DeleteFunc(list, func(name string) bool {
			return strings.Contains(name, "sha1")
		})
	}
	return ssh.Config{
		KeyExchanges: without(all.KeyExchanges),
		MACs:         without(all.MACs),
		Ciphers:      all.Ciphers,
	}
}

// ListenTCP opens the SSH port and returns the address it got.
func (s *Server) ListenTCP(addr string) (net.Addr, error) {
	if s.cfg.Login == nil {
		return nil, errors.New("sshserver: Config.Login is required for the SSH port")
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf(
			"the SSH port %s cannot be opened; choose another with --ssh, or --ssh off: %w",
			addr,
			err,
		)
	}
	s.lis = append(s.lis, listener{l, false, &connLimiter{max: s.cfg.MaxConnections}})
	return l.Addr(), nil
}

// ListenLocal opens the unix socket, in a directory of mode 0700.
func (s *Server) ListenLocal(path string) error {
	l, err := listenUnix(path, func(pid int) {
		s.cfg.Log.Warn("a plugin tried to use the console and was refused", "pid", pid)
	})
	if err != nil {
		return err
	}
	s.lis = append(s.lis, listener{l, true, &connLimiter{max: maxLocal}})
	return nil
}

// Serve serves what was opened until ctx ends, then ends every session and returns.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	errs := make(chan error, len(s.lis))
	for _, l := range s.lis {
		stop := context.AfterFunc(ctx, func() { l.Close() })
		defer stop()
		wg.Go(func() {
			if err := s.acceptConns(ctx, l, &wg); err != nil {
				errs <- err
				cancel()
			}
		})
	}
	<-ctx.Done()
	wg.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

// Close closes what was opened, for a server that never served.
func (s *Server) Close() error {
	var errs []error
	for _, l := range s.lis {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

func (s *Server) acceptConns(ctx context.Context, l listener, wg *sync.WaitGroup) error {
	for {
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				c.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("the console's listener %s was closed", l.Addr())
		case err != nil: // out of descriptors, or a client that gave up: serve on
			s.cfg.Log.Warn("the console cannot accept a connection", "error", err)
			_ = together.Sleep(ctx, 100*time.Millisecond) // the end is seen at the next turn
			continue
		}
		one, cancel := context.WithCancel(ctx)
		v := l.limit.enterConn(cancel)
		if v == nil {
			s.cfg.Log.Warn(
				"the console refuses a connection: there are too many",
				"address",
				c.RemoteAddr().String(),
				"limit",
				l.limit.max,
			)
			cancel()
			c.Close()
			continue
		}
		wg.Go(func() {
			defer cancel()
			defer l.limit.leaveConn(v)
			s.serveConn(one, c, l.local, func() bool { return l.limit.loggedIn(v) })
		})
	}
}
