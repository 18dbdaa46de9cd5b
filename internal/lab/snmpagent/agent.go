// Package snmpagent is a small SNMP agent for versions 1, 2c and 3: it answers
// GET, GETNEXT, GETBULK and SET of a MIB, sends traps and informs, and
// misbehaves as a faults.Set says. Thousands of agents fit in one process.
//
// Agent is the decision core: octets in, octets out. Server puts it on a UDP
// socket. Schema makes a MIB of columns that are computed from a model.
// What the switches are is package simswitch; the bytes are package snmpwire.
package snmpagent

import (
	"cmp"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/snmpwire"
)

// DefaultMaxMessage is the greatest answer of an agent unless configured: one
// Ethernet frame, as switches have it.
const DefaultMaxMessage = 1472

// Config says what an agent is. Communities that are empty match nothing.
type Config struct {
	MIB            MIB
	Views          map[string]MIB // by other read communities and by contexts of version 3, as Cisco has one a VLAN
	ReadCommunity  string
	WriteCommunity string           // may read too
	Users          []*snmpwire.User // version 3
	EngineID       []byte           // 5 to 32 octets, needed when there are Users
	Boots          int              // snmpEngineBoots, 0 means 1
	MaxMessage     int              // octets, 484 to 65507; 0 means DefaultMaxMessage
	Clock          func() time.Time // nil means time.Now
	Seed           uint64           // of the lost requests
	AuthFailure    func()           // called for a wrong community, in the goroutine of the request
}

// Stats counts what an agent saw.
type Stats struct {
	Requests uint64 // messages that came in
	Answers  uint64 // answers made, before they are lost on purpose
	VarBinds uint64 // variable bindings read or written for them
	Sets     uint64 // SET requests that were done
	BadAuth  uint64 // wrong communities, users, digests
	BadBER   uint64 // messages that do not parse
}

// Agent is an SNMP agent without a socket. Its methods may be called at the same time.
type Agent struct {
	cfg     Config
	users   map[string]user
	faults  atomic.Pointer[faults.Set]
	life    atomic.Pointer[life]
	pending sync.Map // chan []byte of the informs that wait for an answer

	requests, answers, varbinds, sets, badAuth, badBER atomic.Uint64

	mu  sync.Mutex // guards rng
	rng *rand.Rand
}

// life is one run of the engine (RFC 3414 section 2.2).
type life struct {
	boots   int
	started time.Time
}

// user is a user of version 3. Its keys are made when they are first used, so that a
// thousand silent agents cost nothing.
type user struct {
	*snmpwire.User
	keys func() *snmpwire.Keys
}

// New makes an agent.
func New(cfg Config) *Agent {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	cfg.Boots, cfg.MaxMessage = cmp.Or(cfg.Boots, 1), cmp.Or(cfg.MaxMessage, DefaultMaxMessage)
	a := &Agent{
		cfg:   cfg,
		users: make(map[string]user, len(cfg.Users)),
		rng:   rand.New(rand.NewPCG(cfg.Seed, 0)),
	}
	for _, u := range cfg.Users {
		a.users[u.Name] = user{u, sync.OnceValue(func() *snmpwire.Keys {
			return u.Localize(cfg.EngineID)
		})}
	}
	a.faults.Store(&faults.Set{})
	a.life.Store(&life{cfg.Boots, cfg.Clock()})
	return a
}

// Restart begins a new run of the engine: snmpEngineBoots grows by one,
// snmpEngineTime starts at 0. Managers have to synchronize again.
func (a *Agent) Restart() {
	old := a.life.Load()
	a.life.Store(&life{old.boots + 1, a.cfg.Clock()})
}

// SetFaults replaces what is wrong with the agent, from the next request on.
func (a *Agent) SetFaults(s faults.Set) { a.faults.Store(&s) }

// Faults returns what is wrong with the agent.
func (a *Agent) Faults() faults.Set { return *a.faults.Load() }

// Stats returns the counters.
func (a *Agent) Stats() Stats {
	return Stats{a.requests.Load(), a.answers.Load(), a.varbinds.Load(), a.sets.Load(), a.badAuth.Load(), a.badBER.Load()}
}

// Handle answers one message; nil means silence. It keeps nothing of in.
func (a *Agent) Handle(in []byte) []byte {
	a.requests.Add(1)
	f := a.faults.Load()
	if f.Silent || a.isRequestLost(f.Loss) {
		return nil
	}
	version, err := snmpwire.Version(in)
	if err != nil {
		a.badBER.Add(1)
		return nil
	}
	var out []byte
	if version == snmpwire.Version3 {
		out = a.handleV3(f, in)
	} else {
		out = a.handleCommunity(f, in)
	}
	if out == nil {
		return nil
	}
	a.answers.Add(1)
	return corruptAnswer(f, out)
}

// isRequestLost decides whether a request is lost.
func (a *Agent) isRequestLost(percent int) bool {
	if percent == 0 {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rng.IntN(100) < percent
}
