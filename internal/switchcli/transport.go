package switchcli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"

	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/netconf"
	"ctl.internal/sdk/fault"
)

// shell is a shell over SSH.
type shell struct {
	ssh.Channel
	client *ssh.Client
}

func dialSSH(ctx context.Context, t Target) (io.ReadWriteCloser, string, error) {
	client, key, err := netconf.DialSSH(
		ctx,
		netconf.Target{
			Host:     t.Host,
			Port:     t.TCPPort(),
			User:     t.User,
			Password: t.Password,
			HostKey:  t.HostKey,
		},
	)
	if err != nil {
		kind := fault.Unavailable
		var other *netconf.HostKeyError
		switch {
		case ctx.Err() != nil:
			kind = fault.Timeout
		case errors.Is(err, netconf.ErrLogin), errors.As(err, &other):
			kind = fault.Denied
		}
		return nil, key, deviceFault(kind, err, "switch %s: %v", t, err)
	}
	s := shell{client: client}
	stop := context.AfterFunc(ctx, func() { _ = client.Close() })
	defer stop()
	if s.Channel, err = netconf.OpenShell(client); err != nil {
		_ = client.Close()
		return nil, key, deviceFault(
			fault.Downstream,
			err,
			"switch %s: its SSH server has no command line: %v",
			t,
			err,
		)
	}
	return s, key, nil
}

// Close ends the connection.
func (s shell) Close() error { return s.client.Close() }

// telnet is the network virtual terminal of RFC 854.
type telnet struct {
	net.Conn
	in decoder
}

func dialTelnet(ctx context.Context, t Target) (io.ReadWriteCloser, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", t.address())
	if err != nil {
		kind := fault.Unavailable
		if ctx.Err() != nil {
			kind = fault.Timeout
		}
		return nil, deviceFault(
			kind,
			err,
			"switch %s: no telnet connection to %s: %v",
			t,
			t.address(),
			rootCause(err),
		)
	}
	return &telnet{
		Conn: conn,
		in:   decoder{answered: map[[2]byte]bool{}},
	}, nil
}

// rootCause is an error without the addresses around it.
func rootCause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// Read returns data, and answers the commands among it.
func (t *telnet) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	data, reply := t.in.decode(b[:n])
	if len(reply) > 0 && err == nil {
		_, err = t.Conn.Write(reply)
	}
	return copy(b, data), err
}

// Write sends data.
func (t *telnet) Write(b []byte) (int, error) {
	if _, err := t.Conn.Write(bytes.ReplaceAll(b, []byte{iac}, []byte{iac, iac})); err != nil {
		return 0, err
	}
	return len(b), nil
}
