package conformance

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest/reserve"
)

// hole takes connections and datagrams and answers nothing.
type hole struct {
	port uint16
	tcp  net.Listener
	udp  net.PacketConn
	all  sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
	seen  int           // connections and datagrams so far
	moved chan struct{} // closed and made again when seen or conns change
}

// newHole listens on one port of the loopback interface, by TCP and UDP.
func newHole(k *kit) *hole {
	h := &hole{
		conns: map[net.Conn]bool{},
		moved: make(chan struct{}),
	}
	var err error
	for range 50 { // a port that is free for both
		if h.tcp, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			break
		}
		if h.udp, err = net.ListenPacket("udp", h.tcp.Addr().String()); err == nil {
			break
		}
		h.tcp.Close()
	}
	k.mustSucceed("a place that answers nothing", err)
	h.port = uint16(h.tcp.Addr().(*net.TCPAddr).Port)
	h.all.Go(h.acceptConns)
	h.all.Go(func() {
		b := make([]byte, 1<<16)
		for {
			if _, _, err := h.udp.ReadFrom(b); err != nil {
				return
			}
			h.changeState(func() { h.seen++ })
		}
	})
	k.t.Cleanup(func() {
		h.tcp.Close()
		h.udp.Close()
		h.changeState(func() {
			for c := range h.conns {
				c.Close()
			}
		})
		h.all.Wait()
	})
	return h
}

func (h *hole) acceptConns() {
	for {
		c, err := h.tcp.Accept()
		if err != nil {
			return
		}
		h.changeState(func() { h.seen++; h.conns[c] = true })
		h.all.Go(func() {
			_, _ = io.Copy(io.Discard, c) // ends when the driver hangs up
			c.Close()
			h.changeState(func() { delete(h.conns, c) })
		})
	}
}

func (h *hole) changeState(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
	close(h.moved)
	h.moved = make(chan struct{})
}

// waitUntil waits until f of the numbers of contacts and of open connections holds.
func (h *hole) waitUntil(ctx context.Context, f func(seen, open int) bool) bool {
	for {
		h.mu.Lock()
		ok, moved := f(h.seen, len(h.conns)), h.moved
		h.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return false
		}
	}
}

func isContacted(seen, _ int) bool    { return seen > 0 }
func isDisconnected(_, open int) bool { return open == 0 }

// unreachable are the kinds of a switch that does not answer.
var unreachable = []fault.Kind{fault.Timeout, fault.Unavailable, fault.Downstream}

// forEachReaching is an operation that asks the switch something, and is good anywhere.
func (k *kit) forEachReaching(f func(operation string, do call)) {
	k.forEachOperation(func(o string, do call) {
		if o != "ApplySettings" { // a dry run may know without asking
			f(o, do)
		}
	})
}

func noListener(k *kit) {
	if k.At == nil {
		k.t.Skip("SKIPPED, NOT TESTED: the peer, a switch that does not answer, cannot be had: the driver does not speak IP")
	}
	sw := k.At("127.0.0.1", uint16(reserve.Port(k.t, "tcp", "127.0.0.1")))
	k.forEachReaching(func(o string, do call) {
		k.deviceFault(o+" where no program listens", do(k.testContext(), sw))
	})
}

// deviceFault checks the fault of a switch that does not answer.
func (k *kit) deviceFault(what string, err error) {
	k.t.Helper()
	k.checkRefused(what, err, unreachable...)
	var f *fault.Error
	if errors.As(err, &f) && f.Source != fault.SourceDevice {
		k.t.Errorf(
			"%s: the fault (%v) counts as the driver's own; make it with fault.Device",
			what,
			err,
		)
	}
	if err != nil && !strings.Contains(err.Error(), "127.0.0.1") {
		k.t.Errorf("%s: the text does not name the switch: %v", what, err)
	}
}

func checkSilentSwitch(k *kit) {
	if k.At == nil {
		k.t.Skip("SKIPPED, NOT TESTED: the peer, a switch that does not answer, cannot be had: the driver does not speak IP")
	}
	h := newHole(k)
	sw := k.At("127.0.0.1", h.port)
	// One operation shows it: the driver's own deadline is the same for all.
	asked, first := "", call(nil)
	k.forEachReaching(func(o string, do call) {
		if first == nil {
			asked, first = o, do
		}
	})
	if first == nil {
		return
	}
	own := k.endsByItself(asked+" of a silent switch", func(ctx context.Context) error {
		return first(ctx, sw)
	})
	if !h.waitUntil(k.testContext(), isDisconnected) {
		k.t.Error("the driver keeps the connection to a switch that did not answer")
	}
	k.forEachOperation(func(o string, do call) { // the others are not harmed
		if strings.HasPrefix(o, "Read") {
			k.mustSucceed(o+" of a good switch after a silent one", do(k.testContext(), k.Switch))
		}
	})
	k.checkCancelledCalls(own)
}

// endsByItself makes a call without a deadline to a switch that does not answer. It
// returns how long the driver waits.
func (k *kit) endsByItself(what string, do func(context.Context) error) time.Duration {
	ctx, cancel := context.WithCancel(k.t.Context())
	defer cancel()
	start, done := time.Now(), make(chan error, 1)
	go func() { done <- do(ctx) }()
	select {
	case err := <-done:
		k.deviceFault(what, err)
	case <-time.After(k.Deadline):
		k.t.Fatalf("%s does not end by itself within %v: every call has an end", what, k.Deadline)
	}
	return time.Since(start)
}

// shortContext is how long a cancelled call may go on: clearly less than until the driver's own
// deadline.
func (k *kit) shortContext(own time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(k.testContext(), own*3/4)
	k.t.Cleanup(cancel)
	return ctx
}

// checkCancelledCalls checks that calls that are cancelled end, in the plugin, too.
func (k *kit) checkCancelledCalls(own time.Duration) {
	k.forEachReaching(func(o string, do call) {
		h := newHole(k)
		sw := k.At("127.0.0.1", h.port)
		ctx, cancel := context.WithCancel(k.testContext())
		done := make(chan error, 1)
		go func() { done <- do(ctx, sw) }()
		if !h.waitUntil(k.testContext(), isContacted) {
			k.t.Errorf("%s does not ask the switch", o)
		}
		cancel()
		select {
		case err := <-done:
			k.checkRefused("a cancelled "+o, err, unreachable...)
		case <-time.After(k.Deadline):
			k.t.Fatalf("a cancelled %s does not end", o)
		}
		if !h.waitUntil(k.shortContext(own), isDisconnected) {
			k.t.Fatalf("a cancelled %s goes on in the plugin: the connection stays open", o)
		}
		// Nor does it keep the others from their turn.
		short, stop := context.WithTimeout(k.testContext(), 200*time.Millisecond)
		k.checkRefused(o+" with a short deadline", do(short, sw), unreachable...)
		stop()
		if !h.waitUntil(k.testContext(), isDisconnected) {
			k.t.Errorf("%s goes on after its deadline: the connection stays open", o)
		}
	})
}
