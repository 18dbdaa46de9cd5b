// Package simline is a simulated VLAN switch with the simplest management there is:
// lines of text over TCP. It stands for a vendor's switches that have no driver
// for yet; the example drivers (examples/switchdriver-*, ctl plugin new) speak to it.
//
// A session: the switch says "ready"; "login USER PASSWORD" comes first. Commands are
// "show ports", "show vlans", "set vlan ID tagged 1,2 untagged 3 name TEXT" (a list of
// no ports is "-"), "unset vlan ID", "show descriptions", "set port NUMBER admin up|down" and
// "set port NUMBER description TEXT". An answer is lines of data, then "ok", or
// "error TEXT". Data are "port NUMBER admin up|down link up|down name TEXT" and "vlan ID
// tagged LIST untagged LIST name TEXT" and "port NUMBER description TEXT". The switch thinks of nothing: "set" makes or
// replaces, and leaves it to others that a port is untagged in one VLAN only.
//
// With Plant it has faults, as conformance.Fake asks for.
package simline

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Options of a switch. Zero values: 8 ports, user and password "lab", 127.0.0.1:0.
type Options struct {
	Ports          int
	User, Password string
	Address        string
}

// vlan is a VLAN as the switch keeps it: lists as they were written.
type vlan struct{ tagged, untagged, name string }

// Switch is one simulated switch.
type Switch struct {
	o   Options
	tcp net.Listener
	all sync.WaitGroup

	mu     sync.Mutex
	vlans  map[int]vlan
	cut    map[uint32]bool // ports without a link
	off    map[uint32]bool // ports that are switched off
	about  map[uint32]string
	sent   []string
	conns  map[net.Conn]bool
	idle   chan struct{} // closed when there are no sessions
	fault  planted
	closed chan struct{}
}

// Start lets a switch listen. All its ports are untagged in VLAN 1.
func Start(o Options) (*Switch, error) {
	o.Ports, o.Address = cmp.Or(o.Ports, 8), cmp.Or(o.Address, "127.0.0.1:0")
	o.User, o.Password = cmp.Or(o.User, "lab"), cmp.Or(o.Password, "lab")
	tcp, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("simulated switch: %w", err)
	}
	ports := make([]string, o.Ports)
	for i := range ports {
		ports[i] = strconv.Itoa(i + 1)
	}
	s := &Switch{
		o:      o,
		tcp:    tcp,
		conns:  map[net.Conn]bool{},
		cut:    map[uint32]bool{},
		off:    map[uint32]bool{},
		about:  map[uint32]string{},
		idle:   make(chan struct{}),
		closed: make(chan struct{}),
		vlans:  map[int]vlan{1: {"-", strings.Join(ports, ","), "default"}},
	}
	close(s.idle)
	for i := 2; i <= o.Ports; i += 2 {
		s.cut[uint32(i)] = true
	}
	s.all.Go(s.acceptConns)
	return s, nil
}

// Port is the TCP port.
func (s *Switch) Port() int {
	return s.tcp.Addr().(*net.TCPAddr).Port
}

// Sent returns the changes that were asked for so far, of all sessions.
func (s *Switch) Sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

// Close ends the switch and all its sessions.
func (s *Switch) Close() {
	s.tcp.Close()
	close(s.closed)
	s.mu.Lock()
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.all.Wait()
}

func (s *Switch) acceptConns() {
	for {
		c, err := s.tcp.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if len(s.conns) == 0 {
			s.idle = make(chan struct{})
		}
		s.conns[c] = true
		s.mu.Unlock()
		s.all.Go(func() {
			s.serveSession(c)
			c.Close()
			s.mu.Lock()
			if delete(s.conns, c); len(s.conns) == 0 {
				close(s.idle)
			}
			s.mu.Unlock()
		})
	}
}

func (s *Switch) serveSession(c net.Conn) {
	fmt.Fprintf(c, "ready\n") // whether that arrives is seen below
	in := bufio.NewScanner(c)
	known := false
	for in.Scan() {
		line := strings.TrimSpace(in.Text())
		answer := "error denied\n"
		if known {
			answer = s.executeLine(line)
		} else if known = line == "login "+s.o.User+" "+s.o.Password; known {
			answer = "ok\n"
		}
		answer, cut := strings.CutSuffix(answer, hangUp)
		_, err := c.Write([]byte(answer))
		if err != nil || cut {
			return
		}
	}
}

var setVLAN = regexp.MustCompile(`^set vlan ([0-9]{1,4}) tagged (-|[0-9,]+) untagged (-|[0-9,]+) name ?(.*)$`)

var setPort = regexp.MustCompile(`^set port ([0-9]{1,5}) (admin|description) ?(.*)$`)

// setPort sets the state or the description of a port. s.mu is held.
func (s *Switch) setPort(number, what, value string) string {
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil || n < 1 || n > uint64(s.o.Ports) {
		return "error no such port\n"
	}
	switch {
	case what == "description":
		s.about[uint32(n)] = value
	case value == "up" || value == "down":
		s.off[uint32(n)] = value == "down"
	default:
		return "error up or down\n"
	}
	return "ok\n"
}

// executeLine carries out one line, unless a fault comes in between.
func (s *Switch) executeLine(line string) string {
	reads := strings.HasPrefix(line, "show ")
	s.mu.Lock()
	if !reads {
		s.sent = append(s.sent, line)
	}
	f := s.fault.nextFault(reads)
	s.mu.Unlock()
	return s.executeWithFault(f, line)
}

// carryOut is what a switch without a fault does.
func (s *Switch) carryOut(line string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out strings.Builder
	if m := setVLAN.FindStringSubmatch(line); m != nil {
		id, _ := strconv.Atoi(m[1]) // digits
		s.vlans[id] = vlan{m[2], m[3], m[4]}
		return "ok\n"
	}
	if id, ok := strings.CutPrefix(line, "unset vlan "); ok {
		n, err := strconv.Atoi(id)
		if _, there := s.vlans[n]; err != nil || !there {
			return "error no such vlan\n"
		}
		delete(s.vlans, n)
		return "ok\n"
	}
	if m := setPort.FindStringSubmatch(line); m != nil {
		return s.setPort(m[1], m[2], m[3])
	}
	switch line {
	case "show descriptions":
		for _, p := range s.listPorts() {
			fmt.Fprintf(&out, "port %d description %s\n", p.Number, s.about[p.Number])
		}
	case "show ports":
		for _, p := range s.listPorts() {
			fmt.Fprintf(
				&out,
				"port %d admin %s link %s name %s\n",
				p.Number,
				state[p.AdminStatus],
				state[p.OperStatus],
				p.Name,
			)
		}
	case "show vlans":
		for _, id := range slices.Sorted(maps.Keys(s.vlans)) {
			v := s.vlans[id]
			fmt.Fprintf(
				&out,
				"vlan %d tagged %s untagged %s name %s\n",
				id,
				v.tagged,
				v.untagged,
				v.name,
			)
		}
	default:
		return "error what?\n"
	}
	return out.String() + "ok\n"
}
