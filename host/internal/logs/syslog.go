package logs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of what goes to a syslog server.
const (
	syslogQueue   = 4096 // records that wait
	syslogTimeout = 5 * time.Second
	syslogPause   = time.Second // between attempts to reach the server
	syslogIP      = 56 << 10    // bytes of a datagram, less than UDP has
	// RFC 5424: facility 13 (log audit), severity notice, warning for what did not succeed.
	syslogNotice, syslogWarning = 13<<3 | 5, 13<<3 | 4
)

// Syslog sends records of the audit to a syslog server in the form of RFC 5424: over TLS (RFC 5425), TCP (octet counting, RFC
// 6587), UDP or a unix socket. Nothing waits for it: what does not fit into its queue is dropped and counted. Each record
// has the number and the hash of the one before it, so the server's copy shows what it lacks.
type Syslog struct {
	network, address string
	tls              *tls.Config // nil = not over TLS
	host             string
	log              *slog.Logger
	queue            chan []byte
	stop             chan struct{}
	ended            sync.WaitGroup
	sent, dropped    atomic.Uint64
	failing          bool // the newest attempt to reach the server failed, and that is logged
}

// SyslogTLS is what a syslog server and this controller know each other by over TLS, each in the form of PEM.
type SyslogTLS struct {
	Authorities      []byte // certificates, by one of which the server's is signed, or which is the server's; empty = the system's
	Certificate, Key []byte // of this controller; empty = it has none
}

// config makes settings of TLS for a server.
func (f SyslogTLS) config(server string) (*tls.Config, error) {
	c := &tls.Config{
		MinVersion: tls.VersionTLS12,
		ServerName: server,
	}
	if len(f.Authorities) > 0 {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(f.Authorities) {
			return nil, errors.New("the file of authorities has no certificate in the form of PEM")
		}
	}
	if len(f.Certificate) > 0 {
		own, err := tls.X509KeyPair(f.Certificate, f.Key)
		if err != nil {
			return nil, fmt.Errorf("the certificate of this controller and its key: %w", err)
		}
		c.Certificates = []tls.Certificate{own}
	}
	return c, nil
}

// networks are those of the schemes of addresses.
var networks = map[string]string{
	"udp": "udp",
	"tcp": "tcp",
	"tls": "tcp",
}

// parseSyslog reads an address: tls://HOST:PORT, tcp://HOST:PORT, udp://HOST:PORT or unix:///PATH.
func parseSyslog(text string) (*Syslog, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
	case networks[u.Scheme] != "" && u.Hostname() != "" && u.Port() != "" && u.Path == "" && u.User == nil:
		s := &Syslog{
			network: networks[u.Scheme],
			address: u.Host,
		}
		if u.Scheme == "tls" {
			s.tls = &tls.Config{ServerName: u.Hostname()}
		}
		return s, nil
	case u.Scheme == "unix" && u.Host == "" && strings.HasPrefix(u.Path, "/"):
		return &Syslog{network: "unix", address: u.Path}, nil
	}
	return nil, fmt.Errorf(
		"%q is not an address such as tls://log.example.org:6514, tcp://log.example.org:601, udp://192.0.2.1:514 or unix:///dev/log",
		text,
	)
}

// OpenSyslog starts sending; a server that does not answer is tried again, and the log says so.
func OpenSyslog(address string, known SyslogTLS, log *slog.Logger) (*Syslog, error) {
	s, err := parseSyslog(address)
	if err != nil {
		return nil, err
	}
	if s.tls != nil {
		if s.tls, err = known.config(s.tls.ServerName); err != nil {
			return nil, err
		}
	}
	s.host, s.log, s.queue, s.stop = "-", log, make(chan []byte, syslogQueue), make(chan struct{})
	if name, err := os.Hostname(); err == nil && name != "" {
		s.host = name
	}
	s.ended.Go(s.sendQueued)
	return s, nil
}

// queueRecord queues a record, line being its JSON.
func (s *Syslog) queueRecord(r AuditRecord, line []byte) {
	pri := syslogNotice
	if r.Outcome != "ok" {
		pri = syslogWarning
	}
	text := fmt.Appendf(
		nil,
		"<%d>1 %s %s ctld %d audit - %s",
		pri,
		r.Time.Format("2006-01-02T15:04:05.000000Z07:00"),
		s.host,
		os.Getpid(),
		line,
	)
	select {
	case s.queue <- text:
	default:
		s.dropped.Add(1)
	}
}

func (s *Syslog) sendQueued() {
	var to *syslogConn
	defer func() { to.close() }()
	for text := range s.queue { // Close ends it: what waits then is sent as long as the server takes it
		for to = s.sendRecord(to, text); to == nil; to = s.sendRecord(to, text) {
			select {
			case <-s.stop:
				return
			case <-time.After(syslogPause):
			}
		}
		s.sent.Add(1)
	}
}

// syslogConn is a connection to the server.
type syslogConn struct {
	net.Conn
	counted bool          // octets are counted, as there are no datagrams
	most    int           // bytes of a record; 0 = any number
	gone    chan struct{} // is closed when the server has ended the connection
	reads   sync.WaitGroup
}

// close ends a connection, if there is one.
func (c *syslogConn) close() {
	if c != nil {
		_ = c.Conn.Close()
		c.reads.Wait()
	}
}

// watch reads what the server sends, which is nothing but that it ends the connection, or refuses the certificate of this controller:
// of that TLS 1.3 says nothing before.
func (c *syslogConn) watch() {
	c.reads.Go(func() {
		_, _ = io.Copy(io.Discard, c.Conn)
		close(c.gone)
	})
}

// connect reaches the server.
func (s *Syslog) connect() (*syslogConn, error) {
	d := net.Dialer{Timeout: syslogTimeout}
	if s.tls != nil {
		conn, err := tls.DialWithDialer(&d, s.network, s.address, s.tls)
		if err != nil {
			return nil, err
		}
		return s.stream(conn), nil
	}
	if s.network == "unix" {
		conn, err := d.Dial("unixgram", s.address)
		if err == nil { // syslogd has this, some relays the other
			return &syslogConn{Conn: conn}, nil
		}
	}
	conn, err := d.Dial(s.network, s.address)
	if err != nil {
		return nil, err
	}
	if s.network == "udp" {
		return &syslogConn{Conn: conn, most: syslogIP}, nil
	}
	return s.stream(conn), nil
}

func (s *Syslog) stream(conn net.Conn) *syslogConn {
	c := &syslogConn{
		Conn:    conn,
		counted: true,
		gone:    make(chan struct{}),
	}
	c.watch()
	return c
}

// ended reports whether the server has ended the connection.
func (c *syslogConn) ended() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// sendRecord writes one record and returns the connection, nil when it has to be sent again on another.
func (s *Syslog) sendRecord(to *syslogConn, text []byte) *syslogConn {
	if to != nil && to.ended() {
		to.close()
		to = nil
	}
	if to == nil {
		var err error
		if to, err = s.connect(); err != nil {
			s.note(err)
			return nil
		}
	}
	switch {
	case to.counted:
		text = append(fmt.Appendf(nil, "%d ", len(text)), text...)
	case to.most > 0:
		text = text[:min(len(text), to.most)]
	}
	_ = to.SetWriteDeadline(time.Now().Add(syslogTimeout))
	if _, err := to.Write(text); err != nil {
		to.close()
		s.note(err)
		return nil
	}
	s.note(nil)
	return to
}

// note logs that the server is not reached any more, and that it is again.
func (s *Syslog) note(err error) {
	switch {
	case err != nil && !s.failing:
		s.log.Warn(
			"records of the audit cannot be sent to the syslog server; they wait, and it is tried again",
			"address",
			s.address,
			"error",
			err,
		)
	case err == nil && s.failing:
		s.log.Info("records of the audit are sent to the syslog server again", "address", s.address)
	}
	s.failing = err != nil
}

// Close stops sending; no record may be put from then on. What waits for a server that does not answer is lost there; the file has it.
func (s *Syslog) Close() {
	close(s.stop)
	close(s.queue)
	s.ended.Wait()
}
