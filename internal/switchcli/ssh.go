package switchcli

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"

	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/netconf"
	"ctl.internal/sdk/fault"
)

// shell is a shell over SSH.
type shell struct {
	ssh.Channel
	client *ssh.Client
}

func dialSSH(ctx context.Context, t Target) (io.ReadWriteCloser, string, error) {
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
	s := shell{client: client}
	stop := context.AfterFunc(ctx, func() { _ = client.Close() })
	defer stop()
	if s.Channel, err = netconf.OpenShell(client); err != nil {
		_ = client.Close()
		f := fault.Device(fault.Downstream, "switch %s: no command line behind its SSH: %v", t, err)
		f.Cause = err
		return nil, key, f
	}
	return s, key, nil
}

// Close ends the connection.
func (s shell) Close() error { return s.client.Close() }
