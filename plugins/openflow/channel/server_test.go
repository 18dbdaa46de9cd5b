package channel

import (
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/plugins/openflow/ofp13"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, o Options) (*Server, net.Conn) {
	t.Helper()
	o.Listen, o.Connections, o.Log = "127.0.0.1:0", 4, slog.New(slog.DiscardHandler)
	s, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c, err := net.DialTimeout("tcp", s.Addr().String(), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if e := <-s.Events(); e.Kind != Opened {
		t.Fatalf("%+v", e)
	}
	return s, c
}

// A switch that does not read loses frames that may be lost; when anything else has
// no room, its connection ends. The caller never waits.
func TestSwitchThatDoesNotRead(t *testing.T) {
	s, _ := serve(t, Options{Outbox: 1 << 16, Messages: 1000, PacketIns: 1000})
	frame := ofp13.Append(nil, 0, ofp13.EchoRequest{Data: make([]byte, 30000)})
	for s.Stats().DroppedFrames == 0 {
		s.Send(1, frame, true)
	}
	for s.Stats().Open > 0 {
		s.Send(1, frame, false)
		select {
		case e := <-s.Events():
			if e.Kind != Closed || e.Reason != "it does not read what it is sent" {
				t.Fatalf("%+v", e)
			}
		default:
		}
	}
}

// Packets beyond the rate are dropped, and what follows them is heard.
func TestPacketFlood(t *testing.T) {
	s, c := serve(t, Options{Outbox: 1 << 16, Messages: 1000, PacketIns: 10})
	var flood []byte
	for range 500 {
		flood = ofp13.Append(flood, 0, ofp13.PacketIn{})
	}
	flood = ofp13.Append(flood, 9, ofp13.BarrierReply{})
	if _, err := c.Write(flood); err != nil {
		t.Fatal(err)
	}
	packets := uint64(0)
	for e := range s.Events() {
		if e.Header.Type != ofp13.TypePacketIn {
			break
		}
		packets++
	}
	if dropped := s.Stats().DroppedPackets; packets < 10 || packets+dropped != 500 {
		t.Errorf("%d of 500 packets taken, %d dropped", packets, dropped)
	}
}

// What was queued before the end is sent.
func TestEndAfterTheLastMessage(t *testing.T) {
	s, c := serve(t, Options{Outbox: 1 << 16, Messages: 1000, PacketIns: 10})
	want := ofp13.Append(nil, 1, ofp13.Error{Data: []byte("why")})
	s.Send(1, want, false)
	s.End(1)
	got, err := io.ReadAll(c)
	if err != nil || string(got) != string(want) {
		t.Errorf("%x %v, want %x", got, err, want)
	}
	if e := <-s.Events(); e.Kind != Closed {
		t.Errorf("%+v", e)
	}
}
