package sshhost

import (
	"net"

	"golang.org/x/crypto/ssh"
)

func (l *Listener) serveConn(c net.Conn) {
	l.mu.Lock()
	l.conns[c] = true
	config := l.config
	l.mu.Unlock()
	defer func() {
		c.Close()
		l.mu.Lock()
		delete(l.conns, c)
		l.mu.Unlock()
	}()
	if l.o.Plain != nil {
		l.o.Plain(c)
		return
	}
	conn, chans, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		return
	}
	defer conn.Close()
	l.all.Go(func() { ssh.DiscardRequests(requests) })
	for n := range chans {
		if n.ChannelType() != "session" {
			_ = n.Reject(ssh.UnknownChannelType, "only sessions")
			continue
		}
		ch, requests, err := n.Accept()
		if err != nil {
			return
		}
		l.all.Go(func() {
			defer ch.Close()
			l.o.Serve(conn.User(), ch, requests)
		})
	}
}

// Wanted answers the requests of a channel until the one that is wanted comes, and
// discards those after it. False: the channel ended before. name is that of a
// subsystem, else empty.
func Wanted(requests <-chan *ssh.Request, kind, name string) bool {
	for q := range requests {
		var subsystem struct{ Name string }
		is := q.Type == kind && (name == "" || ssh.Unmarshal(q.Payload, &subsystem) == nil && subsystem.Name == name)
		_ = q.Reply(is || q.Type == "pty-req", nil) // without a connection the channel ends too
		if is {
			go ssh.DiscardRequests(requests) // ends with the channel
			return true
		}
	}
	return false
}
