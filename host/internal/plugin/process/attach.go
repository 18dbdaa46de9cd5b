package process

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"ctl.internal/internal/wire"
)

// ParseAttach reads what a plugin started with --debug prints: where it listens.
func ParseAttach(name, text string) (*wire.Reattach, error) {
	var v wire.Reattach
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, fmt.Errorf(
			"%s does not contain the JSON that a plugin prints with --debug: %w",
			wire.ReattachVariable(name),
			err,
		)
	}
	if v.Network == "" || v.Address == "" {
		return nil, fmt.Errorf(
			"%s names no address: copy the whole line that the plugin printed",
			wire.ReattachVariable(name),
		)
	}
	return &v, nil
}

// attachProcess connects to a process that somebody else started and will end. There is
// no mutual TLS: the keys belong to a start by us.
func attachProcess(ctx context.Context, s Spec) (*Process, error) {
	s.Logger.Warn("the plugin is a process under a debugger: it is neither verified, nor started, nor restarted, nor encrypted",
		"address", s.Attach.Address, "pid", s.Attach.Pid, "variable", wire.ReattachVariable(s.Name))
	conn, err := grpc.NewClient("passthrough:///"+s.Attach.Address, append(dialOptions(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, s.Attach.Network, addr)
		}))...)
	if err != nil {
		return nil, err
	}
	p := &Process{
		PID:     s.Attach.Pid,
		spec:    s,
		conn:    conn,
		Started: time.Now(),
		done:    make(chan struct{}),
		log:     newLogSink(s),
	}
	ctx, cancel := context.WithTimeout(ctx, s.StartTimeout)
	defer cancel()
	if err := p.Ping(ctx); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf(
			"nothing answers at the address in %s; start the plugin with --debug again or unset the variable: %w",
			wire.ReattachVariable(s.Name),
			err,
		)
	}
	return p, nil
}

// detach ends the connection and leaves the process to its debugger.
func (p *Process) detach() {
	p.detached.Do(func() {
		_ = p.conn.Close()
		close(p.done)
	})
}
