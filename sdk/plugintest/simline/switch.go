// Package simline is a simulated VLAN switch with the simplest management there is:
// lines of text over TCP. It stands for a make of switches that nobody has a driver
// for yet; the example drivers (examples/switchdriver-*, ctl plugin new) speak to it.
//
// A session: the switch says "ready"; "login USER PASSWORD" comes first. Commands are
// "show ports", "show vlans", "set vlan ID tagged 1,2 untagged 3 name TEXT" (a list of
// no ports is "-") and "unset vlan ID". An answer is lines of data, then "ok", or
// "error TEXT". The switch thinks of nothing: "set" makes or replaces, and leaves it
// to others that a port is untagged in one VLAN only.
package simline

import (
	"bufio"
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
	sent   []string
	conns  map[net.Conn]bool
	refuse string
	mute   string
}

// Start lets a switch listen. All its ports are untagged in VLAN 1.
func Start(o Options) (*Switch, error) {
	if o.Ports == 0 {
		o.Ports = 8
	}
	for _, d := range []struct {
		at *string
		to string
	}{{&o.User, "lab"}, {&o.Password, "lab"}, {&o.Address, "127.0.0.1:0"}} {
		if *d.at == "" {
			*d.at = d.to
		}
	}
	tcp, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("simulated switch: %w", err)
	}
	ports := make([]string, o.Ports)
	for i := range ports {
		ports[i] = strconv.Itoa(i + 1)
	}
	s := &Switch{o: o, tcp: tcp, conns: map[net.Conn]bool{}, vlans: map[int]vlan{1: {"-", strings.Join(ports, ","), "default"}}}
	s.all.Go(s.accept)
	return s, nil
}

// Port is the TCP port.
func (s *Switch) Port() int { return s.tcp.Addr().(*net.TCPAddr).Port }

// Sent returns the changes that were asked for so far, of all sessions.
func (s *Switch) Sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

// Misbehave makes the switch refuse lines that begin with refuse, and say nothing to
// those that begin with mute; empty: none.
func (s *Switch) Misbehave(refuse, mute string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse, s.mute = refuse, mute
}

// Close ends the switch and all its sessions.
func (s *Switch) Close() {
	s.tcp.Close()
	s.mu.Lock()
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.all.Wait()
}

func (s *Switch) accept() {
	for {
		c, err := s.tcp.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[c] = true
		s.mu.Unlock()
		s.all.Go(func() {
			s.session(c)
			c.Close()
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
		})
	}
}

func (s *Switch) session(c net.Conn) {
	fmt.Fprintf(c, "ready\n") // that nobody reads is seen below
	in := bufio.NewScanner(c)
	known := false
	for in.Scan() {
		line := strings.TrimSpace(in.Text())
		var answer string
		if !known {
			known = line == "login "+s.o.User+" "+s.o.Password
			answer = "error denied\n"
			if known {
				answer = "ok\n"
			}
		} else if answer = s.do(line); answer == "" {
			continue
		}
		if _, err := c.Write([]byte(answer)); err != nil {
			return
		}
	}
}

var setVLAN = regexp.MustCompile(`^set vlan ([0-9]{1,4}) tagged (-|[0-9,]+) untagged (-|[0-9,]+) name ?(.*)$`)

// do carries out one line; an empty answer is none.
func (s *Switch) do(line string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !strings.HasPrefix(line, "show ") {
		s.sent = append(s.sent, line)
	}
	switch {
	case s.mute != "" && strings.HasPrefix(line, s.mute):
		return ""
	case s.refuse != "" && strings.HasPrefix(line, s.refuse):
		return "error refused today\n"
	}
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
	switch line {
	case "show ports":
		for i := range s.o.Ports {
			fmt.Fprintf(&out, "port %d %s\n", i+1, []string{"up", "down"}[i%2])
		}
	case "show vlans":
		for _, id := range slices.Sorted(maps.Keys(s.vlans)) {
			v := s.vlans[id]
			fmt.Fprintf(&out, "vlan %d tagged %s untagged %s name %s\n", id, v.tagged, v.untagged, v.name)
		}
	default:
		return "error what?\n"
	}
	return out.String() + "ok\n"
}
