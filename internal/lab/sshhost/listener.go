// Package sshhost is the SSH side of simulated routers: it listens, lets one user in,
// shows a host key, and can be cut off and switched on again. What a router says on
// a channel is simrouter's (NETCONF) or simcli's (a command line).
package sshhost

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"
)

// Options of a listener. Empty strings: user and password "lab", no key, 127.0.0.1:0.
type Options struct {
	User, Password string
	AuthorizedTo   string      // a key that may log in, a line of authorized_keys
	Both           bool        // with the key the password is needed too
	Address        string      // host:port
	Refuse         func() bool // reports whether logins are refused now; nil: never
	// Serve runs on each channel of a session until it returns.
	Serve func(user string, ch ssh.Channel, requests <-chan *ssh.Request)
	// Plain, if it is set, serves connections without SSH instead: telnet.
	Plain func(net.Conn)
}

// Listener is a router's SSH server.
type Listener struct {
	o Options

	mu       sync.Mutex
	config   *ssh.ServerConfig
	key      string
	address  string
	listener net.Listener
	conns    map[net.Conn]bool

	all sync.WaitGroup
}

// Start listens.
func Start(o Options) (*Listener, error) {
	o.User, o.Password, o.Address = cmp.Or(o.User, "lab"), cmp.Or(o.Password, "lab"), cmp.Or(o.Address, "127.0.0.1:0")
	l := &Listener{o: o, conns: map[net.Conn]bool{}}
	if err := l.NewHostKey(); err != nil {
		return nil, err
	}
	return l, l.Up(o.Address)
}

// NewHostKey gives the router another key, as a replaced device has.
func (l *Listener) NewHostKey() error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	return l.showHostKey(private)
}

// OtherKindOfHostKey gives the router a key of another kind than NewHostKey does.
func (l *Listener) OtherKindOfHostKey() error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return l.showHostKey(private)
}

func (l *Listener) showHostKey(private any) error {
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return err
	}
	byPassword := func(c ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
		return l.admitUser(c, string(password) == l.o.Password)
	}
	c := &ssh.ServerConfig{
		MaxAuthTries:     4,
		PasswordCallback: byPassword,
		PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			return l.admitUser(c, formatPublicKey(key) == strings.TrimSpace(l.o.AuthorizedTo))
		},
	}
	if l.o.Both {
		c.PasswordCallback = nil
		byKey := c.PublicKeyCallback
		c.PublicKeyCallback = func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if _, err := byKey(c, key); err != nil {
				return nil, err
			}
			return nil, &ssh.PartialSuccessError{Next: ssh.ServerAuthCallbacks{PasswordCallback: byPassword}}
		}
	}
	c.AddHostKey(signer)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.config, l.key = c, formatPublicKey(signer.PublicKey())
	return nil
}

func formatPublicKey(k ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k)))
}

func (l *Listener) admitUser(c ssh.ConnMetadata, right bool) (*ssh.Permissions, error) {
	if !right || c.User() != l.o.User || l.o.Refuse != nil && l.o.Refuse() {
		return nil, errors.New("refused")
	}
	return &ssh.Permissions{}, nil
}

// Host is the address the router listens on, or did last.
func (l *Listener) Host() string { h, _, _ := net.SplitHostPort(l.listenAddress()); return h }

// Port is the TCP port.
func (l *Listener) Port() int {
	a, err := net.ResolveTCPAddr("tcp", l.listenAddress())
	if err != nil {
		return 0
	}
	return a.Port
}

func (l *Listener) listenAddress() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.address
}

// HostKey is the router's key, a line of authorized_keys.
func (l *Listener) HostKey() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.key
}

// Up lets the router listen; empty: where it did before. Start has done it already.
func (l *Listener) Up(address string) error {
	if address == "" {
		address = l.listenAddress()
	}
	tcp, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("simulated router: %w", err)
	}
	l.mu.Lock()
	l.listener, l.address = tcp, tcp.Addr().String()
	l.mu.Unlock()
	l.all.Go(func() {
		for {
			c, err := tcp.Accept()
			if err != nil {
				return
			}
			l.all.Go(func() { l.serveConn(c) })
		}
	})
	return nil
}

// Down is a power cut: connections end without a word. It returns when nothing of the
// router runs any more.
func (l *Listener) Down() {
	l.mu.Lock()
	if l.listener != nil {
		l.listener.Close()
	}
	l.mu.Unlock()
	l.Drop()
	l.all.Wait()
}

// Drop ends all connections; the router goes on listening.
func (l *Listener) Drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		c.Close()
	}
}
