package netconf

import (
	"errors"
	"io"

	lib "github.com/Juniper/go-netconf/netconf"

	"ctl.internal/internal/netconf/framing"
)

// transport is our lib.Transport. The library's session ignores errors of hellos and
// looks for base:1.1 anywhere in a capability; both are decided here.
type transport struct {
	conn     io.ReadWriteCloser
	f        *framing.Framer
	limit    int
	helloErr error
	sent     chan error // our hello, sent beside the server's (RFC 6241 section 8.1)
}

func newTransport(conn io.ReadWriteCloser, limit int) *transport {
	f := framing.New(conn, limit)
	t := &transport{conn: conn, f: f, limit: f.Max, sent: make(chan error, 1)}
	f.Max = min(f.Max, maxHello)
	go func() { t.sent <- f.Write(ourHello()) }() // ends when conn is closed, at the latest
	return t
}

// ReceiveHello never returns nil, because the library does not look at the error.
func (t *transport) ReceiveHello() (*lib.HelloMessage, error) {
	data, err := t.f.Read()
	var h *lib.HelloMessage
	if err == nil {
		h, err = parseHello(data)
	}
	if err != nil {
		t.helloErr = err
		t.conn.Close()
		return &lib.HelloMessage{}, err
	}
	// The framing changes only after our own hello.
	if err := <-t.sent; err != nil {
		t.helloErr = err
		return &lib.HelloMessage{}, err
	}
	t.f.Max = t.limit
	t.f.Chunked = Capabilities(h.Capabilities).Has(Base11)
	return h, nil
}

// SendHello does nothing: ours was sent at once.
func (t *transport) SendHello(*lib.HelloMessage) error { return t.helloErr }

// SetVersion does nothing: ReceiveHello has decided.
func (t *transport) SetVersion(string) {}

func (t *transport) Send(msg []byte) error { return t.f.Write(msg) }

// sendAll sends messages in one piece, as far as the stream allows.
func (t *transport) sendAll(msgs [][]byte) error { return t.f.Write(msgs...) }

func (t *transport) Receive() ([]byte, error) {
	msg, err := t.f.Read()
	if errors.Is(err, io.EOF) {
		err = errors.New("the router closed the session")
	}
	return msg, err
}

func (t *transport) Close() error { return t.conn.Close() }
