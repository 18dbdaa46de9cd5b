// Package simrouter is a simulated BIER router with NETCONF over SSH: running and
// candidate, edit-config on a tree with a schema, locks, confirmed commit,
// notifications, and faults on demand. Hundreds fit in one process.
//
// Schema and Edit are the decision core, without I/O; Router serves them with a
// socket. Routers with a command line are package simcli, switches simswitch.
package simrouter

import (
	"maps"
	"slices"
	"sync"

	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/lab/sshhost"
	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
)

// Options of a router. The zero value is a router of Draft00 that has everything.
type Options struct {
	Model        Model    // empty: Draft00
	Leave        []string // capabilities of package netconf that the router does not have
	Base10       bool     // only base:1.0
	Password     string   // empty: "lab"
	AuthorizedTo string   // a key that may log in, a line of authorized_keys; empty: none
	Both         bool     // with the key the password is needed too
	Address      string   // empty: 127.0.0.1:0
}

// Router is one simulated router.
type Router struct {
	o Options
	*sshhost.Listener

	mu       sync.Mutex
	store    *store
	faults   Faults
	plane    Plane
	sessions map[uint32]*session
	lastID   uint32
	counts   map[string]int
	acts     []Act
}

// Act is something that a session did to the configuration: edit-config, commit,
// confirmed-commit, confirm, cancel-commit, kill-session, or rollback when an unconfirmed
// commit ended with its session or, of session 0, with its time.
type Act struct {
	Session uint32
	What    string
}

// maxActs is the maximum number of acts that are stored.
const maxActs = 100_000

// recordAct remembers an act. The lock is held.
func (r *Router) recordAct(session uint32, what string) {
	if len(r.acts) < maxActs {
		r.acts = append(r.acts, Act{session, what})
	}
}

// Acts is what was done to the configuration, in order.
func (r *Router) Acts() []Act {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.acts)
}

// Start makes a router and lets it listen.
func Start(o Options) (*Router, error) {
	if o.Model.Root == nil {
		o.Model = Draft00()
	}
	r := &Router{
		o:        o,
		store:    newStore(o.Model.Root),
		sessions: map[uint32]*session{},
		counts:   map[string]int{},
	}
	var err error
	r.Listener, err = sshhost.Start(sshhost.Options{
		Password:     o.Password,
		AuthorizedTo: o.AuthorizedTo,
		Both:         o.Both,
		Address:      o.Address,
		Refuse:       func() bool { return r.currentFaults().RefuseLogin },
		Serve: func(user string, ch ssh.Channel, requests <-chan *ssh.Request) {
			if sshhost.Wanted(requests, "subsystem", "netconf") {
				newSession(r, user, ch).runSession()
			}
		},
	})
	return r, err
}

// Down is a power cut: connections end without notice. The running configuration stays; an unconfirmed commit is
// undone, as a router does when it boots.
func (r *Router) Down() {
	r.Listener.Down()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.store.cancelCommit()
	r.store.candidate = nil
}

// Config is a copy of the running configuration: a nameless element with the
// top-level ones.
func (r *Router) Config() *xmltree.Node {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.store.running.Clone()
}

// Change edits running from outside, as an operator at the console does; sessions
// that subscribed are notified. config holds top-level elements with operations.
func (r *Router) Change(config *xmltree.Node) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.store.editDatastore(netconf.Running, config, "merge", true)
	if err == nil {
		r.notifyConfigChange(nil)
	}
	return err
}

// Set changes the router's faults, for the next message on.
func (r *Router) Set(f Faults) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = f
}

func (r *Router) currentFaults() Faults {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.faults
}

// Counts returns how often each operation was asked for, greetings not among them.
func (r *Router) Counts() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.counts)
}

// Sessions is the number of open sessions.
func (r *Router) Sessions() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sessions)
}

// Faults is what is wrong with a router's NETCONF; the zero value is a healthy one.
// Operations are named as in RFC 6241 ("edit-config", "commit"); "*" is any.
type Faults struct {
	// Logging in and hello.
	RefuseLogin bool   // no password and no key is right
	NoHello     bool   // connected, and then nothing
	Hello       string // this instead of the hello
	ChunksInOld bool   // chunks although the hello only offers base:1.0

	// Replies.
	Silent    string // this operation is done but not answered
	LoseFirst int    // so many first operations of a session are done and not answered
	Half      string // half of the reply to this, then the connection ends
	Stall     string // half of the reply to this, then nothing
	Hangup    string // the connection ends before this is done
	HangupOK  string // the connection ends when this is done, before the answer
	Empty     string // a reply without content, nothing is done
	Twice     string // ok, rpc-error, ok in one reply, nothing is done
	Refuse    string // two rpc-errors and a warning, nothing is done
	RefuseTag string // error-tag of Refuse; empty: operation-failed
	Ignore    string // ok, and nothing is done
	// NoLock says that running cannot be locked; Meanwhile is merged into running by another client after the
	// next edit of the candidate, unless running is locked.
	NoLock    bool
	Meanwhile *xmltree.Node
	Garbage   bool // replies are not XML
	WrongID   bool // replies carry the message-id of no request
	NoID      bool // replies carry none
	Swap      bool // a reply is overtaken by the next
	Events    bool // a notification before each reply, without subscription

	// Bytes.
	Pieces    int // so many bytes a write, marks and headers are cut; 0: whole
	ChunkSize int // the most bytes of a chunk; 0: whole
	Pad       int // bytes of comment in each reply
}

func matchesOperation(fault, operation string) bool {
	return fault == operation || fault == "*"
}
