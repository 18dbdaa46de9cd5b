// Package right holds rights by port, switch and VLAN: sets of such resources, and who may view or change what is in a set. Whoever
// has a right may do nothing else. They are asked after the rules of etc/sec.ini, the policies and the roles, and all must permit.
//
// The tree they are stored in, aaa-rights:rights, is RESTCONF's. A switch is its node-id and a port its number, so that another name
// of either is no way around them; who knows the names is asked before.
package right

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"ctl.internal/sdk/fault"
)

// Node is the top-level node of the tree.
const Node = "aaa-rights:rights"

// What a right lets its holder do with what is in its set.
const (
	View   = "view"
	Change = "change" // and view
)

// Limits of the tree.
const (
	maxVLAN = 4094
	maxPort = 65535
)

// Set is one entry of the list of sets, as stored.
type Set struct {
	Name     string   `json:"name"`
	Switches []Switch `json:"switch,omitempty"`
	VLANs    []string `json:"vlan,omitempty"` // numbers and ranges

	vlans []span
}

// Switch is a switch of a set, whole or some of its ports.
type Switch struct {
	Node  string   `json:"node-id"`
	Ports []string `json:"port,omitempty"` // numbers and ranges; none = the whole switch

	ports []span
}

// Right is one entry of the list of rights, as stored.
type Right struct {
	Holder string `json:"holder"` // user:NAME@DOMAIN or role:NAME
	Set    string `json:"set"`
	May    string `json:"may"`
}

// span is a range of numbers, both ends included.
type span struct{ from, to uint32 }

// Resource is what a call acts on, or a row is about. A part that it does not name is empty.
type Resource struct {
	Node string
	Port uint32
	VLAN uint32
}

// String is the resource for people.
func (r Resource) String() string {
	var parts []string
	if r.Port != 0 {
		parts = append(parts, fmt.Sprintf("port %d", r.Port))
	}
	parts = append(parts, "switch "+cmp.Or(r.Node, "of any node-id"))
	text := strings.Join(parts, " of ")
	if r.VLAN != 0 {
		text = fmt.Sprintf("VLAN %d at %s", r.VLAN, text)
	}
	return text
}

// Rights are all of them. They are never changed.
type Rights struct {
	sets   []Set
	rights []Right
}

// Compile reads the content of the tree; what is wrong is a fault.Invalid.
func Compile(content json.RawMessage) (*Rights, error) {
	r := &Rights{}
	if len(content) == 0 {
		return r, nil
	}
	var c struct {
		Sets   []Set   `json:"set"`
		Rights []Right `json:"right"`
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the rights do not match module aaa-rights: %v", err)
	}
	for i := range c.Sets {
		if err := c.Sets[i].compile(); err != nil {
			return nil, fault.At(fault.Invalid, Node+"/set="+c.Sets[i].Name, "%v", err)
		}
	}
	r.sets, r.rights = c.Sets, c.Rights
	for _, one := range c.Rights {
		if err := r.checkRight(one); err != nil {
			return nil, fault.At(fault.Invalid, Node+"/right="+one.Holder+","+one.Set, "%v", err)
		}
	}
	return r, nil
}

func (r *Rights) checkRight(one Right) error {
	kind, name, ok := strings.Cut(one.Holder, ":")
	switch {
	case !ok || name == "" || kind != "user" && kind != "role":
		return fmt.Errorf("the holder %q is neither user:NAME@DOMAIN nor role:NAME", one.Holder)
	case kind == "user" && !strings.Contains(name, "@"):
		return fmt.Errorf("the user %q has no domain: write user:%s@sdn", name, name)
	case kind == "role" && name == "admin":
		return fmt.Errorf("the role admin cannot be confined")
	case one.May != View && one.May != Change:
		return fmt.Errorf("%q is neither %s nor %s", one.May, View, Change)
	case r.Set(one.Set) == nil:
		return fmt.Errorf("there is no set %q", one.Set)
	}
	return nil
}

func (s *Set) compile() (err error) {
	if s.vlans, err = parseSpans(s.VLANs, maxVLAN); err != nil {
		return fmt.Errorf("vlan: %w", err)
	}
	for i := range s.Switches {
		sw := &s.Switches[i]
		if _, err := strconv.ParseUint(sw.Node, 10, 64); err != nil {
			return fmt.Errorf("%q is no node-id", sw.Node)
		}
		if sw.ports, err = parseSpans(sw.Ports, maxPort); err != nil {
			return fmt.Errorf("port of switch %s: %w", sw.Node, err)
		}
	}
	return nil
}

func parseSpans(texts []string, most uint64) (out []span, err error) {
	for _, text := range texts {
		low, high, ranged := strings.Cut(text, "-")
		if !ranged {
			high = low
		}
		from, err1 := strconv.ParseUint(low, 10, 32)
		to, err2 := strconv.ParseUint(high, 10, 32)
		if err1 != nil || err2 != nil || from == 0 || to < from || to > most {
			return nil, fmt.Errorf("%q is no number or range of numbers from 1 to %d", text, most)
		}
		out = append(out, span{uint32(from), uint32(to)})
	}
	return out, nil
}

// Spans writes numbers as they are stored: in order, with ranges.
func Spans(numbers []uint32) (out []string) {
	numbers = slices.Compact(slices.Sorted(slices.Values(numbers)))
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		text := strconv.FormatUint(uint64(numbers[i]), 10)
		if last > i {
			text += "-" + strconv.FormatUint(uint64(numbers[last]), 10)
		}
		out = append(out, text)
		i = last + 1
	}
	return out
}

func within(all []span, n uint32) bool {
	return slices.ContainsFunc(all, func(s span) bool { return s.from <= n && n <= s.to })
}

// Sets are all sets; the caller must not change them.
func (r *Rights) Sets() []Set { return r.sets }

// Rights are all rights; the caller must not change them.
func (r *Rights) Rights() []Right { return r.rights }

// Set is the set of a name, nil if there is none.
func (r *Rights) Set(name string) *Set {
	for i := range r.sets {
		if r.sets[i].Name == name {
			return &r.sets[i]
		}
	}
	return nil
}

// Holders are who has a right, each once.
func (r *Rights) Holders() (out []string) {
	for _, one := range r.rights {
		if !slices.Contains(out, one.Holder) {
			out = append(out, one.Holder)
		}
	}
	return out
}

// With are the names of the sets that hold a resource, for changes or else for a view.
func (r *Rights) With(what Resource, change bool) (out []string) {
	for i := range r.sets {
		if r.sets[i].has(what, change) {
			out = append(out, r.sets[i].Name)
		}
	}
	return out
}

// Scope is what somebody who has rights may do.
type Scope struct {
	all []granted
}

type granted struct {
	*Set
	change bool
}

// Of is what a user, NAME@DOMAIN, with roles may do; nil if neither has a right.
func (r *Rights) Of(user string, roles []string) *Scope {
	if len(r.rights) == 0 {
		return nil
	}
	var s *Scope
	for _, one := range r.rights {
		kind, name, _ := strings.Cut(one.Holder, ":")
		if kind == "user" && name != user || kind == "role" && !slices.Contains(roles, name) {
			continue
		}
		if s == nil {
			s = &Scope{}
		}
		s.all = append(s.all, granted{r.Set(one.Set), one.May == Change})
	}
	return s
}

// String names the sets and what may be done with them.
func (s *Scope) String() string {
	var out []string
	for _, g := range s.all {
		may := View
		if g.change {
			may = Change
		}
		out = append(out, fmt.Sprintf("%q (%s)", g.Name, may))
	}
	return strings.Join(out, ", ")
}

// Permits reports whether all that a resource names is in one set that the right is for. A port and the VLAN that is set there must
// be in the same one. To change a switch, the whole of it must be in the set; a view of it shows what is in the sets.
func (s *Scope) Permits(what Resource, change bool) bool {
	return slices.ContainsFunc(s.all, func(g granted) bool {
		return (g.change || !change) && g.has(what, change)
	})
}

func (s *Set) has(what Resource, change bool) bool {
	if what.VLAN != 0 && !within(s.vlans, what.VLAN) {
		return false
	}
	return slices.ContainsFunc(s.Switches, func(sw Switch) bool {
		switch {
		case sw.Node != what.Node:
			return false
		case len(sw.ports) == 0:
			return true
		case what.Port != 0:
			return within(sw.ports, what.Port)
		}
		return what.VLAN != 0 || !change
	})
}

// Engine answers with the rights of the moment; until Use is called nobody has one. It is safe for concurrent use.
type Engine struct {
	now    atomic.Pointer[Rights]
	failed atomic.Bool
}

// Use puts rights into force.
func (e *Engine) Use(r *Rights) {
	e.now.Store(r)
	e.failed.Store(false)
}

// Fail says that the rights cannot be read: only administrators may do something until others are in force.
func (e *Engine) Fail() { e.failed.Store(true) }

// Failed reports whether the rights cannot be read.
func (e *Engine) Failed() bool { return e.failed.Load() }

// Now are the rights in force.
func (e *Engine) Now() *Rights {
	if r := e.now.Load(); r != nil {
		return r
	}
	return &Rights{}
}

// AddSwitch adds a switch with its ports to a set; without ports it is the whole switch from then on.
func (s *Set) AddSwitch(sw Switch) {
	for i := range s.Switches {
		have := &s.Switches[i]
		if have.Node != sw.Node {
			continue
		}
		if len(sw.Ports) == 0 || len(have.Ports) == 0 {
			have.Ports = nil
			return
		}
		var all []uint32
		for _, one := range slices.Concat(have.Ports, sw.Ports) {
			spans, _ := parseSpans([]string{one}, maxPort) // they are kept already, or made by Spans
			for _, sp := range spans {
				for n := sp.from; n <= sp.to; n++ {
					all = append(all, n)
				}
			}
		}
		have.Ports = Spans(all)
		return
	}
	s.Switches = append(s.Switches, sw)
}

// HasSwitch reports whether a switch, or some of its ports, are in a set.
func (s *Set) HasSwitch(node string) bool {
	return slices.ContainsFunc(s.Switches, func(sw Switch) bool { return sw.Node == node })
}

// String is the set for people.
func (s *Set) String() string {
	var parts []string
	for _, sw := range s.Switches {
		text := "switch " + sw.Node
		if len(sw.Ports) > 0 {
			text += " ports " + strings.Join(sw.Ports, ",")
		}
		parts = append(parts, text)
	}
	if len(s.VLANs) > 0 {
		parts = append(parts, "VLANs "+strings.Join(s.VLANs, ","))
	}
	return s.Name + ": " + cmp.Or(strings.Join(parts, "; "), "nothing")
}
