package simrouter

import (
	"slices"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/framing"
	"ctl.internal/internal/netconf/xmltree"
)

// session is one NETCONF session. Only run reads; the writer goroutine writes what
// is queued, so that a slow client does not delay others.
type session struct {
	r          *Router
	id         uint32
	user       string
	ch         ssh.Channel
	f          *framing.Framer
	subscribed bool // Router.mu
	asked      int

	mu   sync.Mutex
	held []byte // a reply that Swap keeps back

	once  sync.Once
	out   chan []byte
	ended chan struct{}
}

func newSession(r *Router, user string, ch ssh.Channel) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastID++
	s := &session{
		r:     r,
		id:    r.lastID,
		user:  user,
		ch:    ch,
		f:     framing.New(ch, 0),
		out:   make(chan []byte, 4096),
		ended: make(chan struct{}),
	}
	r.sessions[s.id] = s
	return s
}

// close may be called often.
func (s *session) close() {
	s.once.Do(func() {
		close(s.ended)
		s.ch.Close()
	})
}

func (s *session) runSession() {
	written := make(chan struct{})
	go func() {
		defer close(written)
		s.writeQueued()
	}()
	defer func() {
		s.close()
		<-written
		s.r.mu.Lock()
		defer s.r.mu.Unlock()
		delete(s.r.sessions, s.id)
		if s.r.store.releaseSession(s.id) {
			s.r.recordAct(s.id, "rollback")
			s.r.notifyConfigChange(nil)
		}
	}()
	f := s.r.currentFaults()
	switch {
	case f.NoHello:
	case f.Hello != "":
		s.queueMessage([]byte(f.Hello))
	default:
		s.queueMessage(s.frameMessage(s.helloMessage(), false, f))
	}
	data, err := s.f.Read()
	if err != nil {
		return
	}
	hello, err := xmltree.Parse(data)
	if err != nil || !hello.Is(netconf.NS, "hello") {
		return
	}
	if !s.r.o.Base10 {
		for _, c := range hello.Down("capabilities").All(netconf.NS, "capability") {
			s.f.Chunked = s.f.Chunked || c.Trimmed() == netconf.Base11
		}
	}
	for {
		data, err := s.f.Read()
		if err != nil {
			return
		}
		rpc, err := xmltree.Parse(data)
		if err != nil || !rpc.Is(netconf.NS, "rpc") || !s.answerRPC(rpc) {
			return
		}
	}
}

func (s *session) writeQueued() {
	for {
		select {
		case b := <-s.out:
			for n := s.r.currentFaults().Pieces; n > 0 && len(b) > n; b = b[n:] {
				if _, err := s.ch.Write(b[:n]); err != nil {
					return
				}
			}
			if len(b) == 0 { // what queues nothing ends the session after what it queued before
				s.close()
				return
			}
			if _, err := s.ch.Write(b); err != nil {
				return
			}
		case <-s.ended:
			return
		}
	}
}

// queueMessage ends a session that reads nothing any more.
func (s *session) queueMessage(b []byte) {
	select {
	case s.out <- b:
	default:
		s.close()
	}
}

func (s *session) helloMessage() []byte {
	caps := xmltree.New(netconf.NS, "capabilities")
	has := []string{netconf.Base10, netconf.Base11, netconf.WritableRunning, netconf.Candidate, netconf.ConfirmedCommit, netconf.RollbackOnError,
		netconf.Validate11, netconf.Notifications, netconf.Interleave}
	for _, c := range append(has, s.r.o.Model.Modules...) {
		if s.r.hasCapability(c) {
			caps.Add(xmltree.Leaf(netconf.NS, "capability", c))
		}
	}
	return xmltree.New(
		netconf.NS,
		"hello",
		caps,
		xmltree.Leaf(netconf.NS, "session-id", formatUint(s.id)),
	).Bytes()
}

// hasCapability reports whether the router has a capability.
func (r *Router) hasCapability(capability string) bool {
	if capability == netconf.Base11 && r.o.Base10 {
		return false
	}
	return !slices.ContainsFunc(r.o.Leave, func(l string) bool {
		return l == capability || strings.HasPrefix(capability, l+"?")
	})
}
