package traps

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/sdk/host"
)

// Options say where to listen and what to do with what comes.
type Options struct {
	Listen    string // address:port; the address may be left out
	Inventory *switchlist.Inventory
	Engine    Engine
	Clocks    *Clocks // what answers to requests have proved
	Log       *slog.Logger
	// Handle gets each trap, one at a time, and must not wait.
	Handle func(Trap)
	// Retry is how often an address that somebody else has is tried again, 5 s.
	Retry time.Duration
}

// Receiver listens for notifications. It is safe for concurrent use.
type Receiver struct {
	opt     Options
	history *History

	mu   sync.Mutex
	at   netip.AddrPort
	why  error
	open chan struct{} // closed once it listens
}

// The receive buffer: a burst waits in the kernel, and beyond it is lost, as traps
// may be. Informs are sent again.
const (
	socketBuffer = 4 << 20
	largest      = 65535
)

// How often a switch whose notifications are refused is named in the log, and of how many.
const (
	tellEvery = 10 * time.Minute
	maxTold   = 10000
)

// New makes a Receiver; Run runs it.
func New(o Options) *Receiver {
	o.Log, o.Retry = cmp.Or(o.Log, slog.Default()), cmp.Or(o.Retry, 5*time.Second)
	if o.Handle == nil {
		o.Handle = func(Trap) {}
	}
	return &Receiver{
		opt:     o,
		history: NewHistory(),
		open:    make(chan struct{}),
	}
}

// History is what has come.
func (r *Receiver) History() *History { return r.history }

// Listening returns where it listens, or why it does not.
func (r *Receiver) Listening() (netip.AddrPort, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at, r.why
}

// Opened is closed once it listens.
func (r *Receiver) Opened() <-chan struct{} { return r.open }

// Run listens until ctx ends. An address that is not available is logged in one warning; one that
// another process has, a predecessor of this plugin perhaps, is tried again.
func (r *Receiver) Run(ctx context.Context) {
	warned := false
	for ctx.Err() == nil {
		conn, err := r.bindSocket(ctx)
		if err == nil {
			if warned {
				r.opt.Log.Info(
					"the trap interface is there now",
					"listening",
					conn.LocalAddr().String(),
				)
			}
			r.serveMessages(ctx, conn)
			return
		}
		if ctx.Err() != nil {
			return
		}
		if !warned {
			r.opt.Log.Warn("traps are not received; discovery goes on without them", "err", err)
			warned = true
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return
		}
		host.Pause(ctx, r.opt.Retry)
	}
}

func (r *Receiver) bindSocket(ctx context.Context) (*net.UDPConn, error) {
	var lc net.ListenConfig
	c, err := lc.ListenPacket(ctx, "udp", r.opt.Listen)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.why = explainBindError(r.opt.Listen, err)
		return nil, r.why
	}
	conn := c.(*net.UDPConn)
	_ = conn.SetReadBuffer(socketBuffer) // as much as the system allows
	countLost(conn)
	local := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	r.at, r.why = netip.AddrPortFrom(local.Addr().Unmap(), local.Port()), nil
	close(r.open)
	return conn, nil
}

// explainBindError names the remedy of a refused address.
func explainBindError(listen string, err error) error {
	remedy := "set traps.listen in etc/switch.yaml to another address"
	switch {
	case errors.Is(err, fs.ErrPermission):
		remedy = "ports below 1024 need the capability NET_BIND_SERVICE; or set traps.listen in etc/switch.yaml to another port"
	case errors.Is(err, syscall.EADDRINUSE):
		remedy = "another program has it; it is tried again, or set traps.listen in etc/switch.yaml to another port"
	}
	return fmt.Errorf("trap interface udp %s: bind: %w (%s)", listen, rootError(err), remedy)
}

// rootError leaves out what the message says anyway.
func rootError(err error) error {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no
	}
	return err
}

// serveMessages reads messages and has them handled, those of one sender in the order they come.
func (r *Receiver) serveMessages(ctx context.Context, conn *net.UDPConn) {
	defer conn.Close()
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	q := newQueue()
	senders := &atomic.Pointer[map[netip.Addr]bool]{}
	changed := r.opt.Inventory.Changed()
	decoder := NewDecoder(r.opt.Engine, r.opt.Clocks)
	r.updateSenders(decoder, senders)
	logged := map[netip.Addr]time.Time{} // of whom the log said that a notification is past
	var handling sync.WaitGroup
	handling.Go(func() {
		for {
			m, ok := q.takeMessage(ctx)
			if !ok {
				return
			}
			select {
			case <-changed:
				changed = r.opt.Inventory.Changed()
				r.updateSenders(decoder, senders)
			default:
			}
			r.handleMessage(conn, decoder, logged, m)
		}
	})
	defer handling.Wait()
	defer cancel()
	buf, control := make([]byte, largest), make([]byte, controlSize)
	for ctx.Err() == nil {
		n, c, _, from, err := conn.ReadMsgUDPAddrPort(buf, control)
		if err != nil {
			if ctx.Err() == nil && errors.Is(err, net.ErrClosed) {
				return
			}
			continue // an ICMP answer to one of ours; the deadline when ctx has ended
		}
		if c > 0 {
			if n, ok := readLostCount(control[:c]); ok {
				r.history.Lost(n)
			}
		}
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		share := from.Addr()
		if !(*senders.Load())[share] {
			share = netip.Addr{} // all that are not listed have one share
		}
		if q.putMessage(share, message{from, time.Now(), bytes.Clone(buf[:n])}) {
			r.history.noteDropped()
		}
	}
}

// updateSenders makes the switches of the list known.
func (r *Receiver) updateSenders(decoder *Decoder, senders *atomic.Pointer[map[netip.Addr]bool]) {
	entries := r.opt.Inventory.Entries()
	decoder.SetSenders(entries)
	known := make(map[netip.Addr]bool, len(entries))
	for _, e := range entries {
		known[e.Address.Unmap()] = true
	}
	senders.Store(&known)
}

// handleMessage decodes a message and acts on it.
func (r *Receiver) handleMessage(
	conn *net.UDPConn,
	decoder *Decoder,
	logged map[netip.Addr]time.Time,
	m message,
) {
	t, reply, v := decoder.Decode(m.at, m.from, m.data)
	r.history.Record(m.at, m.from, v, t)
	sender := m.from.Addr()
	if v == Replayed && m.at.Sub(logged[sender]) > tellEvery && len(logged) < maxTold {
		logged[sender] = m.at
		r.opt.Log.Warn("a version 3 notification is not taken, because its time is past: either somebody replays it, or the switch has restarted without counting that; "+
			"it is taken once the switch has answered a request", "address", sender, "switch", decoder.listedAt(m.from))
	}
	if t != nil {
		r.opt.Handle(*t)
	}
	if reply != nil {
		_, _ = conn.WriteToUDPAddrPort(reply, m.from) // lost, as answers may be
	}
}
