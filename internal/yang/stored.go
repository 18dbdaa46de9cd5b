package yang

import (
	"slices"
	"strings"

	"ctl.internal/sdk/fault"
)

// Stored is an instance as a datastore keeps it: its canonical JSON, without what is kept in texts
// of its own.
type Stored struct {
	Node  *Node
	Text  string    // empty for an array, and for a container that is there for what is below it
	Array bool      // Below are the entries of the list
	Order string    // of an entry of a list that is ordered by the user: sorts the entries
	Below []*Stored // members that are not in Text: arrays, and containers with arrays in them
	Texts []string  // of an array, instead of Below: entries that have nothing below them

	written bool
}

// Len is the number of entries of an array.
func (s *Stored) Len() int { return len(s.Below) + len(s.Texts) }

// Child returns the container or array of a node below s, and makes it if there is none.
func (s *Stored) Child(n *Node) *Stored {
	for _, c := range s.Below {
		if c.Node == n {
			return c
		}
	}
	c := &Stored{Node: n, Array: n.IsList()}
	s.Below = append(s.Below, c)
	return c
}

// Sort brings the entries of an array into their order.
func (s *Stored) Sort() {
	slices.SortStableFunc(s.Below, func(a, b *Stored) int { return strings.Compare(a.Order, b.Order) })
}

// Decode reads the texts as one instance tree. They are checked as Decode and DecodeValue do it.
func (s *Stored) Decode(o Options) (*Data, error) {
	a := &arena{}
	dec := storedDecoder{a: a, v: validator{Options: o, a: a}}
	d := dec.read(s, o.At)
	if dec.perr != nil {
		return nil, dec.perr
	}
	if o.Drop {
		dec.v.faults = slices.DeleteFunc(dec.v.faults, func(f *fault.Error) bool { return f.Kind == fault.Unknown })
	}
	if err := dec.v.err(); err != nil {
		return nil, err
	}
	return d, nil
}

type storedDecoder struct {
	a    *arena
	v    validator
	perr *fault.Error
}

func (dec *storedDecoder) read(s *Stored, parent *Data) *Data {
	var d *Data
	if s.Text == "" {
		d = dec.a.new()
		d.kind, d.name = jObject, s.Node.Name
		if s.Array {
			d.kind = jArray
		}
	} else {
		var perr *fault.Error
		if d, perr = parseJSON(s.Text, false, dec.a); perr != nil {
			dec.perr = perr
			return dec.a.new()
		}
	}
	d.Node, d.parent = s.Node, parent
	if s.Text != "" {
		dec.v.instance(d, s.Node)
	}
	dec.below(d, s.Below)
	for _, t := range s.Texts {
		d.add(dec.read(&Stored{Node: s.Node, Text: t}, d))
	}
	return d
}

// below adds what is kept in other texts to d.
func (dec *storedDecoder) below(d *Data, below []*Stored) {
	for _, b := range below {
		if !b.Array && d.kind == jObject {
			if have := d.Get(b.Node); have != nil {
				dec.below(have, b.Below)
				continue
			}
		}
		d.add(dec.read(b, d))
	}
}
