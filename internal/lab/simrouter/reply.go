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

func formatUint(n uint32) string {
	return strconv.FormatUint(uint64(n), 10)
}

func newElement(name string, kids ...*xmltree.Node) *xmltree.Node {
	return xmltree.New(netconf.NS, name, kids...)
}

func newTextElement(name, v string) *xmltree.Node {
	return xmltree.Leaf(netconf.NS, name, v)
}

// answerRPC does one rpc and queues its reply. False ends the session.
func (s *session) answerRPC(rpc *xmltree.Node) bool {
	if len(rpc.Kids) != 1 {
		return false
	}
	op := rpc.Kids[0]
	f := s.r.currentFaults()
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
		f.Hangup, f.Silent, f.HangupOK = faultIfNamed(f.Hangup, name), faultIfNamed(f.Silent, name), faultIfNamed(f.HangupOK, name)
	}
	reply := newElement("rpc-reply")
	if !f.NoID {
		id := rpc.Attr("", "message-id")
		if f.WrongID {
			id = "another"
		}
		reply.With("", "message-id", id)
	}
	bad := func(severity string, e *Fault) *xmltree.Node {
		n := newElement(
			"rpc-error",
			newTextElement("error-type", "application"),
			newTextElement("error-tag", e.Tag),
			newTextElement("error-severity", severity),
		)
		if e.Path != "" {
			n.Add(newTextElement("error-path", e.Path))
		}
		return n.Add(newTextElement("error-message", e.Message))
	}
	refusal := &Fault{cmp.Or(f.RefuseTag, "operation-failed"), "/routing", "not today"}
	switch {
	case greeting:
		reply.Add(newElement("data"))
	case matchesOperation(f.Hangup, name):
		return false
	case matchesOperation(f.Empty, name):
	case matchesOperation(f.Twice, name):
		reply.Add(newElement("ok"), bad("error", refusal), newElement("ok"))
	case matchesOperation(f.Refuse, name):
		reply.Add(
			bad("warning", &Fault{"operation-failed", "", "take care"}),
			bad("error", refusal),
			bad("error", &Fault{"invalid-value", "/routing/bier", "nor tomorrow"}),
		)
	case matchesOperation(f.Ignore, name):
		reply.Add(newElement("ok"))
	default:
		out, err := s.doOperation(op)
		var e *Fault
		if errors.As(err, &e) {
			n := bad("error", e)
			if l := (lockDenied{}); errors.As(err, &l) {
				n.Add(newElement("error-info", newTextElement("session-id", formatUint(l.holder))))
			}
			reply.Add(n)
		} else {
			reply.Add(out)
		}
	}
	switch {
	case f.HangupOK != "" && matchesOperation(f.HangupOK, name):
		return false
	case matchesOperation(f.Silent, name), s.asked <= f.LoseFirst:
		return true
	}
	s.sendReply(reply, f, name)
	return true
}

// faultIfNamed keeps a fault of "*" away from the greeting.
func faultIfNamed(fault, name string) string {
	if fault == name {
		return fault
	}
	return ""
}

func (s *session) sendReply(reply *xmltree.Node, f Faults, name string) {
	if f.Events {
		s.queueEvent(xmltree.New("urn:lab:events", "tick"))
	}
	msg := reply.Bytes()
	if f.Pad > 0 {
		msg = append(msg, []byte("<!--"+strings.Repeat("x", f.Pad)+"-->")...)
	}
	if f.Garbage {
		msg = []byte("<rpc-reply><what</rpc-reply>")
	}
	b := s.frameMessage(msg, s.f.Chunked || f.ChunksInOld, f)
	switch {
	case f.Swap && name != "greeting" && s.holdReply(b):
		return
	case matchesOperation(f.Half, name):
		s.queueMessage(b[:len(b)/2])
		s.queueMessage(nil)
		return
	case matchesOperation(f.Stall, name):
		b = b[:len(b)/2]
	}
	s.queueMessage(b)
	if name == "close-session" {
		s.queueMessage(nil)
	}
	s.releaseHeldReply()
}

// swapWait is how long a reply is held back when no other overtakes it.
const swapWait = 5 * time.Millisecond

// holdReply keeps a reply back unless there is one already.
func (s *session) holdReply(b []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil {
		return false
	}
	s.held = b
	time.AfterFunc(swapWait, s.releaseHeldReply)
	return true
}

func (s *session) releaseHeldReply() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil {
		s.queueMessage(s.held)
		s.held = nil
	}
}

// frameMessage puts a message into chunks or a mark after it.
func (s *session) frameMessage(msg []byte, chunked bool, f Faults) []byte {
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
