package simrouter

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
)

func number10(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

func el(name string, kids ...*xmltree.Node) *xmltree.Node {
	return xmltree.New(netconf.NS, name, kids...)
}

func text(name, v string) *xmltree.Node { return xmltree.Leaf(netconf.NS, name, v) }

// answer does one rpc and queues its reply. False ends the session.
func (s *session) answer(rpc *xmltree.Node) bool {
	if len(rpc.Kids) != 1 {
		return false
	}
	op := rpc.Kids[0]
	f := s.r.now()
	greeting := s.asked == 0 && op.Is(netconf.NS, "get-config") && op.Down("filter") != nil && len(op.Down("filter").Kids) == 0
	s.asked++
	if !greeting {
		s.r.mu.Lock()
		s.r.counts[op.Name]++
		s.r.mu.Unlock()
	}
	name := op.Name
	if greeting {
		name = "greeting"
		f.Hangup, f.Silent, f.HangupOK = only(f.Hangup, name), only(f.Silent, name), only(f.HangupOK, name)
	}
	reply := el("rpc-reply")
	if !f.NoID {
		id := rpc.Attr("", "message-id")
		if f.WrongID {
			id = "another"
		}
		reply.With("", "message-id", id)
	}
	bad := func(severity string, e *Fault) *xmltree.Node {
		n := el("rpc-error", text("error-type", "application"), text("error-tag", e.Tag), text("error-severity", severity))
		if e.Path != "" {
			n.Add(text("error-path", e.Path))
		}
		return n.Add(text("error-message", e.Message))
	}
	refusal := &Fault{cmp.Or(f.RefuseTag, "operation-failed"), "/routing", "not today"}
	switch {
	case greeting:
		reply.Add(el("data"))
	case hits(f.Hangup, name):
		return false
	case hits(f.Empty, name):
	case hits(f.Twice, name):
		reply.Add(el("ok"), bad("error", refusal), el("ok"))
	case hits(f.Refuse, name):
		reply.Add(bad("warning", &Fault{"operation-failed", "", "take care"}), bad("error", refusal), bad("error", &Fault{"invalid-value", "/routing/bier", "nor tomorrow"}))
	case hits(f.Ignore, name):
		reply.Add(el("ok"))
	default:
		out, err := s.do(op)
		var e *Fault
		if errors.As(err, &e) {
			n := bad("error", e)
			if l := (lockDenied{}); errors.As(err, &l) {
				n.Add(el("error-info", text("session-id", number10(l.holder))))
			}
			reply.Add(n)
		} else {
			reply.Add(out)
		}
	}
	switch {
	case f.HangupOK != "" && hits(f.HangupOK, name):
		return false
	case hits(f.Silent, name), s.asked <= f.LoseFirst:
		return true
	}
	s.send(reply, f, name)
	return true
}

// only keeps a fault of "*" away from the greeting.
func only(fault, name string) string {
	if fault == name {
		return fault
	}
	return ""
}

func (s *session) send(reply *xmltree.Node, f Faults, name string) {
	if f.Events {
		s.event(xmltree.New("urn:lab:events", "tick"))
	}
	msg := reply.Bytes()
	if f.Pad > 0 {
		msg = append(msg, []byte("<!--"+strings.Repeat("x", f.Pad)+"-->")...)
	}
	if f.Garbage {
		msg = []byte("<rpc-reply><what</rpc-reply>")
	}
	b := s.frame(msg, s.f.Chunked || f.ChunksInOld, f)
	switch {
	case f.Swap && name != "greeting" && s.hold(b):
		return
	case hits(f.Half, name):
		s.queue(b[:len(b)/2])
		s.queue(nil)
		return
	case hits(f.Stall, name):
		b = b[:len(b)/2]
	}
	s.queue(b)
	if name == "close-session" {
		s.queue(nil)
	}
	s.release()
}

// swapWait is how long a reply is held back when no other overtakes it.
const swapWait = 5 * time.Millisecond

// hold keeps a reply back unless there is one already.
func (s *session) hold(b []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil {
		return false
	}
	s.held = b
	time.AfterFunc(swapWait, s.release)
	return true
}

func (s *session) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil {
		s.queue(s.held)
		s.held = nil
	}
}

// frame puts a message into chunks or a mark after it.
func (s *session) frame(msg []byte, chunked bool, f Faults) []byte {
	var b bytes.Buffer
	if !chunked {
		b.Write(msg)
		b.WriteString("]]>]]>")
		return b.Bytes()
	}
	for len(msg) > 0 {
		n := len(msg)
		if f.ChunkSize > 0 {
			n = min(n, f.ChunkSize)
		}
		fmt.Fprintf(&b, "\n#%d\n", n)
		b.Write(msg[:n])
		msg = msg[n:]
	}
	b.WriteString("\n##\n")
	return b.Bytes()
}
