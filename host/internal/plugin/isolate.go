package plugin

import (
	"fmt"
	"strconv"
	"strings"

	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin/process"
)

// isolate says how the process of a plugin is kept from others; nil = it is not.
func (s *supervisor) isolate(held grant.Held) (*process.Isolate, error) {
	mode := s.m.options.Isolation
	if mode == "" || mode == "off" {
		return nil, nil
	}
	required := mode == "required"
	if have, strong := process.Measure(); required && !strong {
		return nil, fmt.Errorf("supervisor.isolation is required, and this machine lacks parts of it: %s", strings.Join(have.Missing, "; "))
	}
	low := false
	for _, d := range decisions(held) {
		_, port, _ := strings.Cut(d.Request.Value, "/")
		n, err := strconv.Atoi(port)
		low = low || d.Request.Kind == grant.Listen && d.Granted && (err != nil || n < 1024)
	}
	return &process.Isolate{LowPorts: low, Connect: ports(held, grant.Connect), Listen: ports(held, grant.Listen), Required: required}, nil
}

// ports are the TCP ports that were granted; nil = any.
func ports(held grant.Held, kind string) []uint16 {
	out := []uint16{}
	for _, d := range decisions(held) {
		port, tcp := strings.CutPrefix(d.Request.Value, "tcp/")
		if d.Request.Kind != kind || !tcp || !d.Granted {
			continue
		}
		if port == "*" {
			return nil
		}
		if n, err := strconv.ParseUint(port, 10, 16); err == nil {
			out = append(out, uint16(n))
		}
	}
	return out
}

// decisions are those about all grants that were given.
func decisions(held grant.Held) []grant.Decision {
	var requests []grant.Request
	for _, e := range held.Granted {
		requests = append(requests, grant.Request{Grant: e.Grant})
	}
	return held.Decisions(requests)
}

// isolation says what keeps a plugin from others, and what is missing here.
func (m *Manager) isolation() process.Isolation {
	if m.options.Isolation == "" || m.options.Isolation == "off" {
		return process.Isolation{Missing: []string{"everything: supervisor.isolation is off"}}
	}
	have, _ := process.Measure()
	return have
}
