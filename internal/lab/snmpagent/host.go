package snmpagent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"ctl.internal/internal/together"
)

// maxRequest bounds the requests that are read, octets; what is longer is cut, and so does not parse.
const maxRequest = 8192

// Host runs agents on UDP sockets, each with a goroutine and a buffer of its own.
type Host struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	servers map[*Server]struct{}
}

// NewHost makes a Host; Close ends it.
func NewHost() *Host {
	h := &Host{servers: map[*Server]struct{}{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// Server is an agent on a socket.
type Server struct {
	agent   *Agent
	host    *Host
	conn    *net.UDPConn
	addr    netip.AddrPort
	delayed chan struct{} // a token for each waiting answer
}

// Listen opens a UDP socket for the agent and serves it until Close. Port 0 is
// any free port.
func (h *Host) Listen(addr netip.AddrPort, a *Agent) (*Server, error) {
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(addr))
	if errors.Is(err, syscall.EMFILE) {
		return nil, fmt.Errorf(
			"agent at %s: %w: each agent needs a descriptor, raise the limit (ulimit -n)",
			addr,
			err,
		)
	}
	if err != nil {
		return nil, fmt.Errorf("agent at %s: %w", addr, err)
	}
	local := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	s := &Server{a, h, conn, netip.AddrPortFrom(local.Addr().Unmap(), local.Port()), make(chan struct{}, maxDelayed)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		conn.Close()
		return nil, errors.New("the host of the agents is closed")
	}
	h.servers[s] = struct{}{}
	h.wg.Go(s.serve)
	return s, nil
}

// Addr returns the address in use.
func (s *Server) Addr() netip.AddrPort { return s.addr }

// Agent returns the agent that answers here.
func (s *Server) Agent() *Agent { return s.agent }

// Close ends this agent only.
func (s *Server) Close() error {
	s.host.mu.Lock()
	delete(s.host.servers, s)
	s.host.mu.Unlock()
	return s.conn.Close()
}

// Close ends all agents and waits for their goroutines.
func (h *Host) Close() {
	h.cancel()
	h.mu.Lock()
	servers := h.servers
	h.servers = map[*Server]struct{}{}
	h.mu.Unlock()
	for s := range servers {
		s.conn.Close()
	}
	h.wg.Wait()
}

// serve answers messages until the socket is closed.
func (s *Server) serve() {
	buf := make([]byte, maxRequest)
	for {
		n, from, err := s.conn.ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // a refused port of an earlier answer
			continue
		}
		out := s.agent.Handle(buf[:n])
		if out == nil {
			continue
		}
		f := s.agent.Faults()
		if f.Delay > 0 {
			s.runLater(f.Delay, func() { s.sendAnswer(out, from, f.Duplicate) })
			continue
		}
		s.sendAnswer(out, from, f.Duplicate)
	}
}

// maxDelayed bounds the answers of one server that wait for their delay; more are lost.
const maxDelayed = 4096

// sendAnswer writes an answer. A lost datagram is UDP's right.
func (s *Server) sendAnswer(out []byte, to netip.AddrPort, twice bool) {
	_, _ = s.conn.WriteToUDPAddrPort(out, to)
	if twice {
		_, _ = s.conn.WriteToUDPAddrPort(out, to)
	}
}

// runLater runs f after a delay unless the host ends before.
func (s *Server) runLater(d time.Duration, f func()) {
	select {
	case s.delayed <- struct{}{}:
	default:
		return
	}
	s.host.wg.Go(func() {
		defer func() { <-s.delayed }()
		if together.Sleep(s.host.ctx, d) == nil {
			f()
		}
	})
}
