package snmp

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gosnmp/gosnmp"
)

// session is a socket to one agent. It is used by one goroutine at a time.
type session struct {
	target  Target
	g       *gosnmp.GoSNMP
	learned *learned
	opt     *Options
	broken  bool      // not to be used again
	read    *lastRead // of version 3
}

func (c *Client) openSession(ctx context.Context, t Target, l *learned) (*session, error) {
	g := c.newUnconnected(ctx, t, l)
	if err := connectSession(ctx, g, t); err != nil {
		return nil, &Error{
			Op:    "connect",
			OID:   t.String(),
			Cause: err,
		}
	}
	s := &session{target: t, g: g, learned: l, opt: &c.opt}
	if t.Version == "3" {
		s.read = &lastRead{Conn: g.Conn}
		g.Conn = s.read
	}
	return s, nil
}

// newUnconnected is a session of gosnmp without its socket.
func (c *Client) newUnconnected(ctx context.Context, t Target, l *learned) *gosnmp.GoSNMP {
	g := &gosnmp.GoSNMP{
		Target:    t.Addr.Addr().String(),
		Port:      t.Addr.Port(),
		Context:   ctx,
		Timeout:   c.opt.Timeout,
		Retries:   c.opt.Retries,
		MaxOids:   60,
		Community: t.Community,
	}
	switch t.Version {
	case "1":
		g.Version = gosnmp.Version1
	case "3":
		g.Version = gosnmp.Version3
		g.SecurityModel = gosnmp.UserSecurityModel
		g.MsgFlags = t.Level()
		g.ContextName = t.Context
		g.SecurityParameters = l.usmParameters(t)
	default:
		g.Version = gosnmp.Version2c
	}
	return g
}

// usmParameters returns the parameters of version 3: those of an earlier session with this
// user, which spares the engine's discovery, or new ones.
func (l *learned) usmParameters(t Target) *gosnmp.UsmSecurityParameters {
	l.mu.Lock()
	known := l.security
	l.mu.Unlock()
	if known != nil && known.UserName == t.User && known.AuthenticationPassphrase == t.AuthPassword &&
		known.PrivacyPassphrase == t.PrivPassword && known.AuthenticationProtocol == t.auth() && known.PrivacyProtocol == t.priv() {
		if sp, ok := known.Copy().(*gosnmp.UsmSecurityParameters); ok {
			return sp
		}
	}
	return t.Security()
}

// exchangeMessage sends one request and waits for its answer, no longer than ctx lasts.
func (s *session) exchangeMessage(
	ctx context.Context,
	op, oid string,
	send func() (*gosnmp.SnmpPacket, error),
) (*gosnmp.SnmpPacket, error) {
	s.g.Context = ctx
	conn := s.g.Conn
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	p, err := send()
	if !stop() {
		s.broken = true // its deadline may be set at any time from now on
	}
	if err != nil {
		s.broken = true
		if reason := s.read.reportReason(); reason != nil {
			err = reason
		}
		if cause := ctx.Err(); cause != nil {
			err = cause
		}
		return nil, &Error{Op: op, OID: oid, Cause: err}
	}
	if p.PDUType == gosnmp.Report {
		s.broken = true
		return nil, &Error{
			Op:    op,
			OID:   oid,
			Cause: errors.New("the agent sent a report instead of an answer"),
		}
	}
	s.learned.noteAnswer(cmp.Or(s.target.Version, "2c"), s.g.SecurityParameters)
	s.tellClock(p)
	return p, nil
}

// getInstances fetches instances. In version 1 one that is missing fails the whole request;
// the others are asked for again without it.
func (s *session) getInstances(ctx context.Context, oids []string) ([]Value, error) {
	values := make([]Value, len(oids))
	ask := make([]int, len(oids)) // positions in oids
	for i := range ask {
		ask[i] = i
	}
	for len(ask) > 0 {
		names := make([]string, len(ask))
		for i, at := range ask {
			names[i] = oids[at]
		}
		p, err := s.exchangeMessage(ctx, "GET", names[0], func() (*gosnmp.SnmpPacket, error) {
			return s.g.Get(names)
		})
		if err != nil {
			return nil, err
		}
		i := int(p.ErrorIndex) - 1
		switch {
		case p.Error == gosnmp.NoSuchName && i >= 0 && i < len(ask):
			values[ask[i]] = Value{kind: gosnmp.NoSuchInstance}
			ask = append(ask[:i], ask[i+1:]...)
			continue
		case p.Error != gosnmp.NoError:
			return nil, &Error{
				Op:     "GET",
				OID:    nameAtIndex(names, i),
				Status: p.Error,
			}
		}
		for i, vb := range p.Variables {
			if i < len(ask) && vb.Name == names[i] {
				values[ask[i]] = Value{vb.Type, vb.Value}
			}
		}
		return values, nil
	}
	return values, nil
}

func (s *session) setBindings(ctx context.Context, bindings []gosnmp.SnmpPDU) error {
	p, err := s.exchangeMessage(ctx, "SET", bindings[0].Name, func() (*gosnmp.SnmpPacket, error) {
		return s.g.Set(bindings)
	})
	if err != nil {
		return err
	}
	if p.Error == gosnmp.NoError {
		return nil
	}
	names := make([]string, len(bindings))
	for i, b := range bindings {
		names[i] = b.Name
	}
	return &Error{
		Op:     "SET",
		OID:    nameAtIndex(names, int(p.ErrorIndex)-1),
		Status: p.Error,
	}
}

// nameAtIndex returns the name an error-index points to, or all there is to say.
func nameAtIndex(names []string, i int) string {
	if i >= 0 && i < len(names) {
		return names[i]
	}
	return names[0]
}

// tellClock passes the time of an engine on that an authenticated answer proves: it answers our own request.
func (s *session) tellClock(p *gosnmp.SnmpPacket) {
	sp, ok := p.SecurityParameters.(*gosnmp.UsmSecurityParameters)
	if ok && s.opt.Clock != nil && p.MsgFlags&gosnmp.AuthNoPriv != 0 {
		s.opt.Clock(
			s.target.Addr.Addr().Unmap(),
			sp.AuthoritativeEngineID,
			sp.AuthoritativeEngineBoots,
			sp.AuthoritativeEngineTime,
		)
	}
}
