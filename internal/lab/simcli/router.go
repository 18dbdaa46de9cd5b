package simcli

import (
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/lab/sshhost"
)

// Faults is what is wrong with a router's command line.
type Faults struct {
	Refuse string // a line that begins with this is refused
	Ignore string // a line that begins with this is taken and does nothing
	Hangup string // the connection ends at a line that begins with this
	Mute   string // a line that begins with this is done and nothing is said any more
	Pieces int    // so many bytes a write; 0: whole
	Redraw bool   // the prompt is drawn again while a line is typed, and twice after an error
}

// Router is one simulated router. Start, Down, Up and the like are the listener's.
type Router struct {
	*sshhost.Listener

	mu     sync.Mutex
	config *config
	faults Faults
	typed  []string
	does   map[string]string // what tunnels do: their egress list when their mode was given
}

// Start makes a router and lets it listen.
func Start(o sshhost.Options) (*Router, error) {
	r := &Router{
		config: &config{lines: map[string][]string{}},
		does:   map[string]string{},
	}
	o.Serve = func(_ string, ch ssh.Channel, requests <-chan *ssh.Request) {
		if sshhost.Wanted(requests, "shell", "") {
			(&shell{r: r, ch: ch}).runShell()
		}
	}
	var err error
	r.Listener, err = sshhost.Start(o)
	return r, err
}

// Config is the running configuration as the router shows it.
func (r *Router) Config() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.config.String()
}

// Does is where a tunnel sends, which is not what it holds until its mode is given again.
func (r *Router) Does(header string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.does[header]
}

// Change does lines in a section from outside, as another operator does.
func (r *Router) Change(header string, lines ...string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	ok := r.config.enterSection(header)
	for _, l := range lines {
		if rest, no := strings.CutPrefix(l, "no "); no {
			ok = r.config.unsetLine(header, rest) && ok
		} else {
			ok = r.config.setLine(header, l) && ok
		}
	}
	return ok
}

// Remove takes a whole section away, as another operator does.
func (r *Router) Remove(header string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.config.deleteSection(header)
}

// Set changes the router's faults.
func (r *Router) Set(f Faults) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = f
}

// Typed returns the lines that came in so far, of all sessions.
func (r *Router) Typed() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.typed...)
}
