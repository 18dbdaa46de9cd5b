package snmp

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/gosnmp/gosnmp"
)

// Unmarshal reads a message that came unasked, or that gosnmp refused, with a user's parameters; authentic also
// checks that the user made it. Messages come from the network: should gosnmp panic, the message is refused.
func Unmarshal(
	user *gosnmp.UsmSecurityParameters,
	msg []byte,
	authentic bool,
) (p *gosnmp.SnmpPacket, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the message cannot be read: %v", r)
		}
	}()
	g := &gosnmp.GoSNMP{
		Version:            gosnmp.Version3,
		SecurityModel:      gosnmp.UserSecurityModel,
		SecurityParameters: user,
	}
	return g.UnmarshalTrap(bytes.Clone(msg), authentic) // it writes into the message
}

// lastRead keeps the last message of a connection. gosnmp drops reports that are not authenticated, which those
// about an unknown engine, user or key never are, and says "not authentic" for all of them.
type lastRead struct {
	net.Conn
	msg []byte
}

func (c *lastRead) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.msg = append(c.msg[:0], b[:n]...)
	return n, err
}

// reports are the counters of RFC 3414 that a report carries, and what they mean.
var reports = map[string]error{
	".1.3.6.1.6.3.15.1.1.1.0": gosnmp.ErrUnknownSecurityLevel,
	".1.3.6.1.6.3.15.1.1.2.0": gosnmp.ErrNotInTimeWindow,
	".1.3.6.1.6.3.15.1.1.3.0": gosnmp.ErrUnknownUsername,
	".1.3.6.1.6.3.15.1.1.4.0": gosnmp.ErrUnknownEngineID,
	".1.3.6.1.6.3.15.1.1.5.0": gosnmp.ErrWrongDigest,
	".1.3.6.1.6.3.15.1.1.6.0": gosnmp.ErrDecryption,
}

// reportReason returns what the last message says if it is a report, else nil.
func (c *lastRead) reportReason() error {
	if c == nil || len(c.msg) == 0 {
		return nil
	}
	p, err := Unmarshal(&gosnmp.UsmSecurityParameters{}, c.msg, false)
	if err != nil || p.PDUType != gosnmp.Report || len(p.Variables) != 1 {
		return nil
	}
	return reports[p.Variables[0].Name]
}

// accessRefusal says which of user, password and engine an agent did not accept; empty: none of them.
func accessRefusal(cause error) string {
	for is, text := range map[error]string{
		gosnmp.ErrUnknownUsername:      "the agent does not know the user",
		gosnmp.ErrWrongDigest:          "the agent has another authentication password or protocol for the user",
		gosnmp.ErrDecryption:           "the agent has another privacy password or protocol for the user (vendors make longer AES keys in two ways: aes-192 and aes-256 have other keys than aes-192-c and aes-256-c)",
		gosnmp.ErrUnknownSecurityLevel: "the agent does not support the security level of the user",
		gosnmp.ErrUnknownEngineID:      "the agent has another engine ID than it reported",
		gosnmp.ErrNotInTimeWindow:      "the agent's engine has another time than it reported",
	} {
		if errors.Is(cause, is) {
			return text
		}
	}
	return ""
}

// rediscoverEvery is the least time between two discoveries of an engine because of failures (RFC 3414, 11.1:
// reports are not authenticated, so anyone may send them).
const rediscoverEvery = 5 * time.Second

// forgetEngine drops what is known of the agent's engine, since it may be another one now; false: nothing is
// known, or that was done a moment ago.
func (l *learned) forgetEngine() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.security == nil || time.Since(l.forgot) < rediscoverEvery {
		return false
	}
	l.security, l.forgot = nil, time.Now()
	return true
}
