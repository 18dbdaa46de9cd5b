package ovsdb

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// maxSession is how much a host may say in one session, in bytes.
const maxSession = 16 << 20

// errTooMuch is a host that says more.
var errTooMuch = fmt.Errorf("the host says more than %d bytes", maxSession)

// ErrTrust is a host whose certificate is not trusted, or that does not trust ours.
var ErrTrust = errors.New("TLS is refused")

// refused says it when the other end does not take our certificate (RFC 8446, 6.2): it
// tells by an alert, in version 1.3 only after the handshake.
func refused(err error) error {
	if e := (*net.OpError)(nil); errors.As(err, &e) && e.Op == "remote error" {
		return fmt.Errorf("%w: the host does not take the controller's certificate (%w); its `ovs-vsctl set-ssl` must name the authority that signed it", ErrTrust, e.Err)
	}
	return err
}

// dial reaches tcp:ADDRESS:PORT, ssl:ADDRESS:PORT or unix:PATH.
func dial(ctx context.Context, endpoint string, conf *tls.Config) (net.Conn, error) {
	scheme, rest, _ := strings.Cut(endpoint, ":")
	switch scheme {
	case "tcp":
		return (&net.Dialer{}).DialContext(ctx, "tcp", rest)
	case "ssl":
		c, err := (&tls.Dialer{Config: conf}).DialContext(ctx, "tcp", rest)
		return c, refused(err)
	case "unix":
		return (&net.Dialer{}).DialContext(ctx, "unix", rest)
	}
	return nil, fmt.Errorf("%q is no place of an OVSDB; write tcp:ADDRESS:PORT, ssl:ADDRESS:PORT or unix:PATH", endpoint)
}

// relay is a private socket whose one connection is passed on to a host. libovsdb
// dials by itself and reads without a bound; the relay bounds what it reads, ends
// it with the context, and passes only what libovsdb can read (sift).
type relay struct {
	dir  string
	peer net.Conn
	lis  net.Listener
	all  sync.WaitGroup

	mu  sync.Mutex
	own net.Conn
	err error
}

func newRelay(ctx context.Context, endpoint string, conf *tls.Config) (*relay, error) {
	peer, err := dial(ctx, endpoint, conf)
	if err != nil {
		return nil, err
	}
	r := &relay{peer: peer}
	if r.dir, err = os.MkdirTemp("", "ovsdb"); err == nil { // 0700
		r.lis, err = net.Listen("unix", r.path())
	}
	if err != nil {
		peer.Close()
		os.RemoveAll(r.dir)
		return nil, err
	}
	r.all.Go(r.pass)
	return r, nil
}

func (r *relay) path() string { return filepath.Join(r.dir, "s") }

func (r *relay) pass() {
	c, err := r.lis.Accept()
	r.lis.Close()
	if err != nil {
		return
	}
	r.mu.Lock()
	r.own = c
	r.mu.Unlock()
	r.all.Go(func() {
		if _, err := io.Copy(r.peer, c); !hungUp(err) { // else sift finds out why
			r.cut() // one end's end is the other's
		}
	})
	switch err = sift(c, &io.LimitedReader{R: r.peer, N: maxSession + 1}); {
	case errors.Is(err, io.EOF), hungUp(err):
		err = errors.New("the host hung up")
	case errors.Is(err, net.ErrClosed):
		err = nil // cut at this end, which knows why
	default:
		err = refused(err)
	}
	r.mu.Lock()
	r.err = err
	r.mu.Unlock()
	r.cut()
}

// hungUp reports whether the host closed the connection while it was written to.
func hungUp(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func (r *relay) cut() {
	r.peer.Close()
	r.lis.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.own != nil {
		r.own.Close()
	}
}

// why is what ended the connection.
func (r *relay) why() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *relay) close() {
	r.cut()
	r.all.Wait()
	os.RemoveAll(r.dir)
}
