package logs

import (
	"fmt"
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

// Syslog sends records of the audit to a syslog server in the form of RFC 5424: over UDP, TCP (octet counting, RFC
// 6587) or a unix socket. Nothing waits for it: what does not fit into its queue is dropped and counted. Each record
// has the number and the hash of the one before it, so the server's copy shows what it lacks.
type Syslog struct {
	network, address string
	host             string
	queue            chan []byte
	stop             chan struct{}
	ended            sync.WaitGroup
	sent, dropped    atomic.Uint64
}

// ParseSyslog checks an address: udp://HOST:PORT, tcp://HOST:PORT or unix:///PATH.
func ParseSyslog(text string) (network, address string, err error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
	case (u.Scheme == "udp" || u.Scheme == "tcp") && u.Hostname() != "" && u.Port() != "" && u.Path == "" && u.User == nil:
		return u.Scheme, u.Host, nil
	case u.Scheme == "unix" && u.Host == "" && strings.HasPrefix(u.Path, "/"):
		return "unix", u.Path, nil
	}
	return "", "", fmt.Errorf("%q is not an address such as udp://192.0.2.1:514, tcp://log.example.org:601 or unix:///dev/log", text)
}

// OpenSyslog starts sending; a server that does not answer is tried again.
func OpenSyslog(address string) (*Syslog, error) {
	network, at, err := ParseSyslog(address)
	if err != nil {
		return nil, err
	}
	s := &Syslog{network: network, address: at, host: "-", queue: make(chan []byte, syslogQueue), stop: make(chan struct{})}
	if name, err := os.Hostname(); err == nil && name != "" {
		s.host = name
	}
	s.ended.Go(s.run)
	return s, nil
}

// put queues a record, line being its JSON.
func (s *Syslog) put(r AuditRecord, line []byte) {
	pri := syslogNotice
	if r.Outcome != "ok" {
		pri = syslogWarning
	}
	text := fmt.Appendf(nil, "<%d>1 %s %s ctld %d audit - %s", pri, r.Time.Format("2006-01-02T15:04:05.000000Z07:00"), s.host, os.Getpid(), line)
	select {
	case s.queue <- text:
	default:
		s.dropped.Add(1)
	}
}

func (s *Syslog) run() {
	var conn net.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close()
		}
	}()
	for text := range s.queue { // Close ends it: what waits then is sent as long as the server takes it
		for conn = s.send(conn, text); conn == nil; conn = s.send(conn, text) {
			select {
			case <-s.stop:
				return
			case <-time.After(syslogPause):
			}
		}
		s.sent.Add(1)
	}
}

// send writes one record and returns the connection, nil when it has to be sent again on another.
func (s *Syslog) send(conn net.Conn, text []byte) net.Conn {
	if conn == nil {
		var err error
		d := net.Dialer{Timeout: syslogTimeout}
		networks := []string{s.network}
		if s.network == "unix" {
			networks = []string{"unixgram", "unix"} // syslogd has the first, some relays the second
		}
		for _, n := range networks {
			if conn, err = d.Dial(n, s.address); err == nil {
				break
			}
		}
		if err != nil {
			return nil
		}
	}
	switch conn.LocalAddr().Network() {
	case "tcp", "unix":
		text = append(fmt.Appendf(nil, "%d ", len(text)), text...)
	case "udp":
		text = text[:min(len(text), syslogIP)]
	}
	_ = conn.SetWriteDeadline(time.Now().Add(syslogTimeout))
	if _, err := conn.Write(text); err != nil {
		_ = conn.Close()
		return nil
	}
	return conn
}

// Close stops sending; no record may be put from then on. What waits for a server that does not answer is lost there; the file has it.
func (s *Syslog) Close() {
	close(s.stop)
	close(s.queue)
	s.ended.Wait()
}
