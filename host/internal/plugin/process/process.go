// Package process runs one process of one plugin: it verifies and executes the
// file, shakes hands through go-plugin, carries its log on and ends it, in order or
// by force, with every process it started. It knows nothing of restarts (package
// plugin) nor of what is said over the connection (packages sdk/...).
//
// go-plugin makes the handshake and the mutual TLS. Starting, reading the streams,
// watching and killing are done here, because what go-plugin does there by itself
// can be made to hang or to crash the host by a bad plugin.
package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// Process is a running plugin process that has shaken hands.
type Process struct {
	PID     int
	Started time.Time

	spec   Spec
	conn   *grpc.ClientConn
	log    *logSink
	reason atomic.Pointer[string] // why the host ended it
	done   chan struct{}

	// Of a process of ours; not of an attached one.
	run    *run
	client *goplugin.Client
	dir    string
	prog   *program // kept open, for its hash

	detached sync.Once
	hashing  sync.Mutex
	sum      string
}

// Start executes the plugin and waits for its handshake. Whatever goes wrong,
// nothing remains. The error names the plugin and quotes its last words.
func Start(ctx context.Context, s Spec) (*Process, error) {
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	if s.StartTimeout <= 0 {
		s.StartTimeout = defaultStartTimeout
	}
	if s.Attach != nil {
		return attach(ctx, s)
	}
	prog, err := openProgram(s.Path, s.SHA256, s.Sums)
	if err != nil {
		return nil, err
	}
	p := &Process{spec: s, Started: time.Now(), done: make(chan struct{}), prog: prog}
	p.log = newLogSink(s.Logger, s.LogRate)
	if err := p.prepare(); err != nil {
		prog.file.Close()
		return nil, fmt.Errorf("cannot create the private directory of plugin %s: %w", s.Name, err)
	}
	if err := p.launch(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// prepare makes the directories of the process.
func (p *Process) prepare() (err error) {
	i, uid, pass := p.spec.Isolate, os.Geteuid(), func(string) error { return nil }
	if i != nil && i.User != 0 {
		uid, pass = i.User, passTo
	} else if err := privateDir(p.spec.Dir, uid); err != nil {
		return err
	}
	if err := errors.Join(privateDir(p.spec.DataDir, uid), os.MkdirAll(p.spec.Dir, 0o700), pass(p.spec.Dir)); err != nil {
		return err
	}
	if p.dir, err = os.MkdirTemp(p.spec.Dir, "p"); err != nil {
		return err
	}
	if err := errors.Join(pass(p.dir), privateDir(filepath.Join(p.dir, ownDir), uid)); err != nil || uid == os.Geteuid() {
		return err
	}
	for _, f := range i.Files {
		if i.shared(f) {
			if err := share(f.Path, uid); err != nil {
				return err
			}
		}
	}
	if p.spec.HostSocket == "" {
		return nil
	}
	return os.Lchown(p.spec.HostSocket, uid, pluginsGroup)
}

// Conn is the connection to the plugin. It fails once the process is gone.
func (p *Process) Conn() *grpc.ClientConn { return p.conn }

// Done is closed when the process is gone and nothing of it is left.
func (p *Process) Done() <-chan struct{} { return p.done }

// Gone is closed as soon as the process has ended, a little before Done.
func (p *Process) Gone() <-chan struct{} {
	if p.run == nil {
		return p.done
	}
	return p.run.child.done
}

// SHA256 is the hash of the file that runs, in hex; empty when attached. A file that
// was not checked at its start is read now if compute is set, which takes a moment.
func (p *Process) SHA256(compute bool) string {
	if p.run == nil {
		return ""
	}
	p.hashing.Lock()
	defer p.hashing.Unlock()
	if p.sum == "" && (compute || p.spec.SHA256 != "") {
		p.sum, _ = p.prog.sha256() // fails once the process is gone and was never asked
	}
	return p.sum
}

// Tail returns the last lines the plugin logged, oldest first.
func (p *Process) Tail() []string { return p.log.lines() }

// Annotate adds attributes to the log lines of the plugin.
func (p *Process) Annotate(attrs ...slog.Attr) { p.log.with(attrs...) }

// Exit reports how the process ended; only after Done.
func (p *Process) Exit() Exit {
	e := Exit{Code: -1}
	if p.run != nil {
		e = p.run.child.exit()
		e.Tail = p.log.lines()
	}
	if r := p.reason.Load(); r != nil {
		e.Reason = *r
	}
	return e
}

// Ping asks whether the plugin answers at all. Give it a deadline: a stopped
// process keeps its connection.
func (p *Process) Ping(ctx context.Context) error {
	_, err := grpc_health_v1.NewHealthClient(p.conn).Check(ctx,
		&grpc_health_v1.HealthCheckRequest{Service: goplugin.GRPCServiceName})
	return err
}

// Attached reports whether the process runs under a debugger and is not ours.
func (p *Process) Attached() bool { return p.run == nil }
