// Package faults names the ways in which a simulated switch misbehaves. It is
// data only; package snmpagent acts on it, package labctl reads it from the
// command line.
package faults

import (
	"fmt"
	"strings"
	"time"

	"ctl.internal/internal/lab/snmpwire"
)

// Set is what is wrong with a switch. The zero value is a healthy one.
type Set struct {
	Silent    bool            // no answer to anything, no traps
	Loss      int             // percent of requests that are lost, 0 to 100
	Delay     time.Duration   // before each answer
	Duplicate bool            // every answer comes twice
	TooBig    int             // more than so many variable bindings in a request or answer: tooBig; 0 = off
	WrongID   bool            // answers carry another request-id
	Loop      bool            // GETNEXT on an instance answers that instance again: the OIDs do not increase
	Back      bool            // GETNEXT that would leave a subtree of Within begins it again: a longer circle
	WrongType bool            // numbers come as octet strings and the other way round
	Missing   []snmpwire.OID  // subtrees that the agent does not have
	Within    []snmpwire.OID  // Loop and WrongType only below these; empty: everywhere
	Truncate  bool            // answers are cut in half
	Garbage   bool            // answers are not BER
	Huge      bool            // answers to GETBULK are filled up to 60,000 octets
	NoBulk    bool            // GETBULK gets no answer
	Status    snmpwire.Status // every request is answered with this error
	SetStatus snmpwire.Status // every SET is refused with this error
	SetIgnore bool            // SET answers noError and changes nothing
	SetMute   bool            // SET is done but its answer is lost
}

// Subtree returns the one of some subtrees, Missing or Within, that a name lies in, else nil.
func Subtree(list []snmpwire.OID, name snmpwire.OID) snmpwire.OID {
	for _, o := range list {
		if name.HasPrefix(o) {
			return o
		}
	}
	return nil
}

// Covers reports whether Loop and WrongType are at work at a name.
func (s *Set) Covers(name snmpwire.OID) bool {
	return len(s.Within) == 0 || Subtree(s.Within, name) != nil
}

// Parse reads the text form: words separated by commas, as
// "loss=20,delay=100ms,missing=1.0.8802+1.3.6.1.2.1.17". Empty or "none" is a
// healthy switch. The error names the bad word and the words there are.
func Parse(text string) (Set, error) {
	var s Set
	if text == "" || text == "none" {
		return s, nil
	}
	fields := s.fields()
next:
	for _, word := range strings.Split(text, ",") {
		name, value, has := strings.Cut(strings.TrimSpace(word), "=")
		for _, f := range fields {
			switch {
			case f.name != name:
				continue
			case f.flag != nil && has, f.flag == nil && !has:
				return Set{}, fmt.Errorf("fault %.40q: only %s", word, formatUsage(fields))
			case f.flag != nil:
				*f.flag = true
			default:
				if err := f.set(value); err != nil {
					return Set{}, err
				}
			}
			continue next
		}
		return Set{}, fmt.Errorf("fault %.40q is unknown; there are %s", word, formatUsage(fields))
	}
	return s, nil
}

// String returns the text form that Parse reads; "none" for a healthy switch.
func (s Set) String() string {
	var words []string
	for _, f := range s.fields() {
		if f.flag != nil {
			if *f.flag {
				words = append(words, f.name)
			}
		} else if v := f.get(); v != "" {
			words = append(words, f.name+"="+v)
		}
	}
	if words == nil {
		return "none"
	}
	return strings.Join(words, ",")
}
