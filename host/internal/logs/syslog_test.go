package logs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
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
	a, err := OpenAudit(t.TempDir(), 1<<20, 3)
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenSyslog(address)
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
			var n int
			if _, err := fmt.Fscanf(r, "%d ", &n); err != nil {
				t.Fatal(err)
			}
			text := make([]byte, n)
			if _, err := io.ReadFull(r, text); err != nil {
				t.Fatal(err)
			}
			takes(t, string(text), AuditRecord{Seq: uint64(i + 1), What: fmt.Sprint("act ", i+1)})
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
	if n, err := VerifyAudit(a.dir, AuditHead{}, func(AuditRecord) bool { return true }); err != nil || n != syslogQueue+103 {
		t.Errorf("%d records, %v", n, err)
	}
}

func TestSyslogAddresses(t *testing.T) {
	for _, text := range []string{"", "514", "udp://host", "udp://:514", "http://host:80", "unix://host/dev/log", "unix:dev/log", "tcp://host:1/path", "udp://user@host:514"} {
		if _, _, err := ParseSyslog(text); err == nil || !strings.Contains(err.Error(), "is not an address") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string]string{"udp://[::1]:514": "udp [::1]:514", "tcp://log.example.org:601": "tcp log.example.org:601", "unix:///dev/log": "unix /dev/log"} {
		network, at, err := ParseSyslog(text)
		if err != nil || network+" "+at != want {
			t.Errorf("%s: %s %s %v", text, network, at, err)
		}
	}
}
