package notify

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/home"
)

const secret = "0123456789abcdef-hush"

func anEvent(what string) Event {
	e := Event{
		Event:    what,
		Time:     began.Add(time.Minute),
		Trouble:  "4d1f",
		Kind:     "link-lost",
		Severity: "error",
		Resource: "/network-topology:network-topology/topology=a",
		Subject:  "sw1 1/3 – sw2 1/4",
		Since:    began,
		Cause:    "it is not reported any more",
		Remedy:   "look at the cable",
		Reporter: "topologies",
		Expires:  began.Add(time.Hour),
	}
	e.ID = idOf("a", &e)
	return e
}

func messageOf(events ...Event) *Message {
	return &Message{ID: messageID(events), Made: began, Events: events}
}

// startWebhook is a server over TLS and the webhook that knows its certificate.
func startWebhook(t *testing.T, h http.HandlerFunc) (*webhook, *httptest.Server) {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	dir := home.Dir(t.TempDir())
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(string(dir), "ca.pem"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := newWebhook(dir, "ctl1", home.NotifyWebhook{URL: s.URL + "/hush", Secret: secret, CA: "ca.pem"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.client.CloseIdleConnections)
	return w, s
}

// A webhook gets the event as JSON, with an id and a signature over time and body.
func TestWebhook(t *testing.T) {
	var header http.Header
	var text []byte
	w, _ := startWebhook(t, func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		text, _ = io.ReadAll(r.Body)
	})
	e := anEvent(raised)
	if err := w.send(t.Context(), messageOf(e)); err != nil {
		t.Fatal(err)
	}
	if got := "sha256=" + sign([]byte(secret), header.Get("Ctl-Timestamp"), text); header.Get("Ctl-Signature") != got {
		t.Errorf("the signature is %s, want %s", header.Get("Ctl-Signature"), got)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"id": e.ID, "event": "raised", "kind": "link-lost", "severity": "error", "since": "2026-11-28T10:00:00Z",
		"subject": e.Subject, "cause": e.Cause, "remedy": e.Remedy, "resource": e.Resource, "controller": "ctl1", "trouble": "4d1f",
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %s", name, got[name], want)
		}
	}
	if header.Get("Ctl-Message-Id") != e.ID {
		t.Errorf("%v", header)
	}
}

// The signature is what a receiver computes with openssl: printf TIME.BODY | openssl dgst -sha256 -hmac SECRET.
func TestSignature(t *testing.T) {
	const want = "1ba6b8171186efc613e8bcc0cbdab2748f24984d7c5a84faa2637afa0e40d224"
	if got := sign([]byte("key"), "1", []byte("{}")); got != want {
		t.Error(got)
	}
}

// An answer that is no success is an error without the path of the URL, however the server behaves.
func TestHostileWebhooks(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string // in the error; empty: it is taken
	}{
		"500":     {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, secret, 500) }, "it answered 500 Internal Server Error"},
		"huge":    {answerHuge, ""},
		"cut off": {answerCutOff, "its answer was not complete"},
		"other server": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://127.0.0.2:1/hush", http.StatusTemporaryRedirect)
		}, "it redirects to another server"},
		"to plain HTTP": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+r.Host+"/hush", http.StatusTemporaryRedirect)
		}, "it redirects to another server"},
		"loses the body": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/hush2", http.StatusFound)
		}, "it must answer 307 or 308"},
		"for ever": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusPermanentRedirect)
		}, "it redirects too often"},
		"same server": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/there" {
				http.Redirect(w, r, "/there", http.StatusPermanentRedirect)
			}
		}, ""},
	} {
		w, _ := startWebhook(t, c.answer)
		err := w.send(t.Context(), messageOf(anEvent(raised)))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %s", name, err, c.want)
		case err != nil && strings.Contains(err.Error(), "hush"):
			t.Errorf("%s: the error has a secret: %v", name, err)
		}
	}
}

func answerHuge(w http.ResponseWriter, _ *http.Request) {
	line := strings.Repeat("x", 1<<16)
	for range 1000 {
		if _, err := io.WriteString(w, line); err != nil {
			return // the client has read enough
		}
	}
}

func answerCutOff(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	_, _ = io.WriteString(w, "x")
}

// A server that does not answer costs no longer than the deadline, and one whose certificate is not known gets nothing.
func TestWebhookThatIsSlowOrUnknown(t *testing.T) {
	asked := make(chan struct{}, 1)
	w, s := startWebhook(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if err := w.send(ctx, messageOf(anEvent(raised))); err == nil {
		t.Error("it was taken")
	}
	if w.client.Timeout != sendTime {
		t.Errorf("an attempt takes up to %s", w.client.Timeout)
	}
	other, err := newWebhook("", "ctl1", home.NotifyWebhook{URL: s.URL, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.send(t.Context(), messageOf(anEvent(raised))); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("%v", err)
	}
}

// An alert keeps its labels until it ends; one whose severity changes ends and begins.
func TestAlertmanager(t *testing.T) {
	var got []alert
	var path string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		path, got = r.URL.Path, nil
		_ = json.NewDecoder(r.Body).Decode(&got) // what is not read is missing below
	}))
	defer s.Close()
	a, err := newAlertmanager("", "ctl1", home.NotifyAlertmanager{URL: s.URL + "/am/"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.client.CloseIdleConnections()
	worse := anEvent(raised)
	worse.Before = "warning"
	var first string
	for _, c := range []struct {
		event  Event
		alerts int
		ends   time.Time
	}{
		{anEvent(raised), 1, began.Add(time.Hour)},
		{anEvent(acknowledged), 1, began.Add(time.Minute + keepUnrepeated)},
		{worse, 2, began.Add(time.Hour)},
		{anEvent(cleared), 1, began.Add(time.Minute)},
	} {
		if err := a.send(t.Context(), messageOf(c.event)); err != nil {
			t.Fatal(err)
		}
		if len(got) != c.alerts {
			t.Fatalf("%s: %+v", c.event.Event, got)
		}
		last := got[len(got)-1]
		labels := fmt.Sprint(last.Labels)
		if first == "" {
			first = labels
		}
		if labels != first || !last.EndsAt.Equal(c.ends) || !last.StartsAt.Equal(began) || last.Labels["alertname"] != "link-lost" {
			t.Errorf("%s: %+v", c.event.Event, last)
		}
		if c.alerts == 2 && (got[0].Labels["severity"] != "warning" || !got[0].EndsAt.Equal(c.event.Time)) {
			t.Errorf("the alert of the warning: %+v", got[0])
		}
	}
	if path != "/am/api/v2/alerts" {
		t.Error(path)
	}
}

// mailServer answers as SMTP does; got are the commands, and the mail.
func mailServer(t *testing.T, greet, recipient string) (address string, got func() (commands []string, text string)) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	var text strings.Builder
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		r := bufio.NewReader(c)
		fmt.Fprint(c, "220 here\r\n")
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			line = strings.TrimSpace(line)
			commands = append(commands, line)
			word, _, _ := strings.Cut(line, " ")
			switch word {
			case "EHLO":
				fmt.Fprint(c, greet)
			case "RCPT":
				fmt.Fprint(c, recipient)
			case "DATA":
				fmt.Fprint(c, "354 go on\r\n")
				for line, err = r.ReadString('\n'); err == nil && line != ".\r\n"; line, err = r.ReadString('\n') {
					text.WriteString(line)
				}
				fmt.Fprint(c, "250 taken\r\n")
			case "QUIT":
				fmt.Fprint(c, "221 bye\r\n")
				return
			case "AUTH":
				fmt.Fprint(c, "535 "+line+"\r\n")
			default:
				fmt.Fprint(c, "250 ok\r\n")
			}
		}
	}()
	t.Cleanup(func() { l.Close() })
	return l.Addr().String(), func() ([]string, string) {
		l.Close()
		<-ended
		return commands, text.String()
	}
}

func newTestMail(t *testing.T, m home.NotifySMTP) *mailer {
	t.Helper()
	m.From, m.To = "ctl@example.org", []string{"Kim <kim@example.org>", "noc@example.org"}
	out, err := newMail("", "ctl1", m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A mail has all events that were due together, and an id that stays the same.
func TestMail(t *testing.T) {
	address, got := mailServer(t, "250 here\r\n", "250 ok\r\n")
	m := newTestMail(t, home.NotifySMTP{Server: address})
	e, over := anEvent(raised), anEvent(cleared)
	e.Subject = strings.Repeat("ü", 300)
	e.Cause = "first\r\n.\r\nBcc: x@example.org"
	msg := messageOf(e, over)
	if err := m.send(t.Context(), msg); err != nil {
		t.Fatal(err)
	}
	commands, text := got()
	if all := strings.Join(commands, " "); !strings.Contains(all, "RCPT TO:<kim@example.org> RCPT TO:<noc@example.org>") {
		t.Error(all)
	}
	r, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if id := r.Header.Get("Message-ID"); id != "<"+msg.ID+"@example.org>" || messageID(msg.Events) != msg.ID {
		t.Error(id)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(r.Body))
	if err != nil || !strings.Contains(string(body), "over: link-lost: sw1 1/3 – sw2 1/4") || !strings.Contains(string(body), "Bcc: x@example.org") || r.Header.Get("Bcc") != "" {
		t.Errorf("%s %v", body, err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(r.Header.Get("Subject"))
	if err != nil || subject != "[ctl] 1 troubles, 1 over" {
		t.Errorf("%s %v", subject, err)
	}
	for _, line := range strings.Split(string(m.text(messageOf(e))), "\r\n") {
		if len(line) > 998 {
			t.Errorf("a line has %d bytes", len(line))
		}
	}
}

// Nothing is sent in the clear where TLS is asked for, and no error repeats what a server says.
func TestMailIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		greet, recipient string
		settings         home.NotifySMTP
		want             string
	}{
		"no STARTTLS": {"250 here\r\n", "", home.NotifySMTP{StartTLS: true}, "the server does not offer STARTTLS, so nothing is sent"},
		"no AUTH":     {"250 here\r\n", "", home.NotifySMTP{User: "ctl", Password: "hush"}, "the server does not offer AUTH, and a user is set"},
		"password":    {"250-here\r\n250 AUTH PLAIN\r\n", "", home.NotifySMTP{User: "ctl", Password: "hush"}, "the server answered 535 to AUTH"},
		"recipient":   {"250 here\r\n", "550 hush\r\n", home.NotifySMTP{}, "the server answered 550 to RCPT"},
	} {
		address, got := mailServer(t, c.greet, c.recipient)
		c.settings.Server = address
		err := newTestMail(t, c.settings).send(t.Context(), messageOf(anEvent(raised)))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if _, text := got(); text != "" {
			t.Errorf("%s: it got %q", name, text)
		}
	}
}

// A mail server that says nothing costs no longer than the deadline.
func TestSilentMailServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if c, err := l.Accept(); err == nil {
			defer c.Close()
			cancel()
			_, _ = io.Copy(io.Discard, c) // until the client ends it
		}
	}()
	if err := newTestMail(t, home.NotifySMTP{Server: l.Addr().String()}).send(ctx, messageOf(anEvent(raised))); err == nil {
		t.Error("it was sent")
	}
}

// A test reaches the target at once; one that is not there is named with the nearest.
func TestTestOfATarget(t *testing.T) {
	r := &receiver{}
	n := tell(t, nil, &listOf{}, Rule{}, map[string]sender{"hook": r})
	id, err := n.Test(t.Context(), "hook", "kim@sdn")
	if err != nil || len(r.took) != 1 || r.took[0].ID != id || r.took[0].Event != "test" {
		t.Errorf("%s %v %+v", id, err, r.took)
	}
	if _, err := n.Test(t.Context(), "hok", "kim@sdn"); err == nil || !strings.Contains(err.Error(), `did you mean "hook"?`) {
		t.Error(err)
	}
	r.before = func(context.Context, *Message) error { return fmt.Errorf("it answered 500") }
	if _, err := n.Test(t.Context(), "hook", "kim@sdn"); err == nil || err.Error() != "hook did not take the message: it answered 500" {
		t.Error(err)
	}
}
