package snmpagent

import (
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// maxDelayed bounds the answers of one server that wait for their delay; more are lost.
const maxDelayed = 4096

// send writes an answer. A lost datagram is UDP's right.
func (s *Server) send(out []byte, to netip.AddrPort, twice bool) {
	_, _ = s.conn.WriteToUDPAddrPort(out, to)
	if twice {
		_, _ = s.conn.WriteToUDPAddrPort(out, to)
	}
}

// later runs f after a delay unless the host ends before.
func (s *Server) later(d time.Duration, f func()) {
	select {
	case s.delayed <- struct{}{}:
	default:
		return
	}
	s.host.wg.Go(func() {
		defer func() { <-s.delayed }()
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			f()
		case <-s.host.ctx.Done():
		}
	})
}

func addrPort(sa unix.Sockaddr) (netip.AddrPort, bool) {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port)), true
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr), uint16(a.Port)), true
	}
	return netip.AddrPort{}, false
}
