package netconf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	lib "github.com/Juniper/go-netconf/netconf"

	"ctl.internal/internal/netconf/framing"
	"ctl.internal/internal/netconf/xmltree"
)

// Bounds of a hello; the largest routers announce some two thousand modules.
const (
	maxHello        = 4 << 20
	maxCapabilities = 20_000
)

// ourHello offers both framings (RFC 6241 section 8.1). No session-id: that is the
// server's.
func ourHello() []byte {
	caps := xmltree.New(
		NS,
		"capabilities",
		xmltree.Leaf(NS, "capability", Base10),
		xmltree.Leaf(NS, "capability", Base11),
	)
	return xmltree.New(NS, "hello", caps).Bytes()
}

// parseHello reads the hello of a server and refuses what RFC 6241 section 8.1 does.
func parseHello(data []byte) (*lib.HelloMessage, error) {
	root, err := xmltree.Parse(data)
	if err != nil {
		return nil, err
	}
	if !root.Is(NS, "hello") {
		return nil, fmt.Errorf("the first message is %q of %q, not a hello", root.Name, root.Space)
	}
	lists, ids := root.All(NS, "capabilities"), root.All(NS, "session-id")
	if len(lists) != 1 || len(ids) != 1 {
		return nil, fmt.Errorf(
			"a hello has one list of capabilities and one session-id, not %d and %d",
			len(lists),
			len(ids),
		)
	}
	h := &lib.HelloMessage{}
	id, err := strconv.ParseUint(ids[0].Trimmed(), 10, 32)
	if err != nil || id == 0 {
		return nil, fmt.Errorf(
			"the session-id %.20q is not a number from 1 to 4294967295",
			ids[0].Trimmed(),
		)
	}
	h.SessionID = int(id)
	for _, k := range lists[0].Kids {
		uri := k.Trimmed()
		if !k.Is(NS, "capability") || uri == "" || len(k.Kids) > 0 {
			return nil, errors.New("the list of capabilities holds something else than capabilities")
		}
		h.Capabilities = append(h.Capabilities, uri)
	}
	if len(h.Capabilities) > maxCapabilities {
		return nil, fmt.Errorf("more than %d capabilities", maxCapabilities)
	}
	c := Capabilities(h.Capabilities)
	if !c.Has(Base10) && !c.Has(Base11) {
		return nil, errors.New("neither base:1.0 nor base:1.1 is announced")
	}
	return h, nil
}

// greetAgain is how long the first question may be unanswered before it is asked
// again; the pause doubles. It is asked maxGreets times at most.
const (
	greetAgain = time.Second
	maxGreets  = 6
)

// probeServer asks for nothing until there is an answer to one of its questions. Some
// servers lose the first message after a hello (seen with netconfd 2.13); a question
// that changes nothing may be lost and asked again, an edit may not.
func (s *Session) probeServer(ctx context.Context) error {
	op := GetConfigOp(Running, NoFilter()...)
	reply := make(chan Answer, maxGreets) // room for an answer to each
	var asked []string
	defer func() { s.abandonRequests(asked) }()
	for pause := greetAgain; ; pause *= 2 {
		var again <-chan time.Time
		if len(asked) < maxGreets {
			ids, err := s.sendOperations(ctx, []Operation{op}, []chan Answer{reply}, func() {
				s.fail(ctx.Err())
			})
			if err != nil {
				return err
			}
			asked = append(asked, ids...)
			again = time.After(pause)
		}
		select {
		case a := <-reply:
			if Refused(a.Err) != nil || errors.Is(a.Err, ErrUnclear) {
				return nil
			}
			return a.Err
		case <-ctx.Done():
			return errors.Join(errors.New("the router sent hello and then nothing"), ctx.Err())
		case <-again:
		}
	}
}

// abandonRequests lets answers to these questions come late.
func (s *Session) abandonRequests(ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if s.waiting[id] != nil {
			delete(s.waiting, id)
			s.abandoned[id] = true
		}
	}
}

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
	t := &transport{
		conn:  conn,
		f:     f,
		limit: f.Max,
		sent:  make(chan error, 1),
	}
	f.Max = min(f.Max, maxHello)
	go func() {
		t.sent <- f.Write(ourHello())
	}() // ends when conn is closed, at the latest
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
func (t *transport) SendHello(*lib.HelloMessage) error {
	return t.helloErr
}

// SetVersion does nothing: ReceiveHello has decided.
func (t *transport) SetVersion(string) {}

func (t *transport) Send(msg []byte) error {
	return t.f.Write(msg)
}

func (t *transport) Receive() ([]byte, error) {
	msg, err := t.f.Read()
	if errors.Is(err, io.EOF) {
		err = errors.New("the router closed the session")
	}
	return msg, err
}

func (t *transport) Close() error { return t.conn.Close() }
