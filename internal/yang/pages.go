package yang

import (
	"bytes"
	"encoding/json"

	"ctl.internal/sdk/fault"
)

// The leaves of an RPC whose output comes in pages: a call answers no more than limit entries, and fewer where
// that is enough for one call; with next-cursor when there are more, which begin at that cursor.
const (
	leafLimit  = "limit"
	leafCursor = "cursor"
	leafNext   = "next-cursor"

	outputEnd = "</output>"
)

// Paged reports whether the output of an RPC comes in pages.
func (r *RPC) Paged() bool {
	return r.Input.childNamed(r.Module, leafLimit) != nil &&
		r.Input.childNamed(r.Module, leafCursor) != nil &&
		r.Output.childNamed(r.Module, leafNext) != nil
}

// Pages makes one output of the pages of an RPC: the entries of a list that several pages have follow each other.
type Pages struct {
	RPC   *RPC
	Style Style
	XML   bool

	a       arena
	buf     []byte
	input   map[string]json.RawMessage
	limited bool
	left    int // entries that are wanted, if limited
	cursor  string
	seen    map[*Node]bool
	open    *Node // the list whose entries are being written
	filled  bool  // with an entry
	written bool  // a member
}

// NewPages reads the input of a call, in canonical form.
func (r *RPC) NewPages(input []byte, s Style, xml bool) (*Pages, error) {
	p := &Pages{
		RPC:   r,
		Style: s,
		XML:   xml,
		input: map[string]json.RawMessage{},
		seen:  map[*Node]bool{},
	}
	if len(input) > 0 {
		if err := json.Unmarshal(input, &p.input); err != nil {
			return nil, fault.Wrap(
				fault.Internal,
				err,
				"the input of %s:%s cannot be read",
				r.Module,
				r.Name,
			)
		}
	}
	if limit := p.input[leafLimit]; limit != nil {
		p.limited = true
		if err := json.Unmarshal(limit, &p.left); err != nil {
			return nil, fault.Wrap(
				fault.Internal,
				err,
				"limit of %s:%s cannot be read",
				r.Module,
				r.Name,
			)
		}
	}
	return p, nil
}

// Input is the input of the call for the next page.
func (p *Pages) Input() ([]byte, error) {
	if p.cursor != "" {
		p.input[leafCursor], _ = json.Marshal(p.cursor)
	}
	if p.limited {
		p.input[leafLimit], _ = json.Marshal(p.left)
	}
	return json.Marshal(p.input)
}

// Page checks a page as AppendOutput does and returns what it adds to the text of the output, and whether
// another page is needed. The last one ends the text, which is good until the next page.
func (p *Pages) Page(output []byte) (text []byte, more bool, err error) {
	if isBlank(output) {
		output = []byte("{}")
	}
	p.a.reset()
	n := len(output) / 10
	if cap(p.a.chunk) < n { // about one value in ten bytes; the next pages are as long
		p.a.chunk = make([]Data, 0, n)
	}
	d, err := p.RPC.checkOutput(&p.a, output)
	if d == nil {
		return nil, false, err
	}
	d.HideSecrets()
	next, err := p.countEntries(d)
	if err != nil {
		return nil, false, err
	}
	if more = next != nil && (!p.limited || p.left > 0); more {
		p.cursor = next.text
		next.Remove()
	}
	if p.XML {
		return p.appendXML(d, more), more, nil
	}
	p.buf = p.appendJSON(p.buf[:0], d, more)
	return p.buf, more, nil
}

// countEntries takes the entries of a page from those that are wanted, and returns its cursor.
func (p *Pages) countEntries(d *Data) (next *Data, err error) {
	node := p.RPC.Output.childNamed(p.RPC.Module, leafNext)
	members := 0
	entries := 0
	for c := d.first; c != nil; c = c.next {
		if c.Node == node {
			next = c
			continue
		}
		if p.seen[c.Node] && (c.Node != p.open || members > 0) {
			return nil, fault.New(
				fault.Internal,
				"%s is in two pages, and not at the end of one and the beginning of the next",
				c.Node.QName(),
			)
		}
		if c.IsArray() {
			entries += c.Len()
		}
		p.seen[c.Node] = true
		members++
	}
	if p.limited {
		if p.left -= entries; p.left < 0 {
			return nil, fault.New(fault.Internal, "a page has more entries than were requested")
		}
	}
	if next != nil && (next.text == "" || next.text == p.cursor) {
		return nil, fault.New(
			fault.Internal,
			"the pages do not end: the cursor %.80q is repeated",
			next.text,
		)
	}
	return next, nil
}

func (p *Pages) appendJSON(buf []byte, d *Data, more bool) []byte {
	for c := d.first; c != nil; c = c.next {
		if c.Node != p.open {
			buf = p.appendMemberStart(buf)
			buf = c.appendName(buf, p.Style)
			if !c.IsArray() {
				buf = c.Append(buf, p.Style)
				continue
			}
			buf = append(buf, '[')
			p.open, p.filled = c.Node, false
		}
		for e := c.first; e != nil; e = e.next {
			if p.filled {
				buf = append(buf, ',')
			}
			p.filled = true
			buf = e.Append(buf, p.Style)
		}
	}
	if more {
		return buf
	}
	if p.open != nil {
		buf = append(buf, ']')
	}
	if !p.written {
		buf = append(buf, '{')
	}
	return append(buf, '}')
}

// appendMemberStart ends what is before a member.
func (p *Pages) appendMemberStart(buf []byte) []byte {
	if p.open != nil {
		buf = append(buf, ']')
	}
	c := byte('{')
	if p.written {
		c = ','
	}
	p.open, p.written = nil, true
	return append(buf, c)
}

func (p *Pages) appendXML(d *Data, more bool) []byte {
	for c := d.first; c != nil; c = c.next {
		p.open = c.Node // the last member may go on
	}
	text := d.AppendXML(nil)
	switch {
	case p.written: // the element is open
		text = text[bytes.IndexByte(text, '>')+1:]
		if d.first == nil && !more {
			text = append(text, outputEnd...)
		}
	case d.first == nil && more:
		return nil
	}
	p.written = true
	if more {
		text = bytes.TrimSuffix(text, []byte(outputEnd))
	}
	return text
}
