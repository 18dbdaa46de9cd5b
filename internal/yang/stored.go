package yang

import (
	"math"
	"slices"
	"strings"
)

// Stored is an instance as a datastore keeps it: its canonical JSON, without what is kept in texts
// of its own.
type Stored struct {
	Node  *Node
	Text  string    // empty for an array, and for a container that is there for what is below it
	Below []*Stored // members that are not in Text: arrays, and containers with arrays in them

	Array bool     // the entries of a list
	Texts []string // their texts
	Order []string // of a list that is ordered by the user: what sorts each entry

	entries map[int]*Stored // those with members that are not in their text
	written bool
}

// Len is the number of entries of an array.
func (s *Stored) Len() int { return len(s.Texts) }

// Entry returns an entry of an array to put something below it.
func (s *Stored) Entry(i int) *Stored {
	e := s.entries[i]
	if e == nil {
		e = &Stored{Node: s.Node, Text: s.Texts[i]}
		if s.entries == nil {
			s.entries = map[int]*Stored{}
		}
		s.entries[i] = e
	}
	return e
}

// entryBelow is what is kept below an entry of an array.
func (s *Stored) entryBelow(i int) []*Stored {
	if e := s.entries[i]; e != nil {
		return e.Below
	}
	return nil
}

// Child returns the container or array of a node below s, and creates it if it does not exist.
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

// Sort brings the entries of an array into the order of the user.
func (s *Stored) Sort() {
	at := make([]int, len(s.Texts))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int {
		return strings.Compare(s.Order[a], s.Order[b])
	})
	texts := make([]string, len(at))
	order := make([]string, len(at))
	entries := map[int]*Stored{}
	for to, from := range at {
		texts[to], order[to] = s.Texts[from], s.Order[from]
		if e := s.entries[from]; e != nil {
			entries[to] = e
		}
	}
	s.Texts, s.Order, s.entries = texts, order, entries
}

// Decode reads the texts as one instance tree. They are checked as Decode and DecodeValue do it.
func (s *Stored) Decode(o Options) (*Data, error) {
	text := s.Text
	if text == "" || len(s.Below) > 0 {
		var parts strings.Builder
		w := Writer{Flush: func(part []byte) error { parts.Write(part); return nil }}
		w.Stored(s)
		if err := w.Finish(); err != nil {
			return nil, err
		}
		text = parts.String()
	}
	a := &arena{}
	p := parser{
		s:      text,
		a:      a,
		values: math.MinInt,
	} // what is stored may have any number of values
	d := p.readDocument()
	if p.err != nil {
		return nil, p.err
	}
	return checkInstance(d, s.Node, o, a, func(v *validator, d *Data) {
		v.checkInstance(d, s.Node)
	})
}
