package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin/runner"
)

// handshakeLine is what a plugin says first on its standard output: core version,
// contract version, network, address, protocol and, with TLS, a certificate.
var handshakeLine = regexp.MustCompile(`^[0-9]+\|[0-9]+\|(unix|tcp)\|[^|]+\|grpc(\||$)`)

// run is go-plugin's view of a child: it may read the handshake, wait and kill.
// The error stream is ours alone, so go-plugin gets an empty one.
type run struct {
	spec Spec
	log  *logSink

	mu     sync.Mutex
	child  *child
	killed bool // also before it was started
	within *bounds

	handshake  *io.PipeReader // one line, then the end when the child ends
	handshakeW *io.PipeWriter
	readers    sync.WaitGroup
	over       chan struct{} // closed when the child is reaped and its streams are read
}

var _ runner.Runner = (*run)(nil)

func newRun(s Spec, log *logSink) *run {
	r := &run{spec: s, log: log, over: make(chan struct{})}
	r.handshake, r.handshakeW = io.Pipe()
	return r
}

// execProgram starts the program with the environment that go-plugin asks for.
func (r *run) execProgram(p *program, dir string, env []string) error {
	path, err := p.execPath(dir)
	if err != nil {
		return err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		outR.Close()
		outW.Close()
		return err
	}
	r.within = r.spec.Isolate.boundsFor(p.file, p.path, r.spec.DataDir, filepath.Join(dir, ownDir))
	err = r.startCommand(&exec.Cmd{
		Path:   path,
		Args:   append([]string{p.path}, r.spec.Args...),
		Env:    env,
		Dir:    r.spec.DataDir,
		Stdout: outW,
		Stderr: errW,
	})
	outW.Close()
	errW.Close()
	if err != nil {
		outR.Close()
		errR.Close()
		return fmt.Errorf("the plugin file %s cannot be executed: %w", p.path, err)
	}
	r.readers.Add(2)
	go r.readStdout(outR)
	go r.readStderr(errR)
	go func() {
		<-r.child.done
		end := time.Now().Add(drainGrace)
		_ = outR.SetReadDeadline(end)
		_ = errR.SetReadDeadline(end)
		r.readers.Wait()
		outR.Close()
		errR.Close()
		r.handshakeW.Close()
		close(r.over)
	}()
	return nil
}

func (r *run) startCommand(cmd *exec.Cmd) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.killed {
		return context.Canceled
	}
	c, err := startChild(cmd, r.within, r.spec.Keeper)
	if err == nil {
		r.child = c
		if c.unlimited != nil {
			r.spec.Logger.Warn(
				"a limit of the plugin's process is not set, so only a control group bounds it",
				"error",
				c.unlimited,
			)
		}
	}
	return err
}

// killChild ends the child, or keeps it from starting.
func (r *run) killChild() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killed = true
	if r.child != nil {
		r.child.kill()
	}
}

// endedByItself waits a moment for the end of a child that has closed its output,
// and reports whether it ended without our doing.
func (r *run) endedByItself(wait time.Duration) bool {
	select {
	case <-r.child.done:
	case <-time.After(wait):
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.killed || r.child.exitStatus().Signal == ""
}

// readStdout hands on the handshake and logs all else, which would otherwise be
// taken for a broken handshake.
func (r *run) readStdout(f *os.File) {
	defer r.readers.Done()
	shaken := false
	readLines(f, func(line []byte, cut int) {
		if !shaken && cut == 0 && handshakeLine.Match(line) {
			shaken = true
			_, _ = fmt.Fprintf(r.handshakeW, "%s\n", line)
			return
		}
		r.log.logStdout(line, cut)
	})
}

func (r *run) readStderr(f *os.File) {
	defer r.readers.Done()
	readLines(f, r.log.logStderr)
}

// Start does nothing: exec has started the program.
func (r *run) Start(context.Context) error { return nil }

// Diagnose is not asked: the error is made from the exit status and the last lines.
func (r *run) Diagnose(context.Context) string { return "" }

func (r *run) Stdout() io.ReadCloser { return r.handshake }
func (r *run) Stderr() io.ReadCloser {
	return io.NopCloser(strings.NewReader(""))
}
func (r *run) Name() string { return r.spec.Name }
func (r *run) ID() string {
	return strconv.Itoa(r.child.pid)
}

func (r *run) Wait(context.Context) error {
	<-r.over
	return nil
}

func (r *run) Kill(context.Context) error {
	r.killChild()
	return nil
}

func (r *run) PluginToHost(network, addr string) (string, string, error) {
	return network, addr, nil
}
func (r *run) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}
