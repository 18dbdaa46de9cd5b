package logs

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// received is the form of RFC 5424 section 6: the header, no structured data, the record.
var received = regexp.MustCompile(`^<(10[89])>1 (\S+) (\S+) ctld \d+ audit - (\{.*\})$`)

func takes(t *testing.T, text string, want AuditRecord) {
	t.Helper()
	m := received.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("not in the form of RFC 5424: %q", text)
	}
	if _, err := time.Parse(time.RFC3339Nano, m[2]); err != nil {
		t.Error(err)
	}
	var r AuditRecord
	if err := json.Unmarshal([]byte(m[4]), &r); err != nil || r.What != want.What || r.Seq != want.Seq {
		t.Errorf("%+v %v", r, err)
	}
	if pri := map[bool]string{true: "109", false: "108"}[r.Outcome == "ok"]; pri != m[1] {
		t.Errorf("priority %s of %s", m[1], r.Outcome)
	}
}

func sends(t *testing.T, address string) *Audit {
	t.Helper()
	return sendsAs(t, address, SyslogTLS{})
}

func sendsAs(t *testing.T, address string, known SyslogTLS) *Audit {
	t.Helper()
	a, err := OpenAudit(t.TempDir(), 1<<20, 3)
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenSyslog(address, known, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	a.SendTo(s)
	for i, outcome := range []string{"ok", "refused", "ok"} {
		if err := a.Write(AuditRecord{Who: "ann@sdn", What: fmt.Sprint("act ", i+1), Outcome: outcome}, false); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func TestTheAuditGoesToSyslogOverUDP(t *testing.T) {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	a := sends(t, "udp://"+c.LocalAddr().String())
	defer a.Close()
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	buf := make([]byte, 64<<10)
	for i := range 3 {
		n, _, err := c.ReadFrom(buf)
		if err != nil {
			t.Fatal(err)
		}
		takes(t, string(buf[:n]), AuditRecord{Seq: uint64(i + 1), What: fmt.Sprint("act ", i+1)})
	}
}

func TestTheAuditGoesToSyslogOverTCPAndUnixSockets(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		address := "127.0.0.1:0"
		if network == "unix" {
			address = filepath.Join(t.TempDir(), "log")
		}
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		a := sends(t, network+"://"+l.Addr().String())
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		r := bufio.NewReader(c)
		for i := range 3 {
			takes(t, octets(t, r), AuditRecord{Seq: uint64(i + 1), What: fmt.Sprint("act ", i+1)})
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		c.Close()
		l.Close()
	}
}

// A server that is not there costs its own records only: none that is written waits for it.
func TestASyslogServerThatIsAwayDelaysNothing(t *testing.T) {
	a := sends(t, "unix://"+filepath.Join(t.TempDir(), "absent"))
	for range syslogQueue + 100 {
		if err := a.Write(AuditRecord{What: "act", Outcome: "ok"}, false); err != nil {
			t.Fatal(err)
		}
	}
	st := a.Stats()
	if st.OK != syslogQueue+102 || st.Refused != 1 || st.Lost != 0 || st.Sent != 0 || st.Dropped < 100 {
		t.Errorf("%+v", st)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if n, err := VerifyAudit(a.dir, nil, func(AuditRecord) bool { return true }); err != nil || n != syslogQueue+103 {
		t.Errorf("%d records, %v", n, err)
	}
}

func TestSyslogAddresses(t *testing.T) {
	for _, text := range []string{"", "514", "udp://host", "udp://:514", "http://host:80", "unix://host/dev/log", "unix:dev/log", "tcp://host:1/path", "udp://user@host:514", "tls://host"} {
		if _, err := parseSyslog(text); err == nil || !strings.Contains(err.Error(), "is not an address") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string]string{"udp://[::1]:514": "udp [::1]:514", "tcp://log.example.org:601": "tcp log.example.org:601",
		"unix:///dev/log": "unix /dev/log", "tls://[::1]:6514": "tcp [::1]:6514"} {
		s, err := parseSyslog(text)
		if err != nil || s.network+" "+s.address != want || (s.tls != nil) != strings.HasPrefix(text, "tls:") {
			t.Errorf("%s: %+v %v", text, s, err)
		}
	}
}

// certified makes a certificate for 127.0.0.1 that signs itself, and its key, in the form of PEM.
func certified(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

// octets reads one record of RFC 5425 section 4.3.
func octets(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	var n int
	if _, err := fmt.Fscanf(r, "%d ", &n); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// listenTLS is a server that wants a certificate, and what a client knows it by.
func listenTLS(t *testing.T) (net.Listener, SyslogTLS) {
	t.Helper()
	serverCert, serverKey := certified(t)
	ownCert, ownKey := certified(t)
	pair, err := tls.X509KeyPair(serverCert, serverKey)
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(ownCert)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, SyslogTLS{Authorities: serverCert, Certificate: ownCert, Key: ownKey}
}

// accepted is the next connection to a server.
func accepted(t *testing.T, l net.Listener) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c, bufio.NewReader(c)
}

// Over TLS both sides are verified, and the records arrive in the form of RFC 5425.
func TestTheAuditGoesToSyslogOverTLS(t *testing.T) {
	l, known := listenTLS(t)
	a := sendsAs(t, "tls://"+l.Addr().String(), known)
	to := a.to
	c, r := accepted(t, l)
	for i := range 3 {
		takes(t, octets(t, r), AuditRecord{Seq: uint64(i + 1), What: fmt.Sprint("act ", i+1)})
	}
	c.Close()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if st := to.sent.Load(); st != 3 {
		t.Errorf("%d records were sent", st)
	}
}

// A server that has ended the connection gets the next record on another one.
func TestASyslogServerThatEndedTheConnectionIsReachedAgain(t *testing.T) {
	l, known := listenTLS(t)
	s, err := parseSyslog("tls://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s.log = slog.New(slog.DiscardHandler)
	if s.tls, err = known.config("127.0.0.1"); err != nil {
		t.Fatal(err)
	}
	sent := make(chan *syslogConn, 2)
	next := make(chan *syslogConn, 2)
	go func() {
		for conn := range next {
			sent <- s.sendRecord(conn, []byte("record"))
		}
	}()
	defer close(next)
	next <- nil
	var conn *syslogConn
	for range 3 {
		c, r := accepted(t, l)
		if text := octets(t, r); text != "record" {
			t.Fatalf("%q arrived", text)
		}
		if conn = <-sent; conn == nil {
			t.Fatal("the record was not sent")
		}
		c.Close()
		<-conn.gone
		next <- conn
	}
	c, _ := accepted(t, l)
	go func() { _, _ = io.Copy(io.Discard, c) }()
	conn = <-sent
	c.Close()
	conn.close()
}

// A server whose certificate is not signed by an authority of the settings gets nothing, and the log says why.
func TestAServerThatIsNotVerifiedGetsNoRecord(t *testing.T) {
	serverCert, serverKey := certified(t)
	other, _ := certified(t)
	pair, err := tls.X509KeyPair(serverCert, serverKey)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	read := make(chan int64, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			read <- -1
			return
		}
		n, _ := io.Copy(io.Discard, c)
		c.Close()
		read <- n
	}()
	var said bytes.Buffer
	s, err := OpenSyslog("tls://"+l.Addr().String(), SyslogTLS{Authorities: other}, slog.New(slog.NewTextHandler(&said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	s.queueRecord(AuditRecord{What: "act", Outcome: "ok"}, []byte("{}"))
	if n := <-read; n != 0 {
		t.Errorf("the server got %d bytes", n)
	}
	s.Close()
	if !strings.Contains(said.String(), "cannot be sent") || !strings.Contains(said.String(), "certificate") || s.sent.Load() != 0 {
		t.Errorf("%d sent: %s", s.sent.Load(), said.String())
	}
	if _, err := OpenSyslog("tls://127.0.0.1:1", SyslogTLS{Authorities: []byte("none")}, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("authorities without a certificate are accepted")
	}
}
