package netconf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"golang.org/x/crypto/ssh"
)

// Port is the one of NETCONF over SSH (RFC 6242 section 6).
const Port = 830

// Target is a server and who we are there.
type Target struct {
	Host       string // address or name
	Port       int    // 0: 830
	User       string
	Password   string   // either or both; the key is tried first
	PrivateKey []byte   // PEM or OpenSSH form, not encrypted
	HostKey    string   // the one key allowed, a line of authorized_keys; empty: any, see Session.HostKey
	MaxMessage int      // bytes of one message; 0: framing.DefaultMax
	Conn       net.Conn // the connection to Host, where there is one already
}

// ErrLogin is a server that does not let the user in.
var ErrLogin = errors.New("the router refuses the user")

// Dial opens a session over SSH. ctx bounds all of it: name, connection, login,
// hello. Errors are a *HostKeyError, ErrLogin, or that the device is not reached.
func Dial(ctx context.Context, t Target) (*Session, error) {
	client, key, err := DialSSH(ctx, t)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { client.Close() })
	ch, err := openSubsystem(client)
	stop()
	if err != nil {
		client.Close()
		return nil, errors.Join(
			fmt.Errorf("the router has no NETCONF over its SSH: %w", err),
			ctx.Err(),
		)
	}
	s, err := Open(ctx, sshStream{ch, client}, t.MaxMessage)
	if err != nil {
		client.Close()
		return nil, err
	}
	s.key = key
	return s, nil
}

// sshStream closes the connection with the channel: each session has its own.
type sshStream struct {
	ssh.Channel
	client *ssh.Client
}

func (s sshStream) Close() error {
	s.Channel.Close()
	return s.client.Close()
}

func openSubsystem(client *ssh.Client) (ssh.Channel, error) {
	ch, err := openChannel(client)
	if err != nil {
		return nil, err
	}
	return ch, requestChannel(
		ch,
		"subsystem",
		"the subsystem netconf",
		ssh.Marshal(struct{ Name string }{"netconf"}),
	)
}

// openChannel opens a session channel; what drains it ends with it.
func openChannel(client *ssh.Client) (ssh.Channel, error) {
	ch, requests, err := client.OpenChannel("session", nil)
	if err != nil {
		return nil, err
	}
	go ssh.DiscardRequests(requests)
	go io.Copy(io.Discard, ch.Stderr())
	return ch, nil
}

// requestChannel makes a request of a channel, which must be granted.
func requestChannel(ch ssh.Channel, request, what string, payload []byte) error {
	ok, err := ch.SendRequest(request, true, payload)
	if err == nil && !ok {
		err = errors.New(what + " was refused")
	}
	return err
}

// DialSSH connects and logs in, for protocols other than NETCONF. It returns the host
// key that was shown, in the form of Target.HostKey.
func DialSSH(ctx context.Context, t Target) (*ssh.Client, string, error) {
	p, err := newPin(t.HostKey)
	if err != nil {
		return nil, "", err
	}
	tried := false
	auth, err := authMethods(t, &tried)
	if err != nil {
		return nil, "", err
	}
	address := net.JoinHostPort(t.Host, strconv.Itoa(cmp.Or(t.Port, Port)))
	conn := t.Conn
	if conn == nil {
		if conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", address); err != nil {
			return nil, "", fmt.Errorf("the device is not reached: %w", err)
		}
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	c, chans, requests, err := ssh.NewClientConn(conn, address, &ssh.ClientConfig{
		User:              t.User,
		Auth:              auth,
		HostKeyCallback:   p.checkHostKey,
		HostKeyAlgorithms: p.hostKeyAlgorithms(),
		ClientVersion:     "SSH-2.0-ctl",
	})
	if err != nil {
		conn.Close()
		var other *HostKeyError
		switch {
		case ctx.Err() != nil:
			return nil, p.shown, fmt.Errorf(
				"the device's SSH does not answer in time: %w",
				ctx.Err(),
			)
		case errors.As(err, &other):
			return nil, p.shown, other
		case p.otherKind(err) != nil:
			return nil, "", p.otherKind(err)
		case tried:
			return nil, p.shown, fmt.Errorf("%w %q: %w", ErrLogin, t.User, err)
		}
		return nil, p.shown, fmt.Errorf("the device's SSH: %w", err)
	}
	return ssh.NewClient(c, chans, requests), p.shown, nil
}

// OpenShell opens a command line with a terminal of 511 columns and 1,000 rows, which
// few devices break lines or pages for. Devices without terminals do without. It ends
// with the channel.
func OpenShell(c *ssh.Client) (ssh.Channel, error) {
	ch, err := openChannel(c)
	if err != nil {
		return nil, err
	}
	pty := ssh.Marshal(struct {
		Term                      string
		Columns, Rows, Wide, High uint32
		Modes                     string
	}{"vt100", 511, 1000, 0, 0, "\x00"})
	if _, err := ch.SendRequest("pty-req", true, pty); err != nil {
		return ch, err
	}
	return ch, requestChannel(ch, "shell", "the shell", nil)
}

// CheckPrivateKey says what is wrong with a Target.PrivateKey; none is right.
func CheckPrivateKey(key []byte) error {
	if len(key) == 0 {
		return nil
	}
	_, err := readPrivateKey(key)
	return err
}

func readPrivateKey(key []byte) (ssh.Signer, error) {
	signer, err := ssh.ParsePrivateKey(key)
	if err != nil {
		return nil, errors.New("the private key cannot be read: it must be PEM or OpenSSH, not encrypted")
	}
	return signer, nil
}

// authMethods lists ways to log in. tried becomes true when one is used, which is past
// the check of the host key.
func authMethods(t Target, tried *bool) ([]ssh.AuthMethod, error) {
	var auth []ssh.AuthMethod
	if len(t.PrivateKey) > 0 {
		signer, err := readPrivateKey(t.PrivateKey)
		if err != nil {
			return nil, err
		}
		auth = append(auth, ssh.PublicKeysCallback(func() ([]ssh.Signer, error) {
			*tried = true
			return []ssh.Signer{signer}, nil
		}))
	}
	if t.Password != "" {
		auth = append(auth, ssh.PasswordCallback(func() (string, error) {
			*tried = true
			return t.Password, nil
		}), ssh.KeyboardInteractive(func(_, _ string, questions []string, echos []bool) ([]string, error) {
			*tried = true
			if len(questions) == 0 {
				return nil, nil
			}
			if len(questions) > 1 || echos[0] {
				return nil, errors.New("the router asks for more than a password")
			}
			return []string{t.Password}, nil
		}))
	}
	if len(auth) == 0 {
		return nil, errors.New("the router has neither a password nor a private key to log in with")
	}
	return auth, nil
}
