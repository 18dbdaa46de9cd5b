package simdlink

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/lab/sshhost"
)

// Faults is what is wrong with a switch's command line. A prefix is that of a line;
// an empty one means no value.
type Faults struct {
	Refuse   string        // is refused
	Ignore   string        // is answered with Success and does nothing
	Hangup   string        // ends the connection
	Mute     string        // is done and nothing is said any more
	Truncate string        // half of the answer comes, then the connection ends
	Garbage  string        // is answered with what is no text
	Mishear  [2]string     // in lines that make something the first is taken for the second
	Pieces   int           // so many bytes a write; 0: whole
	Delay    time.Duration // before each answer
	Pages    bool          // clipaging cannot be disabled
	Prompt   string        // another prompt than MODEL:USER#
}

// user is who may log in; a switch has so many ports.
const (
	user  = "admin"
	count = 28
)

// Options of a switch. Zero values: DGS-3120-24TC, password "password", any free ports of 127.0.0.1.
type Options struct {
	Model       string
	Password    string
	Telnet, SSH string // host:port
	// STPPort is called when the spanning tree of a port is enabled or disabled; nil: not used.
	STPPort func(port int, on bool)
	// PortState is called when a port is enabled or disabled; nil: not used.
	PortState func(port int, up bool)
}

// Switch is one simulated switch.
type Switch struct {
	o      Options
	telnet *sshhost.Listener
	ssh    *sshhost.Listener
	done   chan struct{}

	mu     sync.Mutex
	state  *state
	faults Faults
	sent   []string
}

// Start lets a switch listen.
func Start(o Options) (*Switch, error) {
	o.Model, o.Password = cmp.Or(o.Model, "DGS-3120-24TC"), cmp.Or(o.Password, "password")
	o.Telnet, o.SSH = cmp.Or(o.Telnet, "127.0.0.1:0"), cmp.Or(o.SSH, "127.0.0.1:0")
	s := &Switch{
		o:     o,
		done:  make(chan struct{}),
		state: newState(o.STPPort),
	}
	s.state.portState = o.PortState
	var err error
	s.ssh, err = sshhost.Start(sshhost.Options{
		User:     user,
		Password: o.Password,
		Address:  o.SSH,
		Serve: func(_ string, ch ssh.Channel, requests <-chan *ssh.Request) {
			if sshhost.Wanted(requests, "shell", "") {
				newShell(s, ch).runShell(false)
			}
		},
	})
	if err == nil {
		s.telnet, err = sshhost.Start(sshhost.Options{
			Address: o.Telnet,
			Plain:   func(c net.Conn) { newShell(s, c).runShell(true) },
		})
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the switch and all its sessions.
func (s *Switch) Close() {
	close(s.done)
	for _, l := range []*sshhost.Listener{s.telnet, s.ssh} {
		if l != nil {
			l.Down()
		}
	}
}

// TelnetPort is the TCP port of telnet.
func (s *Switch) TelnetPort() int { return s.telnet.Port() }

// SSHPort is the TCP port of SSH.
func (s *Switch) SSHPort() int { return s.ssh.Port() }

// HostKey is the SSH host key, a line of authorized_keys.
func (s *Switch) HostKey() string { return s.ssh.HostKey() }

// NewHostKey gives the switch another host key, as a replaced one has.
func (s *Switch) NewHostKey() error {
	return s.ssh.NewHostKey()
}

// Set changes the faults.
func (s *Switch) Set(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
}

// Sent returns the lines that came in so far, of all sessions, without logins and
// without those that only show something.
func (s *Switch) Sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

// Config is what "show config current_config" shows.
func (s *Switch) Config() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.configCommands()
}

// Saved reports whether what was changed last was saved.
func (s *Switch) Saved() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.saved == s.state.configCommands()
}

// prompt is what the switch says when it waits for a command.
func (s *Switch) prompt(f Faults) string {
	if f.Prompt != "" {
		return f.Prompt
	}
	return s.o.Model + ":" + user + "#"
}

func hasFaultPrefix(fault, line string) bool {
	return fault != "" && strings.HasPrefix(line, fault)
}

// parsePortList reads "1,3,5-7"; nil when it is no list of the switch's ports.
func parsePortList(list string) (out []int) {
	for item := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(item, "-")
		a, err := strconv.Atoi(from)
		b := a
		if isRange && err == nil {
			b, err = strconv.Atoi(to)
		}
		if err != nil || a < 1 || b < a || b > count {
			return nil
		}
		for p := a; p <= b; p++ {
			out = append(out, p)
		}
	}
	return out
}
