// Package ldaptest is a small LDAP server inside a test, for realms and for those who
// write one: simple bind, subtree search with equality and presence, StartTLS, and
// the faults a client must survive. Real servers are in test/peers.
package ldaptest

import (
	"crypto/tls"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	ber "github.com/go-asn1-ber/asn1-ber"
	goldap "github.com/go-ldap/ldap/v3"
)

// Entry is an entry of the directory.
type Entry struct {
	DN         string
	Password   string // empty = cannot bind
	Attributes map[string][]string
}

// Server is a running server. Its fields are set before the first connection.
type Server struct {
	Entries    []Entry
	TLS        *tls.Config // for StartTLS, and for ldaps when Secure
	Secure     bool        // ldaps
	BindCode   uint16      // answers every bind with this result code
	Diagnostic string      // text of refused binds
	SearchCode uint16      // answers every search with this result code
	// Policy is what the response control of a password policy says to a bind, as the contents of its value: {[0] warning}
	// or {[1] error}; nil = no control.
	Policy func(dn string) []byte
	// Refuse says which binds are refused although the password is right; nil = none.
	Refuse func(dn string) bool

	// Hang makes the server read and not answer.
	Hang atomic.Bool
	// Binds and Dials count what came, Anonymous the searches on connections without a good bind.
	Binds, Dials, Anonymous atomic.Int64

	listener net.Listener
	mu       sync.Mutex
	conns    map[net.Conn]bool
	filters  []string
	wg       sync.WaitGroup
}

// Start serves until the test ends; the address is a free port of the loopback.
func (s *Server) Start(t testing.TB) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.listener, s.conns = l, map[net.Conn]bool{}
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.Dials.Add(1)
			s.mu.Lock()
			s.conns[c] = true
			s.mu.Unlock()
			s.wg.Go(func() { s.serveConn(c) })
		}
	})
	t.Cleanup(s.Stop)
	return s
}

// Stop ends the server and its connections.
func (s *Server) Stop() {
	_ = s.listener.Close()
	s.Drop()
	s.wg.Wait()
}

// Drop closes all connections, as a server that restarts does.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Close()
	}
}

// URL is the server's address.
func (s *Server) URL() string {
	if s.Secure {
		return "ldaps://" + s.listener.Addr().String()
	}
	return "ldap://" + s.listener.Addr().String()
}

// Filters are the filters of all searches so far.
func (s *Server) Filters() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.filters...)
}

func (s *Server) serveConn(raw net.Conn) {
	c := raw
	if s.Secure {
		c = tls.Server(raw, s.TLS)
	}
	defer func() {
		_ = c.Close()
		s.mu.Lock()
		delete(s.conns, raw)
		s.mu.Unlock()
	}()
	bound := false
	for {
		p, err := ber.ReadPacket(c)
		if err != nil || len(p.Children) < 2 {
			return
		}
		if s.Hang.Load() {
			continue
		}
		id, op := p.Children[0].Value, p.Children[1]
		switch op.Tag {
		case goldap.ApplicationBindRequest:
			code := s.bindResultCode(op)
			bound = code == 0
			s.answerBind(c, id, string(op.Children[1].ByteValue), code)
		case goldap.ApplicationSearchRequest:
			if !bound {
				s.Anonymous.Add(1)
			}
			s.answerSearch(c, id, op)
		case goldap.ApplicationExtendedRequest:
			if s.TLS == nil {
				s.sendResult(
					c,
					id,
					goldap.ApplicationExtendedResponse,
					goldap.LDAPResultProtocolError,
					"no TLS here",
				)
				continue
			}
			s.sendResult(c, id, goldap.ApplicationExtendedResponse, 0, "")
			c = tls.Server(raw, s.TLS)
		default:
			return
		}
	}
}

func (s *Server) sendResult(c net.Conn, id any, op ber.Tag, code uint16, text string) {
	r := ber.Encode(ber.ClassApplication, ber.TypeConstructed, op, nil, "")
	r.AppendChild(ber.NewInteger(
		ber.ClassUniversal,
		ber.TypePrimitive,
		ber.TagEnumerated,
		int64(code),
		"",
	))
	r.AppendChild(newOctetString(""))
	r.AppendChild(newOctetString(text))
	sendMessage(c, id, r)
}

// answerBind answers a bind, with what the password policy says.
func (s *Server) answerBind(c net.Conn, id any, dn string, code uint16) {
	var says []byte
	if s.Policy != nil {
		says = s.Policy(dn)
	}
	if says == nil {
		s.sendResult(c, id, goldap.ApplicationBindResponse, code, s.Diagnostic)
		return
	}
	control := ber.NewSequence("")
	control.AppendChild(newOctetString(goldap.ControlTypeBeheraPasswordPolicy))
	control.AppendChild(newOctetString(string(append([]byte{0x30, byte(len(says))}, says...))))
	controls := ber.Encode(ber.ClassContext, ber.TypeConstructed, 0, nil, "")
	controls.AppendChild(control)
	op := ber.Encode(
		ber.ClassApplication,
		ber.TypeConstructed,
		goldap.ApplicationBindResponse,
		nil,
		"",
	)
	op.AppendChild(ber.NewInteger(
		ber.ClassUniversal,
		ber.TypePrimitive,
		ber.TagEnumerated,
		int64(code),
		"",
	))
	op.AppendChild(newOctetString(""))
	op.AppendChild(newOctetString(s.Diagnostic))
	p := ber.NewSequence("")
	p.AppendChild(ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagInteger, id, ""))
	p.AppendChild(op)
	p.AppendChild(controls)
	_, _ = c.Write(p.Bytes())
}

func sendMessage(c net.Conn, id any, op *ber.Packet) {
	p := ber.NewSequence("")
	p.AppendChild(ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagInteger, id, ""))
	p.AppendChild(op)
	_, _ = c.Write(p.Bytes())
}

func newOctetString(s string) *ber.Packet {
	return ber.NewString(ber.ClassUniversal, ber.TypePrimitive, ber.TagOctetString, s, "")
}

func (s *Server) bindResultCode(op *ber.Packet) uint16 {
	s.Binds.Add(1)
	dn := string(op.Children[1].ByteValue)
	password := op.Children[2].Data.String()
	if s.BindCode != 0 {
		return s.BindCode
	}
	if s.Refuse != nil && s.Refuse(dn) {
		return goldap.LDAPResultInvalidCredentials
	}
	for _, e := range s.Entries {
		if e.Password != "" &&
			e.Password == password &&
			(equalDN(e.DN, dn) || e.hasValue("userPrincipalName", dn)) {
			return 0
		}
	}
	return goldap.LDAPResultInvalidCredentials
}

func equalDN(a, b string) bool {
	x, errX := goldap.ParseDN(a)
	y, errY := goldap.ParseDN(b)
	return errX == nil && errY == nil && x.EqualFold(y)
}

func (e Entry) hasValue(attribute, value string) bool {
	for name, values := range e.Attributes {
		for _, v := range values {
			if strings.EqualFold(name, attribute) && strings.EqualFold(v, value) {
				return true
			}
		}
	}
	return false
}
