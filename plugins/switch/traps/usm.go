package traps

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"time"

	"ctl.internal/internal/snmpwire"
	"ctl.internal/plugins/switch/switchlist"
)

// Engine is this receiver as an SNMP engine (RFC 3411 section 3.1.1): informs of
// version 3 are addressed to it.
type Engine struct {
	ID      []byte // 5 to 32 octets
	Boots   int    // how often it was started
	Started time.Time
}

// timeWindow is how far the time of a message may be off (RFC 3414 section 2.2.3).
const timeWindow = 150 * time.Second

// The counters that reports carry: usmStats of RFC 3414.
const (
	notInTimeWindows = 2
	unknownEngineIDs = 4
)

// Reports are the only answers to those who did not prove who they are; they go to
// listed addresses only.
const (
	maxMessage = 65507 // what we can receive, octets
	maxEngines = 4     // remembered for one address
	maxKeys    = 16384 // users' keys at engines; forgotten all at once beyond
)

// usm is the user-based security model of a receiver (RFC 3414).
type usm struct {
	engine  Engine
	users   map[credentials]*snmpwire.User
	keys    map[localized]*snmpwire.Keys
	clocks  map[netip.Addr][]clock
	reports map[int]uint64
	salt    uint64
}

// credentials make a user; two switches may share them.
type credentials struct{ name, auth, authPassword, priv, privPassword string }

type localized struct {
	user   *snmpwire.User
	engine string
}

// clock is the local notion of another engine's time (RFC 3414 section 2.3).
type clock struct {
	engine string
	boots  int
	time   int
	at     time.Time // when time was told
}

func newUSM(e Engine) *usm {
	return &usm{engine: e, users: map[credentials]*snmpwire.User{}, keys: map[localized]*snmpwire.Keys{},
		clocks: map[netip.Addr][]clock{}, reports: map[int]uint64{}, salt: rand.Uint64()}
}

// forget drops what was kept for addresses and users no longer in the list.
func (u *usm) forget(s Senders) {
	used := map[credentials]bool{}
	for _, list := range s {
		for _, e := range list {
			used[credentialsOf(e)] = true
		}
	}
	for c := range u.users {
		if !used[c] {
			delete(u.users, c)
			clear(u.keys)
		}
	}
	for a := range u.clocks {
		if len(s[a]) == 0 {
			delete(u.clocks, a)
		}
	}
}

func credentialsOf(e *switchlist.Entry) credentials {
	return credentials{e.V3User, e.V3AuthProtocol, e.V3AuthPassword, e.V3PrivProtocol, e.V3PrivPassword}
}

// user makes the user of a list entry; nil when the list has none that works.
func (u *usm) user(e *switchlist.Entry) *snmpwire.User {
	c := credentialsOf(e)
	if known, ok := u.users[c]; ok {
		return known
	}
	auth, err := snmpwire.ParseAuth(c.auth)
	if err != nil {
		return nil
	}
	priv, err := snmpwire.ParsePriv(c.priv)
	if err != nil {
		return nil
	}
	user, err := snmpwire.NewUser(c.name, auth, c.authPassword, priv, c.privPassword)
	if err != nil {
		user = nil
	}
	u.users[c] = user
	return user
}

func (u *usm) localize(user *snmpwire.User, engine []byte) *snmpwire.Keys {
	at := localized{user, string(engine)}
	if k, ok := u.keys[at]; ok {
		return k
	}
	if len(u.keys) >= maxKeys {
		clear(u.keys)
	}
	k := user.Localize(engine)
	u.keys[at] = k
	return k
}

// v3 is RFC 3414 section 3.2 for a receiver: the authority for traps is their
// sender, for informs it is us.
func (d *Desk) v3(t *Trap, listed []*switchlist.Entry, msg []byte) ([]*switchlist.Entry, []byte, Verdict) {
	u := d.usm
	m, err := snmpwire.DecodeV3(msg)
	if err != nil {
		return nil, nil, Malformed
	}
	users := filter(listed, func(e *switchlist.Entry) bool { return e.V3User != "" })
	if len(users) == 0 {
		return nil, nil, NotAuthentic
	}
	confirmed := m.Flags&snmpwire.FlagReportable != 0
	ours := bytes.Equal(m.EngineID, u.engine.ID)
	if confirmed && !ours {
		return nil, u.report(t.At, m, nil, unknownEngineIDs), Asked
	}
	if len(m.EngineID) < 5 {
		return nil, nil, Malformed
	}
	named := filter(users, func(e *switchlist.Entry) bool { return e.V3User == m.User })
	sender, user := u.proved(named, m)
	if user == nil {
		return nil, nil, NotAuthentic
	}
	keys := u.localize(user, m.EngineID)
	if user.Auth != snmpwire.NoAuth {
		switch {
		case ours && !u.inTime(t.At, m):
			return nil, u.report(t.At, m, keys, notInTimeWindows), Asked
		case !ours && !u.fresh(t.At, t.From.Addr().Unmap(), m):
			return nil, nil, Replayed
		}
	}
	if err := m.Open(keys); err != nil {
		return nil, nil, NotAuthentic
	}
	answer, err := t.pdu("3", m.PDU)
	if err != nil || t.Inform != ours {
		return nil, nil, Malformed
	}
	if answer == nil {
		return sender, nil, Accepted
	}
	return sender, u.seal(t.At, m, keys, m.Flags&(snmpwire.FlagAuth|snmpwire.FlagPriv), answer.Raw()), Accepted
}

// proved returns those whose user made the message, and that user. The message must
// be protected as well as the user can: the list asks for it.
func (u *usm) proved(named []*switchlist.Entry, m *snmpwire.V3) ([]*switchlist.Entry, *snmpwire.User) {
	var by *snmpwire.User
	sender := filter(named, func(e *switchlist.Entry) bool {
		user := u.user(e)
		if user == nil || required(user) != m.Flags&(snmpwire.FlagAuth|snmpwire.FlagPriv) {
			return false
		}
		if user != by && user.Auth != snmpwire.NoAuth && m.Verify(u.localize(user, m.EngineID)) != nil {
			return false
		}
		by = user
		return true
	})
	return sender, by
}

func required(u *snmpwire.User) byte {
	switch {
	case u.Priv != snmpwire.NoPriv:
		return snmpwire.FlagAuth | snmpwire.FlagPriv
	case u.Auth != snmpwire.NoAuth:
		return snmpwire.FlagAuth
	}
	return 0
}

// inTime checks a message to us against our own clock.
func (u *usm) inTime(now time.Time, m *snmpwire.V3) bool {
	off := time.Duration(m.Time)*time.Second - now.Sub(u.engine.Started)
	return m.Boots == u.engine.Boots && off <= timeWindow && off >= -timeWindow
}

// fresh checks a message against what its engine told before, and remembers what
// it tells now (RFC 3414 section 3.2, 7b).
func (u *usm) fresh(now time.Time, from netip.Addr, m *snmpwire.V3) bool {
	known := u.clocks[from]
	for i := range known {
		c := &known[i]
		if c.engine != string(m.EngineID) {
			continue
		}
		estimate := time.Duration(c.time)*time.Second + now.Sub(c.at)
		if m.Boots < c.boots || m.Boots == c.boots && time.Duration(m.Time)*time.Second < estimate-timeWindow {
			return false
		}
		if m.Boots > c.boots || m.Time > c.time {
			c.boots, c.time, c.at = m.Boots, m.Time, now
		}
		return true
	}
	if len(known) == maxEngines {
		known = known[1:]
	}
	u.clocks[from] = append(known[:len(known):len(known)], clock{string(m.EngineID), m.Boots, m.Time, now})
	return true
}

// report tells a sender what it needs to know to be understood: who we are, or what
// time it is here. The time is told with the user's keys.
func (u *usm) report(now time.Time, m *snmpwire.V3, keys *snmpwire.Keys, counter int) []byte {
	u.reports[counter]++
	var flags byte
	if keys != nil {
		flags = snmpwire.FlagAuth
	}
	if m.Open(keys) != nil {
		m.PDU.RequestID = 0 // it cannot be read, which is why we answer
	}
	name := snmpwire.OID{1, 3, 6, 1, 6, 3, 15, 1, 1, uint32(counter), 0}
	pdu := snmpwire.PDU{Type: snmpwire.Report, RequestID: m.PDU.RequestID,
		VarBinds: []snmpwire.VarBind{{Name: name, Value: snmpwire.Unsigned(snmpwire.Counter32, u.reports[counter])}}}
	return u.seal(now, m, keys, flags, pdu.Raw())
}

// seal writes a message of this engine that answers m; nil when that is impossible.
func (u *usm) seal(now time.Time, m *snmpwire.V3, keys *snmpwire.Keys, flags byte, pdu snmpwire.RawPDU) []byte {
	u.salt++
	context := m.ContextID // an answer stays in the context of its question (RFC 3412 section 7.1)
	if len(context) == 0 || flags == 0 {
		context = u.engine.ID
	}
	out, err := snmpwire.EncodeV3(snmpwire.V3{MsgID: m.MsgID, MaxSize: maxMessage, Flags: flags, EngineID: u.engine.ID,
		Boots: u.engine.Boots, Time: int(now.Sub(u.engine.Started).Seconds()), User: m.User,
		ContextID: context, Context: m.Context}, keys, u.salt, pdu)
	if err != nil {
		return nil
	}
	return out
}
