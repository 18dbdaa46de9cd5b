package switchcli

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"strings"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// The transports.
const (
	Telnet = "telnet" // RFC 854
	SSH    = "ssh"    // RFC 4254
)

// Target is a switch's command line and who we are there.
type Target struct {
	Name      string // of the switch, for errors; empty: Host
	Transport string // Telnet or SSH; empty: Telnet
	Host      string // address or name
	Port      uint16 // 0: 23 or 22
	User      string
	Password  string
	HostKey   string // SSH: the one key allowed, a line of authorized_keys; empty: any, see Session.HostKey
}

// TargetOf is the command line of a switch of the contract, named by name. A transport
// of the switch list goes before fallback.
func TargetOf(sw *pluginv1.Switch, name, fallback string) Target {
	c := sw.GetCli()
	return Target{
		Name:      name,
		Transport: cmp.Or(c.GetTransport(), fallback),
		Host:      sw.GetAddress(),
		Port:      uint16(c.GetPort()),
		User:      c.GetUser(),
		Password:  c.GetPassword(),
	}
}

// String names the target without secrets.
func (t Target) String() string {
	if t.Name != "" {
		return t.Name
	}
	return t.address()
}

// GoString is String: no format shows the password.
func (t Target) GoString() string { return t.String() }

// TCPPort is the port, the transport's own (RFC 854, RFC 4253) where none is given.
func (t Target) TCPPort() int {
	if t.Port == 0 && t.Transport == SSH {
		return 22
	}
	return int(cmp.Or(t.Port, 23))
}

func (t Target) address() string {
	return net.JoinHostPort(t.Host, strconv.Itoa(t.TCPPort()))
}

// checkTyped refuses what cannot be typed: a line end in a password would be a command.
func (t Target) checkTyped() error {
	if t.Transport != "" && t.Transport != Telnet && t.Transport != SSH {
		return fault.New(
			fault.Invalid,
			"%q is not a transport of a command line; write %s or %s",
			t.Transport,
			Telnet,
			SSH,
		)
	}
	if t.User == "" && t.Password == "" {
		return fault.New(
			fault.Denied,
			"the switch list has no CLI user and password for switch %s",
			t,
		)
	}
	for what, v := range map[string]string{
		"user":     t.User,
		"password": t.Password,
	} {
		if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) ||
			len(v) > maxLine {
			return fault.New(
				fault.Invalid,
				"the CLI %s of switch %s has control characters or is longer than %d octets",
				what,
				t,
				maxLine,
			)
		}
	}
	return nil
}

// Dialogue says how to log in, and how to detect that the switch waits for a command.
// The zero Dialogue suits most: user name, password, a prompt that ends in # or >.
type Dialogue struct {
	// Login is the prompts in order, each with what is sent at it. Over SSH those that
	// do not come are skipped: the protocol has asked for user and password already.
	Login []Step
	// Prompt is what ends the line on which the switch waits for a command, without
	// blanks at its end: "admin#". Empty: the prompt of the last step if that sends an
	// empty line, else "#" or ">".
	Prompt string
}

// Step is one prompt of a login.
type Step struct {
	// Prompt is what the switch says last; case and blanks at the end do not matter.
	Prompt string
	// Send is typed then, with a line end. ${user}$, ${username}$ and ${password}$
	// stand for the target's.
	Send string
}

// Answer is what to type when a command asks something: at "(y/n)", "y".
type Answer struct {
	Question string // what the switch says last; case and blanks at the end do not matter
	Send     string // without a line end
}

// sendText is a step's text for a target.
func (s Step) sendText(t Target) string {
	return strings.NewReplacer(
		"${user}$",
		t.User,
		"${username}$",
		t.User,
		"${password}$",
		t.Password,
	).Replace(s.Send)
}

// defaultLogin is what most switches ask.
func defaultLogin() []Step {
	return []Step{{"name:", "${user}$"}, {"password:", "${password}$"}}
}

// checkSteps refuses a dialogue that cannot work.
func (d Dialogue) checkSteps() error {
	for i, s := range d.Login {
		if strings.TrimSpace(s.Prompt) == "" {
			return fmt.Errorf("step %d of the login has no prompt", i+1)
		}
		if !switchdriver.Printable(s.Send) {
			return fmt.Errorf("step %d of the login sends control characters", i+1)
		}
	}
	return nil
}
