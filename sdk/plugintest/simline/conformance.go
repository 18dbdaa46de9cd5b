package simline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/switchdriver"
	"ctl.internal/sdk/switchdriver/conformance"
)

var _ conformance.Fake = (*Switch)(nil)

// planted is the fault of one command to come.
type planted struct {
	fault conformance.Fault
	reads bool
	n     int // 0: none
	hit   chan struct{}
}

// nextFault is the fault of the command that comes now.
func (p *planted) nextFault(reads bool) conformance.Fault {
	if p.n == 0 || p.reads != reads {
		return 0
	}
	if p.n--; p.n > 0 {
		return 0
	}
	close(p.hit)
	return p.fault
}

// Plant implements conformance.Fake.
func (s *Switch) Plant(f conformance.Fault, reads bool, n int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = planted{f, reads, n, make(chan struct{})}
	return s.fault.hit
}

// Idle implements conformance.Fake.
func (s *Switch) Idle() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idle
}

// hangUp ends an answer with the session.
const hangUp = "\x00"

// executeWithFault carries out a command with a fault, or without.
func (s *Switch) executeWithFault(f conformance.Fault, line string) string {
	switch f {
	case conformance.Refuses:
		return "error refused today\n"
	case conformance.Lies:
		return "ok\n"
	case conformance.AnswersLate:
		select {
		case <-time.After(time.Second): // that is the fault
		case <-s.closed:
		}
	case conformance.HangsUp:
		if !strings.HasPrefix(line, "show ") {
			return hangUp
		}
		first, _, _ := strings.Cut(s.carryOut(line), "\n")
		return first + "\n" + hangUp
	case conformance.Hangs:
		return ""
	}
	return s.carryOut(line)
}

// state is how the switch writes a status.
var state = [...]string{1: "up", 2: "down"}

// Ports implements conformance.Fake.
func (s *Switch) Ports() []*switchdriver.Port {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listPorts()
}

func (s *Switch) listPorts() (out []*switchdriver.Port) {
	for i := range s.o.Ports {
		p := &switchdriver.Port{
			Number:      uint32(i + 1),
			Name:        fmt.Sprint("lan", i+1),
			AdminStatus: 1,
			OperStatus:  1,
		}
		if s.off[p.Number] {
			p.AdminStatus = 2
		}
		if s.cut[p.Number] || s.off[p.Number] {
			p.OperStatus = 2
		}
		out = append(out, p)
	}
	return out
}

// SetLink implements conformance.Fake.
func (s *Switch) SetLink(port uint32, up bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut[port] = !up
}

// RunBinary checks the driver in an executable, which may be in any language, with the
// simulated switch of this package and package conformance, under settings of the driver.
// deadline is that of one call, longer than any of the driver's own; 30 s when zero.
func RunBinary(t *testing.T, bin string, settings map[string]any, deadline time.Duration) {
	conformance.Run(t, func(t *testing.T) conformance.Peer {
		sim, err := Start(Options{Ports: 4, Password: "sesame"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sim.Close)
		at := func(host string, port uint16) *switchdriver.Switch {
			return &switchdriver.Switch{
				NodeId:  1,
				Address: host,
				Cli: &pluginv1.CliAccess{
					Port:     uint32(port),
					User:     "lab",
					Password: "sesame",
				},
			}
		}
		return conformance.Peer{
			Conn:     plugintest.StartBinary(t, bin, plugintest.WithConfig(settings)).Conn,
			Deadline: deadline,
			Switch:   at("127.0.0.1", uint16(sim.Port())),
			At:       at,
			Ports:    []uint32{1, 2, 3, 4},
			Sent:     sim.Sent,
			Fake:     sim,
		}
	})
}
