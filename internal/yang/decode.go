package yang

import (
	"bytes"
	"slices"
	"strings"

	"ctl.internal/sdk/fault"
)

// DecodeInput checks the body of a call, {"input":{…}} or {"module:input":{…}},
// and returns the content of input in canonical form: what the plugin receives.
// An empty body is an input without members.
//
// The error holds every fault found (fault.All), each with the path of the
// instance, as Malformed, Invalid, Missing, Unknown or TooBig.
func (r *RPC) DecodeInput(body []byte, o Options) ([]byte, error) {
	a := r.arenas.getArena()
	defer r.arenas.putArena(a)
	v := validator{Options: o, a: a}
	var in, top *Data
	var perr *fault.Error
	switch {
	case isBlank(body):
	case o.XML:
		in, perr = parseXML(body, r.Input, o, a, true)
		v.Lenient = true
	default:
		top, perr = parseJSON(string(body), o.Lenient, a)
	}
	if perr != nil {
		return nil, perr
	}
	if in == nil {
		var err error
		if in, err = r.inputMember(a, o, top); err != nil {
			return nil, err
		}
	}
	in.Node, in.parent = r.Input, o.At
	v.checkObject(in, r.Input)
	if err := v.err(); err != nil {
		return nil, err
	}
	if l := in.unmask(nil); len(l) > 0 {
		return nil, l.Err()
	}
	if r.Input.constrains {
		if l := in.Constraints(o.Tops.loadTop(r.Input)); len(l) > 0 {
			return nil, l.Err()
		}
	}
	return in.Append(make([]byte, 0, len(body)), Canonical), nil
}

// inputMember returns the value of the member input.
func (r *RPC) inputMember(a *arena, o Options, top *Data) (*Data, error) {
	if top != nil && top.kind != jObject {
		return nil, fault.New(
			fault.Malformed,
			"the body must be an object with the member \"input\", not %s",
			jsonNames[top.kind],
		)
	}
	var in *Data
	if top != nil {
		for c := top.first; c != nil; c = c.next {
			name := c.name
			if o.Aliases != nil && o.Aliases.Trim {
				name = strings.TrimSpace(name)
			}
			switch {
			case name != "input" && name != r.qinput:
				return nil, fault.At(
					fault.Unknown,
					"/"+shortName(c.name),
					"the body has the member \"input\" and no other",
				)
			case in != nil:
				return nil, fault.At(
					fault.Malformed,
					"/"+r.Input.QName(),
					"the member occurs twice",
				)
			}
			in = c
		}
	}
	if in == nil {
		in = a.newData()
		in.kind = jObject
		if r.NeedsInput() && top == nil {
			return nil, fault.At(
				fault.Missing,
				"/"+r.Input.QName(),
				"the call needs a body with the member \"input\"",
			)
		}
	}
	if in.kind == jNull ||
		in.kind == jArray && in.first != nil && in.first.kind == jNull && in.first.next == nil {
		in.kind, in.first, in.last = jObject, nil, nil // "input": null is sent for rpcs without input
	}
	in.parent, in.next = nil, nil
	return in, nil
}

// AppendOutput checks what a plugin returned, the content of output in canonical
// form, and appends it without its secrets to buf in a style. Empty output gives nil.
//
// Members that the schema does not know are left out and reported: when all
// faults are Unknown the text is returned beside the error.
func (r *RPC) AppendOutput(buf, output []byte, s Style) ([]byte, error) {
	return r.encodeCheckedOutput(output, func(d *Data) []byte { return d.Append(buf, s) })
}

// AppendOutputXML is AppendOutput in XML: the element output with its members.
func (r *RPC) AppendOutputXML(buf, output []byte) ([]byte, error) {
	return r.encodeCheckedOutput(output, func(d *Data) []byte { return d.AppendXML(buf) })
}

func (r *RPC) encodeCheckedOutput(output []byte, write func(*Data) []byte) ([]byte, error) {
	if isBlank(output) {
		return nil, nil
	}
	a := r.arenas.getArena()
	defer r.arenas.putArena(a)
	d, err := r.checkOutput(a, output)
	if d == nil {
		return nil, err
	}
	d.HideSecrets()
	return write(d), err
}

// checkOutput checks what a plugin returned. When all faults are Unknown members, which are left out, the
// tree is returned beside the error.
func (r *RPC) checkOutput(a *arena, text []byte) (*Data, error) {
	v := validator{Options: Options{Drop: true}, a: a}
	d, perr := parseJSON(string(text), false, a)
	if perr != nil {
		return nil, perr
	}
	d.Node = r.Output
	v.checkObject(d, r.Output)
	err := v.err()
	if slices.ContainsFunc(fault.All(err), func(f *fault.Error) bool {
		return f.Kind != fault.Unknown
	}) {
		return nil, err
	}
	return d, err
}

// Decode reads a JSON object, or with o.XML the element, as the members of n: a container, a list entry, an
// input, an output, a notification or the root. The tree is returned only when
// there is no error, which holds every fault found (fault.All).
func (n *Node) Decode(text []byte, o Options) (*Data, error) {
	return decodeDocument(text, n, o, true, func(v *validator, d *Data) {
		v.checkObject(d, n)
	})
}

// DecodeValue reads a JSON value as an instance of n: an array for lists and
// leaf-lists, a scalar for leaves.
func (n *Node) DecodeValue(text []byte, o Options) (*Data, error) {
	o.XML = false
	return decodeDocument(text, n, o, true, func(v *validator, d *Data) {
		v.checkValue(d, n)
	})
}

// decodeDocument parses and checks. wrapped says that an XML document has an element for n itself.
func decodeDocument(
	text []byte,
	n *Node,
	o Options,
	wrapped bool,
	by func(*validator, *Data),
) (*Data, error) {
	a := newArena(len(text))
	var d *Data
	var perr *fault.Error
	if o.XML {
		d, perr = parseXML(text, n, o, a, wrapped)
		o.Lenient = true
	} else {
		d, perr = parseJSON(string(text), o.Lenient, a)
	}
	if perr != nil {
		return nil, perr
	}
	return checkInstance(d, n, o, a, by)
}

// checkInstance checks d as an instance of n.
func checkInstance(
	d *Data,
	n *Node,
	o Options,
	a *arena,
	by func(*validator, *Data),
) (*Data, error) {
	d.Node, d.parent = n, o.At
	v := validator{Options: o, a: a}
	by(&v, d)
	if err := v.result(); err != nil {
		return nil, err
	}
	return d, nil
}

// DecodeAny reads a JSON value that has no schema.
func DecodeAny(text []byte) (*Data, error) {
	d, perr := parseJSON(string(text), false, &arena{})
	if perr != nil {
		return nil, perr
	}
	return d, nil
}

func isBlank(b []byte) bool {
	return len(bytes.TrimSpace(b)) == 0
}

// DecodeMembers reads a JSON object whose members are children of n, as the body
// of a request has them, and returns the children; with o.XML the document's
// element is the one child. o.At is the instance they stand below.
func (n *Node) DecodeMembers(text []byte, o Options) ([]*Data, error) {
	var list []*Data
	_, err := decodeDocument(text, n, o, false, func(v *validator, d *Data) {
		if d.kind != jObject {
			v.addFault(fault.Malformed, "", "the body must be an object, not %s", jsonNames[d.kind])
			return
		}
		seen := map[*Node]bool{}
		for c := range d.All() {
			c.parent, c.next = o.At, nil
			if c.Node = n.index[c.name]; c.Node == nil {
				v.addFault(
					fault.Unknown,
					c.Path(),
					"there is no such member here%s",
					suggestMember(c.name, n),
				)
			} else if seen[c.Node] {
				v.addFault(fault.Malformed, c.Path(), "the member occurs twice")
			} else {
				seen[c.Node] = true
				v.checkValue(c, c.Node)
				list = append(list, c)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// IsDefault reports whether a leaf's canonical text is its default value.
func (n *Node) IsDefault(text string) bool {
	return n.Kind == Leaf &&
		len(n.defs) == 1 &&
		(&Data{
			kind: n.defs[0].kind,
			text: n.defs[0].text,
		}).Text() == text
}
