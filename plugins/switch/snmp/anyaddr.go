package snmp

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/plugins/switch/mib"
)

// FromAny is the value of Target.From for an agent that may answer from any address.
const FromAny = "any"

// CheckFrom reports whether a text can be Target.From.
func CheckFrom(s string) bool {
	if s == "" || s == FromAny {
		return true
	}
	a, err := netip.ParseAddr(s)
	return err == nil && !a.IsUnspecified() && !a.IsMulticast()
}

// openSocket is a UDP socket to an agent that answers from another address than the one it is asked at. A connected
// socket would not get these answers.
type openSocket struct {
	net.Conn
	udp  *net.UDPConn
	to   netip.AddrPort
	from netip.Addr // answers of others are dropped; invalid: from any address
	seen func(netip.AddrPort)
}

// dialOpen opens the socket. seen, if it is not nil, gets the sender of each message.
func dialOpen(
	ctx context.Context,
	to netip.AddrPort,
	from string,
	seen func(netip.AddrPort),
) (*openSocket, error) {
	var lc net.ListenConfig
	network := "udp4"
	if !to.Addr().Unmap().Is4() {
		network = "udp6"
	}
	c, err := lc.ListenPacket(ctx, network, ":0")
	if err != nil {
		return nil, err
	}
	udp := c.(*net.UDPConn)
	s := &openSocket{Conn: udp, udp: udp, to: to, seen: seen}
	if from != FromAny {
		s.from, _ = netip.ParseAddr(from)
	}
	return s, nil
}

// Write sends to the agent.
func (s *openSocket) Write(b []byte) (int, error) {
	return s.udp.WriteToUDPAddrPort(b, s.to)
}

// Read returns the next message from an address that may answer.
func (s *openSocket) Read(b []byte) (int, error) {
	for {
		n, from, err := s.udp.ReadFromUDPAddrPort(b)
		if err != nil {
			return n, err
		}
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		if s.seen != nil {
			s.seen(from)
		}
		if !s.from.IsValid() ||
			from.Addr() == s.from.Unmap() ||
			from.Addr() == s.to.Addr().Unmap() {
			return n, nil
		}
	}
}

// probeEvery is the least time between two probes of an agent that does not answer.
const probeEvery = time.Minute

// probeElsewhere asks an agent that has not answered once more, by a socket that takes answers from any address, and returns
// where one came from; invalid: nowhere.
func (c *Client) probeElsewhere(ctx context.Context, t Target, l *learned) (found netip.AddrPort) {
	if t.From != "" || !l.mayProbe() {
		return found
	}
	g := c.newUnconnected(ctx, t, l)
	g.Retries, g.Timeout = 0, min(c.opt.Timeout, time.Second)
	var mu sync.Mutex
	s, err := dialOpen(ctx, t.Addr, FromAny, func(from netip.AddrPort) {
		mu.Lock()
		defer mu.Unlock()
		if from.Addr() != t.Addr.Addr().Unmap() {
			found = from
		}
	})
	if err != nil {
		return found
	}
	defer s.Close()
	if err := g.Connect(); err != nil {
		return found
	}
	_ = g.Conn.Close()
	g.Conn = s
	stop := context.AfterFunc(ctx, func() { _ = s.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	_, _ = g.Get([]string{mib.SysUpTime}) // whatever it says: where it came from is what counts
	mu.Lock()
	defer mu.Unlock()
	return found
}

// mayProbe reports whether the last probe is long enough ago, and notes this one.
func (l *learned) mayProbe() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.probed) < probeEvery {
		return false
	}
	l.probed = time.Now()
	return true
}

// connectSession opens the socket of a session as its target asks for.
func connectSession(ctx context.Context, g *gosnmp.GoSNMP, t Target) error {
	if err := g.Connect(); err != nil || t.From == "" {
		return err
	}
	s, err := dialOpen(ctx, t.Addr, t.From, nil)
	if err != nil {
		_ = g.Close()
		return err
	}
	_ = g.Conn.Close()
	g.Conn = s
	return nil
}
