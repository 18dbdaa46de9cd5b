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
	"strings"
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
	prog   *program // its file is closed

	detached sync.Once
}

// Start executes the plugin and waits for its handshake. Whatever goes wrong,
// nothing remains. The error names the plugin and quotes its last words.
func Start(ctx context.Context, s Spec) (*Process, error) {
	if s.Attach != nil {
		return attachProcess(ctx, s)
	}
	prog, err := openProgram(s.Path, s.SHA256, s.Sums)
	if err != nil {
		return nil, err
	}
	defer prog.file.Close()
	p := &Process{
		spec:    s,
		Started: time.Now(),
		done:    make(chan struct{}),
		prog:    prog,
	}
	p.log = newLogSink(s)
	if err := p.prepareDirs(); err != nil {
		return nil, fmt.Errorf("cannot create the private directory of plugin %s: %w", s.Name, err)
	}
	if err := p.launchProgram(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// prepareDirs makes the directories of the process.
func (p *Process) prepareDirs() (err error) {
	i := p.spec.Isolate
	uid := os.Geteuid()
	pass := func(string) error { return nil }
	if i != nil && i.User != 0 {
		uid, pass = i.User, passTo
	} else if err := privateDir(p.spec.Dir, uid); err != nil {
		return err
	}
	if err := errors.Join(
		privateDir(p.spec.DataDir, uid),
		os.MkdirAll(p.spec.Dir, 0o700),
		pass(p.spec.Dir),
	); err != nil {
		return err
	}
	if p.dir, err = os.MkdirTemp(p.spec.Dir, "p"); err != nil {
		return err
	}
	if err := errors.Join(pass(p.dir), privateDir(filepath.Join(p.dir, ownDir), uid)); err != nil ||
		uid == os.Geteuid() {
		return err
	}
	for _, f := range i.Files {
		if i.isSharedDir(f) {
			if err := shareWithPlugins(f.Path, uid); err != nil {
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

// Ended reports whether Gone is closed.
func (p *Process) Ended() bool {
	select {
	case <-p.Gone():
		return true
	default:
		return false
	}
}

// SHA256 is the hash of the file that runs, in hex; empty when attached.
func (p *Process) SHA256() string {
	if p.run == nil {
		return ""
	}
	return p.prog.sum
}

// Tail returns the last lines the plugin logged, oldest first.
func (p *Process) Tail() []string { return p.log.lastLines() }

// Annotate adds attributes to the log lines of the plugin.
func (p *Process) Annotate(attrs ...slog.Attr) {
	p.log.addAttrs(attrs...)
}

// Exit reports how the process ended; only after Done.
func (p *Process) Exit() Exit {
	e := Exit{Code: -1}
	if p.run != nil {
		e = p.run.child.exitStatus()
		e.Tail = p.log.lastLines()
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

// Script reports whether an interpreter runs the file.
func (p *Process) Script() bool { return p.prog.script }

// Attached reports whether the process runs under a debugger and is not ours.
func (p *Process) Attached() bool { return p.run == nil }

// Exit is how a process ended.
type Exit struct {
	Code   int    // -1 when a signal ended it
	Signal string // "killed"
	Reason string // why the host ended it; empty when it ended by itself
	Tail   []string
}

// Clean reports an orderly end.
func (e Exit) Clean() bool { return e.Code == 0 }

// String says how, and with what last words.
func (e Exit) String() string {
	var b strings.Builder
	switch {
	case e.Reason != "":
		b.WriteString(e.Reason)
	case e.Signal != "":
		fmt.Fprintf(&b, "killed by signal (%s)", e.Signal)
	default:
		fmt.Fprintf(&b, "exit status %d", e.Code)
	}
	if w := e.lastWords(); w != "" {
		b.WriteString("; last words: " + w)
	}
	return b.String()
}

// lastWords picks the line of a dying program that says most.
func (e Exit) lastWords() string {
	if e.Clean() || len(e.Tail) == 0 {
		return ""
	}
	for _, l := range e.Tail {
		if strings.HasPrefix(l, "panic: ") || strings.HasPrefix(l, "fatal error: ") {
			return l
		}
	}
	if e.Signal != "" {
		return "" // it did not know that it would end
	}
	return e.Tail[len(e.Tail)-1]
}
