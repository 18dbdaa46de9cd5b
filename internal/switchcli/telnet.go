package switchcli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"

	"ctl.internal/sdk/fault"
)

// telnet is the network virtual terminal of RFC 854.
type telnet struct {
	net.Conn
	in decoder
}

func dialTelnet(ctx context.Context, t Target) (io.ReadWriteCloser, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", t.address())
	if err != nil {
		f := fault.Device(fault.Unavailable, "switch %s: no telnet connection to %s: %v", t, t.address(), rootCause(err))
		if ctx.Err() != nil {
			f.Kind = fault.Timeout
		}
		f.Cause = err
		return nil, f
	}
	return &telnet{Conn: conn, in: decoder{answered: map[[2]byte]bool{}}}, nil
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
