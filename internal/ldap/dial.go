package ldap

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"runtime"
	"runtime/debug"
	"time"

	ber "github.com/go-asn1-ber/asn1-ber"
	goldap "github.com/go-ldap/ldap/v3"
)

// Bound sets limits of the whole process, so a plugin calls it once, before it makes
// a client: what a server may make it read at once, 4 MiB; garbage collected only when
// the heap, of a few MiB, has grown fivefold, for logins leave much garbage; and one
// processor. A login costs some 120 µs here, most of them handing messages from one
// goroutine of the client library to the next: on one processor that is cheaper, and
// one serves more logins than a directory does.
func Bound() {
	ber.MaxPacketLengthBytes = 4 << 20
	debug.SetGCPercent(400)
	runtime.GOMAXPROCS(1)
}

// dialServer connects to a server and agrees on TLS, verifying its certificate.
func (p *pool) dialServer(ctx context.Context, index int) (*conn, error) {
	server := p.s.Servers[index]
	ctx, cancel := context.WithTimeout(ctx, p.s.Dial)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", server.Address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", server.URL, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	c, err := p.negotiateTLS(ctx, raw, server)
	if !stop() || err != nil {
		_ = raw.Close()
		if err == nil || ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("%s: %w", server.URL, err)
	}
	return &conn{
		Conn:   c,
		raw:    raw,
		server: index,
		since:  time.Now(),
	}, nil
}

func (p *pool) negotiateTLS(
	ctx context.Context,
	raw net.Conn,
	server Server,
) (*goldap.Conn, error) {
	var settings *tls.Config
	if server.TLS || p.s.StartTLS {
		var err error
		if settings, err = p.trust.Client(ctx, server.Host); err != nil {
			return nil, err
		}
	}
	if server.TLS {
		secure := tls.Client(raw, settings)
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		raw = secure
	}
	c := goldap.NewConn(raw, server.TLS)
	c.Start()
	if p.s.StartTLS && !server.TLS {
		if err := c.StartTLS(settings); err != nil {
			_ = c.Close()
			return nil, err
		}
	}
	return c, nil
}
