package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"strings"
	"time"

	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/logs"
)

// tlsPort is where SMTP is over TLS from its first byte (RFC 8314).
const tlsPort = "465"

// mailer sends mail.
type mailer struct {
	controller, server string
	host, port         string
	from               *mail.Address
	to                 []*mail.Address
	user, password     string
	startTLS           bool
	tls                *tls.Config
}

func newMail(dir home.Dir, controller string, m home.NotifySMTP) (*mailer, error) {
	pool, err := authorities(dir, m.CA)
	if err != nil {
		return nil, fmt.Errorf("smtp.%w", err)
	}
	out := &mailer{
		controller: controller,
		server:     m.Server,
		user:       m.User,
		password:   m.Password,
		startTLS:   m.StartTLS,
	}
	if out.host, out.port, err = net.SplitHostPort(m.Server); err != nil {
		return nil, fmt.Errorf("smtp.server: %w", err)
	}
	out.tls = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, ServerName: out.host}
	if out.from, err = mail.ParseAddress(m.From); err != nil {
		return nil, fmt.Errorf("smtp.from: %w", err)
	}
	for _, a := range m.To {
		to, err := mail.ParseAddress(a)
		if err != nil {
			return nil, fmt.Errorf("smtp.to: %w", err)
		}
		out.to = append(out.to, to)
	}
	return out, nil
}

func (m *mailer) kind() string    { return "smtp" }
func (m *mailer) address() string { return m.server }
func (m *mailer) group() group    { return group{wait: 10 * time.Second, most: 50} }

func (m *mailer) send(ctx context.Context, msg *Message) error {
	d := net.Dialer{}
	raw, err := d.DialContext(ctx, "tcp", m.server)
	if err != nil {
		return err
	}
	defer raw.Close()
	if until, ok := ctx.Deadline(); ok {
		if err := raw.SetDeadline(until); err != nil {
			return err
		}
	}
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()
	conn := raw
	if m.port == tlsPort {
		conn = tls.Client(raw, m.tls)
	}
	c, err := smtp.NewClient(conn, m.host)
	if err != nil {
		return withoutText("greeting", err)
	}
	defer c.Close()
	if err := m.logIn(c); err != nil {
		return err
	}
	return m.deliver(c, m.text(msg))
}

// logIn makes the connection safe and says who sends.
func (m *mailer) logIn(c *smtp.Client) error {
	if m.startTLS && m.port != tlsPort {
		if ok, _ := c.Extension("STARTTLS"); !ok {
			return errors.New("the server does not offer STARTTLS, so nothing is sent")
		}
		if err := c.StartTLS(m.tls); err != nil {
			return withoutText("STARTTLS", err)
		}
	}
	if m.user == "" {
		return nil
	}
	if ok, _ := c.Extension("AUTH"); !ok {
		return errors.New("the server does not offer AUTH, and a user is set")
	}
	if err := c.Auth(smtp.PlainAuth("", m.user, m.password, m.host)); err != nil {
		return withoutText("AUTH", err)
	}
	return nil
}

// deliver hands the text over.
func (m *mailer) deliver(c *smtp.Client, text []byte) error {
	if err := c.Mail(m.from.Address); err != nil {
		return withoutText("MAIL", err)
	}
	for _, to := range m.to {
		if err := c.Rcpt(to.Address); err != nil {
			return withoutText("RCPT", err)
		}
	}
	w, err := c.Data()
	if err != nil {
		return withoutText("DATA", err)
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil { // here the server says that it has taken it
		return withoutText("DATA", err)
	}
	_ = c.Quit() // it has been taken
	return nil
}

// withoutText is an error without the words of the server, which may repeat what was sent to it.
func withoutText(step string, err error) error {
	if at := new(textproto.Error); errors.As(err, &at) {
		return fmt.Errorf("the server answered %d to %s", at.Code, step)
	}
	return fmt.Errorf("%s: %w", step, err)
}

// text is a mail (RFC 5322). Its Message-ID is the id of the message, so one that is sent again is known as one.
func (m *mailer) text(msg *Message) []byte {
	var b bytes.Buffer
	var to []string
	for _, a := range m.to {
		to = append(to, a.String())
	}
	domain := "ctl.invalid"
	if at := strings.LastIndexByte(m.from.Address, '@'); at >= 0 {
		domain = m.from.Address[at+1:]
	}
	for _, h := range [][2]string{
		{"From", m.from.String()},
		{"To", strings.Join(to, ",\r\n ")},
		{"Subject", folded(mime.QEncoding.Encode("utf-8", m.subject(msg)))},
		{"Date", msg.Made.Format(time.RFC1123Z)},
		{"Message-ID", "<" + msg.ID + "@" + domain + ">"},
		{"Auto-Submitted", "auto-generated"},
		{"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "quoted-printable"},
	} {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	b.WriteString("\r\n")
	q := quotedprintable.NewWriter(&b)
	for i := range msg.Events {
		fmt.Fprint(q, strings.ReplaceAll(paragraph(&msg.Events[i]), "\n", "\r\n")) // a buffer takes everything
	}
	fmt.Fprintf(q, "Sent by the controller %s.\r\n", m.controller)
	q.Close()
	return b.Bytes()
}

// folded is a header of encoded words, one on a line: a line has at most 998 bytes.
func folded(text string) string {
	return strings.ReplaceAll(text, "?= =?", "?=\r\n =?")
}

// maxSubject are the characters of a subject.
const maxSubject = 150

func (m *mailer) subject(msg *Message) string {
	if len(msg.Events) == 1 {
		e := &msg.Events[0]
		text := []rune(fmt.Sprintf("[ctl] %s %s: %s", wordOf(e), e.Kind, e.Subject))
		return string(text[:min(len(text), maxSubject)])
	}
	over := 0
	for i := range msg.Events {
		if msg.Events[i].Event == cleared {
			over++
		}
	}
	return fmt.Sprintf("[ctl] %d troubles, %d over", len(msg.Events)-over, over)
}

// wordOf says in a word what an event is.
func wordOf(e *Event) string {
	switch e.Event {
	case cleared:
		return "over:"
	case acknowledged:
		return "known:"
	case tested:
		return "test:"
	}
	return e.Severity
}

// paragraph is an event for people.
func paragraph(e *Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s\n", wordOf(e), e.Kind, e.Subject)
	for _, l := range [][2]string{
		{"Cause", e.Cause},
		{"What to do", e.Remedy},
		{"Since", e.Since.Format(time.RFC3339)},
		{"Resource", logs.Printable(e.Resource)},
		{"Topology", logs.Printable(e.Topology)},
		{"Node", e.Node},
		{"Acknowledged by", e.By},
	} {
		if l[1] != "" {
			fmt.Fprintf(&b, "  %s: %s\n", l[0], l[1])
		}
	}
	b.WriteString("\n")
	return b.String()
}
