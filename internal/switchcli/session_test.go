package switchcli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/lab/sshhost"
	"ctl.internal/sdk/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// device plays a switch: each connection is handed to talk.
func device(t *testing.T, talk func(c *teletype)) Target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				talk(&teletype{w: c, r: bufio.NewReader(c)})
			})
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return Target{Name: "sw1", Host: "127.0.0.1", Port: uint16(l.Addr().(*net.TCPAddr).Port), User: "admin", Password: "s3cret"}
}

type teletype struct {
	w io.Writer
	r *bufio.Reader
}

func (c *teletype) say(text string) { _, _ = io.WriteString(c.w, text) }

// line reads what is typed up to a line end, without telnet commands.
func (c *teletype) line() string {
	var b strings.Builder
	for {
		o, err := c.r.ReadByte()
		switch {
		case err != nil:
			return "\x00gone"
		case o == iac:
			_, _ = c.r.Discard(2)
		case o == '\n':
			return strings.TrimRight(b.String(), "\r")
		default:
			b.WriteByte(o)
		}
	}
}

// dlink is the dialogue of facts known of D-Link switches.
func dlink(c *teletype, run func(line string) string) {
	c.say("\xff\xfb\x01\xff\xfb\x03\xff\xfd\x18\r\n  DGS-3650 Gigabit Ethernet Switch\r\n\r\nUserName:")
	for {
		user := c.line()
		c.say(user + "\r\nPassWord:")
		pass := c.line()
		if user == "\x00gone" || pass == "\x00gone" {
			return
		}
		if user == "admin" && pass == "s3cret" {
			break
		}
		c.say("*****\r\nFail!\r\n\r\nUserName:")
	}
	for c.say("******\r\n\r\nDGS-3650:admin#"); ; c.say("DGS-3650:admin#") {
		line := c.line()
		if line == "\x00gone" {
			return
		}
		c.say(line + "\r\n")
		if line != "" {
			c.say(run(line))
		}
	}
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func open(t *testing.T, to Target, d Dialogue) *Session {
	t.Helper()
	s, err := Open(deadline(t), to, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestTelnet(t *testing.T) {
	to := device(t, func(c *teletype) {
		dlink(c, func(line string) string {
			switch line {
			case "show #":
				return "Command: show #\r\n\r\n# not a prompt #\r\nstill going\r\n\r\nSuccess.\r\n\r\n"
			case "reboot":
				c.say("system reboot?(y/n)")
				b, _ := c.r.ReadByte()
				return string(b) + "\r\nCommand: reboot\r\nanswered " + string(b) + "\r\n"
			case "long":
				c.say("one\r\nCTRL+C ESC q Quit SPACE n Next Page ENTER Next Entry a All ")
				_, _ = c.r.ReadByte()
				return "\r\ntwo\r\n"
			}
			return "Command: " + line + "\r\n\r\nSuccess.\r\n\r\n"
		})
	})
	for _, d := range []Dialogue{
		{},
		{Login: []Step{{"UserName:", "${user}$"}, {"PassWord:", "${password}$"}, {"admin#", ""}}},
		{Login: []Step{{"username:", "${username}$"}, {"PassWord:", "${password}$"}}, Prompt: "admin#"},
	} {
		s := open(t, to, d)
		for _, c := range []struct{ line, want string }{
			{"enable stp", "Command: enable stp\n\nSuccess.\n\n"},
			{"show #", "Command: show #\n\n# not a prompt #\nstill going\n\nSuccess.\n\n"},
			{"reboot", "Command: reboot\nanswered y\n"},
			{"disable stp", "Command: disable stp\n\nSuccess.\n\n"},
		} {
			got, err := s.Run(deadline(t), c.line, Answer{"(y/n)", "y"})
			if c.line == "reboot" {
				got = got[strings.Index(got, "Command"):]
			}
			if err != nil || got != c.want {
				t.Errorf("%s: %q %v", c.line, got, err)
			}
		}
		if got, err := s.Run(deadline(t), "long"); err != nil || !strings.Contains(got, "one\n") || !strings.Contains(got, "two\n") || strings.Contains(got, "Quit") {
			t.Errorf("pages: %q %v", got, err)
		}
		s.Close()
	}
}

func TestWrongPassword(t *testing.T) {
	to := device(t, func(c *teletype) { dlink(c, nil) })
	to.Password = "wrong-secret"
	_, err := Open(deadline(t), to, Dialogue{})
	if !errors.Is(err, &fault.Error{Kind: fault.Denied}) || strings.Contains(err.Error(), to.Password) {
		t.Errorf("%v (%v)", err, fault.KindOf(err))
	}
}

// A switch that hangs, hangs up, never stops talking or is not there costs no more
// than the caller's time.
func TestBadSwitches(t *testing.T) {
	silent := device(t, func(c *teletype) { c.line() })
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Open(short, silent, Dialogue{}); !errors.Is(err, &fault.Error{Kind: fault.Timeout}) {
		t.Errorf("a silent one: %v", err)
	}
	rude := device(t, func(c *teletype) { c.say("UserName:") })
	if _, err := Open(deadline(t), rude, Dialogue{}); !errors.Is(err, &fault.Error{Kind: fault.Downstream}) {
		t.Errorf("one that hangs up: %v", err)
	}
	gone := silent
	gone.Port = 1
	if _, err := Open(deadline(t), gone, Dialogue{}); !errors.Is(err, &fault.Error{Kind: fault.Unavailable}) {
		t.Errorf("one that is not there: %v", err)
	}
	loud := device(t, func(c *teletype) {
		dlink(c, func(string) string {
			for range maxAnswer >> 16 << 1 {
				c.say(strings.Repeat("abcdefghijklmno\n", 1<<12))
			}
			return ""
		})
	})
	s := open(t, loud, Dialogue{})
	if _, err := s.Run(deadline(t), "show all"); !errors.Is(err, &fault.Error{Kind: fault.TooBig}) {
		t.Errorf("one that never stops: %v", err)
	}
}

// No value can add a command or open a help.
func TestInjection(t *testing.T) {
	for _, v := range []string{"a b", "a\nb", "a\rb", "a\x00b", "a?", "a;b", "a|b", `a"b`, "a'b", "a!b", "a$b", "a`b", "a#b", "ü", "a\tb", "a\x1b[A", "{a}", "[a]", "a<b", "a&b", "", strings.Repeat("x", 256)} {
		if w, err := Word("profile-name", v); err == nil {
			t.Errorf("%q became %q", v, w)
		}
	}
	for _, v := range []string{"lab_1", "192.0.2.1", "2001:db8::1", "1/0/5", "1,2,3", "0x0fff", "a-b"} {
		if _, err := Word("x", v); err != nil {
			t.Error(err)
		}
	}
	for _, words := range [][]string{{"show", "a\r\nreboot"}, {"show", "x?"}, {strings.Repeat("x", 1001)}} {
		if l, err := Line(words...); err == nil {
			t.Errorf("%q", l)
		}
	}
	to := Target{Host: "127.0.0.1", User: "admin\r\nreboot", Password: "x"}
	if _, err := Open(t.Context(), to, Dialogue{}); !errors.Is(err, &fault.Error{Kind: fault.Invalid}) {
		t.Errorf("a user with a line end: %v", err)
	}
}

func TestSSH(t *testing.T) {
	h, err := sshhost.Start(sshhost.Options{User: "admin", Password: "s3cret", Serve: func(_ string, ch ssh.Channel, requests <-chan *ssh.Request) {
		if !sshhost.Wanted(requests, "shell", "") {
			return
		}
		c := &teletype{ch, bufio.NewReader(ch)}
		for c.say("console> "); ; {
			switch line := c.line(); line {
			case "\x00gone":
				return
			case "enable":
				c.say(line + "\r\nPassword:")
				c.line()
				c.say("\r\nconsole# ")
			case "":
				c.say("\r\nconsole# ")
			case "configure":
				c.say(line + "\r\nconsole(config)# ")
			default:
				c.say(line + "\r\ndone\r\nconsole(config)# ")
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Down)
	to := Target{Transport: SSH, Host: h.Host(), Port: uint16(h.Port()), User: "admin", Password: "s3cret", HostKey: h.HostKey()}
	s := open(t, to, Dialogue{Login: []Step{{"Password:", "${password}$"}, {"console> ", "enable"}, {"Password:", "${password}$"}, {"console# ", ""}}})
	if s.HostKey() != h.HostKey() {
		t.Error("the host key is not reported")
	}
	if _, err := s.Run(deadline(t), "configure"); err != nil {
		t.Error(err)
	}
	if got, err := s.Run(deadline(t), "vlan 5"); err != nil || got != "done\n" {
		t.Errorf("%q %v", got, err)
	}
	if err := h.NewHostKey(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(deadline(t), to, Dialogue{}); !errors.Is(err, &fault.Error{Kind: fault.Denied}) {
		t.Errorf("another host key: %v", err)
	}
	to.HostKey, to.Password = "", "wrong"
	if _, err := Open(deadline(t), to, Dialogue{}); !errors.Is(err, &fault.Error{Kind: fault.Denied}) {
		t.Errorf("a wrong password: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\xff\xfb\x01abc\r\x00\xff\xff\xff\xfa\x18\x01\xff\xf0def"))
	f.Fuzz(func(t *testing.T, in []byte) {
		whole := decoder{answered: map[[2]byte]bool{}}
		data, reply := whole.decode(in)
		if len(data) > len(in) || len(reply) > 3*2*256 {
			t.Errorf("%d octets became %d, answered with %d", len(in), len(data), len(reply))
		}
		pieces := decoder{answered: map[[2]byte]bool{}}
		var again []byte
		for _, c := range in {
			d, _ := pieces.decode([]byte{c})
			again = append(again, d...)
		}
		if string(again) != string(data) {
			t.Errorf("in pieces %q, whole %q", again, data)
		}
	})
}
