package process

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"ctl.internal/internal/wire"
)

// launchProgram shakes hands with the program and sees to the cleaning up after it.
func (p *Process) launchProgram(ctx context.Context) error {
	p.run = newRun(p.spec, p.log)
	key, certificate, err := wire.ClientCertificate()
	if err != nil {
		_ = os.RemoveAll(p.dir)
		return fmt.Errorf("cannot create the certificate for plugin %s: %w", p.spec.Name, err)
	}
	var execErr, recordErr error
	own := filepath.Join(p.dir, ownDir)
	p.client = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  wire.Handshake,
		Plugins:          wire.Set(nil),
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		// Mutual TLS as go-plugin's AutoMTLS does it, with our certificate: go-plugin
		// adds the plugin's, which comes with the handshake, to the trusted ones.
		TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{key},
			RootCAs:      x509.NewCertPool(),
			ServerName:   "localhost",
			MinVersion:   tls.VersionTLS12,
		},
		SkipHostEnv:  true,
		StartTimeout: p.spec.StartTimeout,
		// the faults it logs are reported by us, with their cause
		Logger:           wire.HCLog(p.spec.Logger, slog.LevelDebug),
		SyncStdout:       &lineWriter{f: p.log.logStdout},
		SyncStderr:       &lineWriter{f: p.log.logStderr},
		GRPCDialOptions:  dialOptions(),
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: own},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, _ string) (runner.Runner, error) {
			execErr = p.run.execProgram(
				p.prog,
				p.dir,
				pluginEnviron(
					append(cmd.Env, "PLUGIN_CLIENT_CERT="+string(certificate)),
					p.spec,
					own,
				),
			)
			if execErr != nil {
				return nil, execErr
			}
			p.PID = p.run.child.pid
			p.log.addAttrs(slog.Int("pid", p.PID))
			recordErr = writeRecord(p.dir, p.PID)
			return p.run, nil
		},
	})
	stop := context.AfterFunc(ctx, p.run.killChild)
	defer stop()
	proto, err := p.client.Client()
	if execErr != nil || p.run.child == nil {
		_ = os.RemoveAll(p.dir)
		return err
	}
	if err == nil && recordErr != nil {
		err = fmt.Errorf("the process cannot be recorded: %w", recordErr)
	}
	if err != nil {
		ended := p.run.endedByItself(exitGrace / 10)
		p.run.killChild()
		p.cleanUp()
		return p.startError(ctx, err, ended)
	}
	p.conn = proto.(*goplugin.GRPCClient).Conn
	go p.cleanUp()
	return nil
}

// cleanUp waits for the end of the process and removes what is left of it. A dead
// process needs go-plugin's Kill too, which ends its goroutines.
func (p *Process) cleanUp() {
	<-p.run.over
	p.client.Kill()
	_ = os.RemoveAll(p.dir)
	close(p.done)
}

// startError replaces go-plugin's guesses by what is known.
func (p *Process) startError(ctx context.Context, err error, ended bool) error {
	if e := ctx.Err(); e != nil {
		return fmt.Errorf("the start of plugin %s was cancelled: %w", p.spec.Name, e)
	}
	exit := p.Exit()
	switch {
	case ended && exit.Clean():
		return fmt.Errorf(
			"plugin %s ended before its handshake, without an error; does its main call sdk.Serve?",
			p.spec.Name,
		)
	case ended:
		return fmt.Errorf("plugin %s ended before its handshake: %s", p.spec.Name, exit)
	case strings.HasPrefix(err.Error(), "timeout while waiting"):
		err = errors.New("no handshake within " + p.spec.StartTimeout.String())
	}
	msg := strings.Join(strings.Fields(err.Error()), " ")
	exit.Reason = fmt.Sprintf("plugin %s was stopped at its start: %s", p.spec.Name, msg)
	return errors.New(exit.String())
}

// inherited is all that a plugin gets of the host's environment, which may hold
// passwords and tokens.
var inherited = [...]string{"PATH", "TZ", "LANG", "HOME", "SSL_CERT_FILE", "SSL_CERT_DIR"}

// pluginEnviron builds a plugin's environment from go-plugin's own variables.
func pluginEnviron(handshake []string, s Spec, socketDir string) []string {
	var env []string
	for _, k := range inherited {
		v, ok := os.LookupEnv(k)
		if ok && (k != "HOME" || s.Isolate == nil) {
			env = append(env, k+"="+v)
		}
	}
	if s.Isolate != nil { // what the user of the host has there is closed to it
		env = append(env, "HOME="+s.DataDir, "TMPDIR="+socketDir)
	}
	env = append(env, s.Env...)
	for _, kv := range handshake {
		if !strings.HasPrefix(kv, goplugin.EnvUnixSocketDir+"=") {
			env = append(env, kv)
		}
	}
	return append(env,
		goplugin.EnvUnixSocketDir+"="+socketDir,
		wire.EnvSocket+"="+s.HostSocket,
		wire.EnvParent+"="+strconv.Itoa(os.Getpid()),
		wire.EnvData+"="+s.DataDir,
	)
}

// Buffers and windows as measured for this hop; a fixed window also turns the
// bandwidth probes off, which cost more than they bring on a unix socket.
const (
	bufferSize = 128 << 10
	windowSize = 8 << 20
)

func dialOptions() []grpc.DialOption {
	return wire.DialOptions(
		grpc.WithReadBufferSize(bufferSize),
		grpc.WithWriteBufferSize(bufferSize),
		grpc.WithInitialWindowSize(windowSize),
		grpc.WithInitialConnWindowSize(windowSize),
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableHealthCheck(),
	)
}
