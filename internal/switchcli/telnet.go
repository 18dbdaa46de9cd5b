package switchcli

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/scrapli/scrapligo/transport"

	"ctl.internal/sdk/fault"
)

// maxAnswer bounds what a switch may say to one command, in octets.
const maxAnswer = 2 << 20

// account counts what comes in and keeps what ended the connection.
type account struct {
	count atomic.Int64
	mu    sync.Mutex
	cause error
}

func (a *account) reset() { a.count.Store(0) }

func (a *account) why() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cause
}

// over notes the end; scrapligo's reading ends with io.EOF only.
func (a *account) over(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cause == nil {
		a.cause = err
	}
	return io.EOF
}

func (a *account) took(n int, t Target) error {
	if a.count.Add(int64(n)) > maxAnswer {
		return a.over(fault.Device(fault.TooBig, "switch %s: it says more than %d octets to one command", t, maxAnswer))
	}
	return nil
}

// telnet is the network virtual terminal of RFC 854. scrapligo's own waits by the
// clock for the options, and connects without a deadline.
type telnet struct {
	account
	target Target
	conn   net.Conn
	closed sync.Once
	in     decoder
}

func dialTelnet(ctx context.Context, t Target) (*telnet, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", t.address())
	if err != nil {
		f := fault.Device(fault.Unavailable, "switch %s: no telnet connection to %s: %v", t, t.address(), rootCause(err))
		if ctx.Err() != nil {
			f.Kind = fault.Timeout
		}
		f.Cause = err
		return nil, f
	}
	return &telnet{target: t, conn: conn, in: decoder{told: map[[2]byte]bool{}}}, nil
}

// rootCause is an error without the addresses around it.
func rootCause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

func (t *telnet) Open(*transport.Args) error { return nil }
func (t *telnet) IsAlive() bool              { return t.why() == nil }

func (t *telnet) Close() (err error) {
	t.closed.Do(func() { err = t.conn.Close() })
	return err
}

func (t *telnet) Read(n int) ([]byte, error) {
	b := make([]byte, n)
	n, err := t.conn.Read(b)
	if err != nil {
		return nil, t.over(err)
	}
	data, reply := t.in.decode(b[:n])
	if len(reply) > 0 {
		if _, err := t.conn.Write(reply); err != nil {
			return nil, t.over(err)
		}
	}
	return data, t.took(n, t.target)
}

func (t *telnet) Write(b []byte) error {
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if out = append(out, c); c == iac {
			out = append(out, iac)
		}
	}
	_, err := t.conn.Write(out)
	return err
}
