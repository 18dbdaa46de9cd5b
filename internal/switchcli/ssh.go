package switchcli

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"

	"github.com/scrapli/scrapligo/transport"
	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/netconf"
	"ctl.internal/sdk/fault"
)

// shell is a shell over SSH. scrapligo's own takes no pinned key and no context.
type shell struct {
	account
	target Target
	client *ssh.Client
	ch     ssh.Channel
	closed sync.Once
}

func dialSSH(ctx context.Context, t Target) (*shell, string, error) {
	host, p, err := net.SplitHostPort(t.address())
	if err != nil {
		return nil, "", fault.Wrap(fault.Invalid, err, "switch %s: %v", t, err)
	}
	port, _ := strconv.Atoi(p)
	client, key, err := netconf.DialSSH(ctx, netconf.Target{Host: host, Port: port, User: t.User, Password: t.Password, HostKey: t.HostKey})
	if err != nil {
		kind := fault.Unavailable
		var other *netconf.HostKeyError
		switch {
		case ctx.Err() != nil:
			kind = fault.Timeout
		case errors.Is(err, netconf.ErrLogin), errors.As(err, &other):
			kind = fault.Denied
		}
		f := fault.Device(kind, "switch %s: %v", t, err)
		f.Cause = err
		return nil, key, f
	}
	s := &shell{target: t, client: client}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := s.open(); err != nil {
		_ = s.Close()
		f := fault.Device(fault.Downstream, "switch %s: no command line behind its SSH: %v", t, err)
		f.Cause = err
		return nil, key, f
	}
	return s, key, nil
}

func (s *shell) open() (err error) {
	s.ch, err = netconf.OpenShell(s.client)
	return err
}

func (s *shell) Open(*transport.Args) error { return nil }
func (s *shell) IsAlive() bool              { return s.why() == nil }

func (s *shell) Close() (err error) {
	s.closed.Do(func() { err = s.client.Close() })
	return err
}

func (s *shell) Read(n int) ([]byte, error) {
	b := make([]byte, n)
	n, err := s.ch.Read(b)
	if err != nil {
		return nil, s.over(err)
	}
	return b[:n], s.took(n, s.target)
}

func (s *shell) Write(b []byte) error {
	_, err := s.ch.Write(b)
	return err
}
