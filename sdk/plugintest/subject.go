package plugintest

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/types/known/emptypb"

	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// subject is a process of the plugin under test. It is started as the host does,
// but in a few lines: this package must not import the host.
type subject struct {
	cmd    *exec.Cmd
	conn   *grpc.ClientConn
	base   pluginv1.BaseClient
	socket string
	dir    string
	exited chan struct{}

	mu     sync.Mutex
	stdout []string // lines besides the handshake
	stderr []string
}

// launchPlugin starts the plugin and shakes hands with it.
func (k *checker) launchPlugin(env ...string) (*subject, error) {
	dir, err := os.MkdirTemp(k.host.dir, "p")
	if err != nil {
		return nil, err
	}
	key, certificate, err := wire.ClientCertificate()
	if err != nil {
		return nil, err
	}
	s := &subject{dir: dir, exited: make(chan struct{})}
	s.cmd = exec.Command(k.bin)
	s.cmd.Dir = dir
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.cmd.Env = []string{
		wire.Handshake.MagicCookieKey + "=" + wire.Handshake.MagicCookieValue,
		"PLUGIN_PROTOCOL_VERSIONS=" + strconv.Itoa(int(wire.Handshake.ProtocolVersion)),
		"PLUGIN_UNIX_SOCKET_DIR=" + dir, "PLUGIN_CLIENT_CERT=" + string(certificate),
		wire.EnvSocket + "=" + k.host.Socket(),
		wire.EnvParent + "=" + strconv.Itoa(os.Getpid()), wire.EnvData + "=" + dir,
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
	}
	s.cmd.Env = append(s.cmd.Env, env...)
	line, err := s.startProcess(k.ctx)
	k.subjects = append(k.subjects, s)
	if err != nil {
		return s, err
	}
	return s, s.dialPlugin(line, key)
}

// startProcess starts the process and returns its handshake.
func (s *subject) startProcess(ctx context.Context) (string, error) {
	outR, outW := io.Pipe()
	errR, errW := io.Pipe()
	s.cmd.Stdout, s.cmd.Stderr = outW, errW
	s.cmd.WaitDelay = time.Second // a child in a group of its own may hold them open
	if err := s.cmd.Start(); err != nil {
		close(s.exited)
		return "", err
	}
	first := make(chan string, 1)
	var readers sync.WaitGroup
	readers.Go(func() { s.readLines(outR, &s.stdout, first) })
	readers.Go(func() { s.readLines(errR, &s.stderr, nil) })
	go func() {
		_ = s.cmd.Wait() // how it ended is in ProcessState
		outW.Close()
		errW.Close()
		readers.Wait()
		close(s.exited)
	}()
	select {
	case line, ok := <-first:
		if !ok {
			<-s.exited
			return "", fmt.Errorf(
				"the plugin ended without a handshake (%v); its last output: %s",
				s.cmd.ProcessState,
				s.lastWords(),
			)
		}
		return line, nil
	case <-ctx.Done():
		return "", errors.New("the plugin sent no handshake in time")
	}
}

// readLines collects lines. The first that looks like a handshake goes to first, which is closed when there is none.
func (s *subject) readLines(r io.Reader, into *[]string, first chan<- string) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if first != nil && strings.Count(lines.Text(), "|") >= 4 {
			first <- lines.Text()
			first = nil
			continue
		}
		s.mu.Lock()
		if len(*into) < 10_000 {
			*into = append(*into, lines.Text())
		}
		s.mu.Unlock()
	}
	if first != nil {
		close(first)
	}
	_, _ = io.Copy(io.Discard, r)
}

func (s *subject) lastWords() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.stderr) == 0 {
		return "none"
	}
	return s.stderr[len(s.stderr)-1]
}

// dialPlugin connects as the handshake says, with mutual TLS.
func (s *subject) dialPlugin(line string, key tls.Certificate) error {
	f := strings.Split(strings.TrimSpace(line), "|")
	if f[0] != "1" ||
		f[1] != strconv.Itoa(int(wire.Handshake.ProtocolVersion)) ||
		f[2] != "unix" ||
		f[4] != "grpc" {
		return fmt.Errorf(
			"the handshake %q must read 1|%d|unix|PATH|grpc|CERTIFICATE",
			line,
			wire.Handshake.ProtocolVersion,
		)
	}
	if s.socket = f[3]; filepath.Dir(s.socket) != s.dir {
		return fmt.Errorf(
			"the socket %s does not lie in the directory that PLUGIN_UNIX_SOCKET_DIR names",
			s.socket,
		)
	}
	if len(f) < 6 || f[5] == "" {
		return errors.New("the handshake holds no certificate although PLUGIN_CLIENT_CERT is set")
	}
	der, err := base64.RawStdEncoding.DecodeString(f[5])
	if err != nil {
		return fmt.Errorf("the certificate in the handshake is not base64 without padding: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return fmt.Errorf("the certificate in the handshake: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	s.conn, err = grpc.NewClient("unix://"+s.socket, wire.DialOptions(grpc.WithTransportCredentials(credentials.NewTLS(
		&tls.Config{
			Certificates: []tls.Certificate{key},
			RootCAs:      pool,
			ServerName:   "localhost",
			MinVersion:   tls.VersionTLS12,
		})))...)
	if err != nil {
		return err
	}
	s.base = pluginv1.NewBaseClient(s.conn)
	return nil
}

// shutdown ends the plugin's server as go-plugin does after Stop.
func (s *subject) shutdown(ctx context.Context) {
	_ = s.conn.Invoke(ctx, "/plugin.GRPCController/Shutdown", &emptypb.Empty{}, &emptypb.Empty{})
}

// waitGone waits for the end of the process.
func (s *subject) waitGone(limit time.Duration) bool {
	select {
	case <-s.exited:
		return true
	case <-time.After(limit):
		return false
	}
}

// killProcess kills whatever is left.
func (s *subject) killProcess() {
	if s.conn != nil {
		_ = s.conn.Close()
	}
	if s.cmd.Process != nil && !s.waitGone(0) {
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	}
	<-s.exited
}

// checkOutput looks at what the process has written.
func (k *checker) checkOutput(s *subject) {
	if len(s.stdout) > 0 {
		k.addFault(
			"it writes to standard output, which belongs to the handshake: %q; log with log/slog instead",
			s.stdout[0],
		)
	}
	for _, l := range s.stderr {
		if !strings.HasPrefix(l, "{") {
			k.addWarning("a log line is no JSON and loses its level: %q; log with log/slog", l)
			return
		}
	}
}
