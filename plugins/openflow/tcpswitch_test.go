package openflow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"ctl.internal/plugins/openflow/ofp13"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/sdk/topology"
)

// freePort is an address of the loopback interface that is this test's own.
func freePort(t *testing.T) string {
	t.Helper()
	return fmt.Sprint("127.0.0.1:", reserve.Port(t, "tcp", "127.0.0.1"))
}

// start runs the plugin and returns where it listens.
func start(t *testing.T, settings map[string]any, opts ...plugintest.Option) (*plugintest.Plugin, string) {
	t.Helper()
	listen := freePort(t)
	all := map[string]any{"listen": listen}
	for k, v := range settings {
		all[k] = v
	}
	return plugintest.Start(t, Options(), append(opts, plugintest.WithConfig(all))...), listen
}

// tcpSwitch is a switch of one port, at the other end of a connection.
type tcpSwitch struct {
	t        *testing.T
	net      net.Conn
	datapath uint64
	r        *ofp13.Reader
}

func dial(t *testing.T, listen string) net.Conn {
	t.Helper()
	c, err := net.DialTimeout("tcp", listen, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return c
}

// join does the handshake and returns at the barrier that ends it.
func join(t *testing.T, c net.Conn, datapath uint64) *tcpSwitch {
	t.Helper()
	s := &tcpSwitch{t, c, datapath, ofp13.NewReader(c)}
	s.send(0, ofp13.Hello{Versions: 1 << 4})
	for {
		barrier, err := s.answer()
		if err != nil {
			t.Fatal(err)
		}
		if barrier {
			return s
		}
	}
}

// answer answers one message and reports whether it was a barrier.
func (s *tcpSwitch) answer() (barrier bool, err error) {
	h, body, err := s.r.Next()
	if err != nil {
		return false, err
	}
	m, err := ofp13.Decode(h.Type, body)
	if err != nil {
		return false, err
	}
	switch m := m.(type) {
	case ofp13.FeaturesRequest:
		err = s.write(h.XID, ofp13.FeaturesReply{DatapathID: s.datapath})
	case ofp13.MultipartRequest:
		err = s.write(h.XID, ofp13.MultipartReply{Kind: m.Kind, Ports: []ofp13.Port{{Number: 1, Name: "one"}}})
	case ofp13.RoleRequest:
		err = s.write(h.XID, ofp13.RoleReply(m))
	case ofp13.BarrierRequest:
		return true, s.write(h.XID, ofp13.BarrierReply{})
	}
	return false, err
}

func (s *tcpSwitch) write(xid uint32, m ofp13.Message) error {
	_, err := s.net.Write(ofp13.Append(nil, xid, m))
	return err
}

func (s *tcpSwitch) send(xid uint32, m ofp13.Message) {
	s.t.Helper()
	if err := s.write(xid, m); err != nil {
		s.t.Fatal(err)
	}
}

// ended waits for the plugin to end a connection.
func ended(t *testing.T, c net.Conn) {
	t.Helper()
	if _, err := io.Copy(io.Discard, c); err != nil && !strings.Contains(err.Error(), "reset") && !strings.Contains(err.Error(), "broken pipe") {
		t.Errorf("the connection was not ended: %v", err)
	}
}

// until watches the topology until done says so.
func until(t *testing.T, p *plugintest.Plugin, done func(topology.Topology) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var view topology.Topology
	enough := errors.New("enough")
	err := topology.NewClient(p.Conn).Watch(ctx, nil, func(c topology.Change) error {
		if view = view.Apply(c); done(view) {
			return enough
		}
		return nil
	}, func() {})
	if !errors.Is(err, enough) {
		t.Fatalf("the topology ended with %v: %v", view.Nodes, err)
	}
}

func nodes(want ...string) func(topology.Topology) bool {
	return func(v topology.Topology) bool {
		for _, id := range want {
			if _, ok := v.Nodes[id]; !ok {
				return false
			}
		}
		return len(v.Nodes) == len(want)
	}
}
