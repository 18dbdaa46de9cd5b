package netconf

import (
	"errors"
	"fmt"

	"ctl.internal/internal/netconf/xmltree"
)

// read is the session's only reader. It hands replies out by their message-id.
func (s *Session) read() {
	defer close(s.done)
	defer close(s.events)
	for {
		data, err := s.t.Receive()
		if err == nil {
			err = s.take(data)
		}
		if err != nil {
			s.fail(err)
			return
		}
	}
}

func (s *Session) take(data []byte) error {
	root, err := xmltree.Parse(data)
	switch {
	case err != nil:
		return fmt.Errorf("a message of the router is %w", err)
	case root.Is(NS, "rpc-reply"):
		return s.deliver(root)
	case root.Is(NSNotification, "notification"):
		n, err := readNotification(root)
		if err == nil {
			s.queue(n)
		}
		return err
	}
	return fmt.Errorf("the router sent %.40q of %.80q, neither a reply nor a notification", root.Name, root.Space)
}

func (s *Session) deliver(root *xmltree.Node) error {
	id := root.Attr("", "message-id")
	reply, err := readReply(root)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.waiting[id]
	switch {
	case c != nil:
		delete(s.waiting, id)
		c <- answer{reply, err}
		return nil
	case s.abandoned[id]:
		delete(s.abandoned, id)
		return nil
	case id == "" && err != nil:
		return fmt.Errorf("a reply to no message: %w", err)
	}
	return errors.New("the router answered a message that was not sent")
}

// queue never blocks: a slow reader must not hold up replies.
func (s *Session) queue(n Notification) {
	n.Lost = s.lost
	select {
	case s.events <- n:
		s.lost = 0
	default:
		s.lost++
	}
}
