package traps

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/internal/lab/snmpwire"
	"ctl.internal/plugins/switch/switchlist"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// logged collects what is written to a log.
type logged struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func listOf(entries ...switchlist.Entry) *switchlist.Inventory {
	v := switchlist.New(nil)
	v.Set("list", entries, nil)
	return v
}

// run runs a receiver until the test ends.
func run(t *testing.T, o Options) *Receiver {
	t.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	o.Engine = engine
	r := New(o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return r
}

func within(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatal("not within 30 s: " + what)
	}
}

func TestReceiver(t *testing.T) {
	inv := listOf(entry(1, "127.0.0.1", 161))
	got := make(chan Trap, 10)
	r := run(t, Options{Listen: "127.0.0.1:0", Inventory: inv, Handle: func(x Trap) { got <- x }})
	within(t, "it listens", r.Opened())
	at, err := r.Listening()
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(at))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	send := func(msg []byte) {
		t.Helper()
		if _, err := c.Write(msg); err != nil {
			t.Fatal(err)
		}
	}
	send(v2c("wrong", pduOf(snmpwire.TrapV2, linkDown)))
	send(v2c("public", pduOf(snmpwire.InformRequest, linkDown, linkVars...)))
	answer := make([]byte, 1500)
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	n, err := c.Read(answer)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := snmpwire.DecodeCommunity(answer[:n]); err != nil || m.PDU.Type != snmpwire.Response {
		t.Errorf("answer %+v %v", m, err)
	}
	if x := <-got; x.Node != 1 || x.Kind != LinkDown || !x.Inform {
		t.Errorf("%+v", x)
	}
	// The list changes: what was believed is not any more, with no restart.
	inv.Set("list", []switchlist.Entry{entry(1, "127.0.0.2", 161)}, nil)
	send(v2c("public", pduOf(snmpwire.TrapV2, linkDown)))
	inv.Set("list", []switchlist.Entry{entry(7, "127.0.0.1", 161)}, nil)
	send(v2c("public", pduOf(snmpwire.TrapV2, linkDown)))
	for x := range got {
		if x.Node == 7 {
			break
		}
	}
	if c := r.History().Counts(); c.NotAuthentic != 1 || c.Informs != 1 {
		t.Errorf("%+v", c)
	}
}

// An address that another program has: one warning, and it listens once that is gone.
func TestAddressInUse(t *testing.T) {
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var log logged
	listen := taken.LocalAddr().String()
	r := run(t, Options{Listen: listen, Inventory: listOf(), Retry: 5 * time.Millisecond, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for deadline := time.Now().Add(time.Minute); ; {
		if _, err := r.Listening(); err != nil {
			if !strings.Contains(err.Error(), "address already in use") || !strings.Contains(err.Error(), listen) {
				t.Errorf("error %v", err)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not report that it cannot listen")
		}
		<-time.After(time.Millisecond)
	}
	taken.Close()
	within(t, "it listens", r.Opened())
	if n := strings.Count(log.String(), "level=WARN"); n != 1 {
		t.Errorf("%d warnings:\n%s", n, &log)
	}
	if at, err := r.Listening(); err != nil || at != netip.MustParseAddrPort(listen) {
		t.Errorf("listening at %s, %v", at, err)
	}
}
