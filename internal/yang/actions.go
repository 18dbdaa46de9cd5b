package yang

import (
	"slices"

	"ctl.internal/sdk/fault"
)

// Action returns the action of a node by its name: bare where its module is that of the node, or module:name; nil if the
// node has none of that name.
func (n *Node) Action(name string) *RPC {
	for _, r := range n.Actions {
		if name == r.Module+":"+r.Name || name == r.Name && r.Module == n.Module {
			return r
		}
	}
	return nil
}

// notification returns the notification that is bound to a node, by its name in JSON.
func (n *Node) notification(name string) *Node {
	for _, m := range n.Notifications {
		if name == m.QName() || name == m.Name && m.Module == n.Module {
			return m
		}
	}
	return nil
}

// CheckOutput checks the conditions of an output, the content of output as a plugin returned it. at is the instance that
// an action was invoked on, nil for an RPC; tops is the data that the conditions may look at.
func (r *RPC) CheckOutput(output []byte, at *Data, tops *Data) error {
	if !r.Output.constrains || isBlank(output) {
		return nil
	}
	d, err := r.checkOutput(&arena{}, output)
	if d == nil {
		return err
	}
	d.parent = at
	return d.Constraints(tops).Err()
}

// Notice is a notification that was decoded.
type Notice struct {
	// Top is the notification or, of one that is bound to data (RFC 7950 section 7.16), the instance of the top-level
	// node that leads to it: containers, and entries with their keys.
	Top *Data
	// Notification is the notification itself.
	Notification *Data
}

// DecodeNotification reads an event: its name is that of a notification, or of the top-level node that leads to one that
// is bound to data. Members that the schema does not know are left out.
func (s *Set) DecodeNotification(module, name string, text []byte) (*Notice, error) {
	if n := s.Notification(module, name); n != nil {
		d, err := n.Decode(text, Options{
			Drop:    true,
			Partial: true,
			Masks:   true,
		})
		if err != nil {
			return nil, err
		}
		return &Notice{d, d}, nil
	}
	n := s.Data(module, name)
	if n == nil {
		return nil, fault.New(fault.Unknown, "there is no notification %s:%s", module, name)
	}
	var notice Notice
	d, err := decodeDocument(text, n, Options{
		Drop:    true,
		Partial: true,
		Masks:   true,
	}, true, func(v *validator, d *Data) {
		d.name = n.Name
		notice.Notification = v.lead(d, n)
	})
	if err != nil {
		return nil, err
	}
	notice.Top = d
	return &notice, nil
}

// lead checks what leads to a notification that is bound to data: one member at each level, beside the keys of an entry.
// It returns the notification, nil if it has reported a fault.
func (v *validator) lead(d *Data, n *Node) *Data {
	d.Node = n
	if n.Keyed() {
		if d.kind != jArray || d.first == nil || d.first.next != nil {
			v.addFault(
				fault.Invalid,
				d.Path(),
				"want an array of one entry: the one that the notification is of",
			)
			return nil
		}
		d = d.first
		d.Node = n
	}
	if d.kind != jObject || n.IsLeaf() || n.Kind == AnyData {
		v.addFault(fault.Invalid, d.Path(), "this does not lead to a notification")
		return nil
	}
	var next *Data
	keys := 0
	for c := d.first; c != nil; c = c.next {
		m := n.index[c.name]
		switch {
		case m != nil && m.key:
			c.Node = m
			v.checkLeaf(c, m)
			keys++
			continue
		case next != nil:
			v.addFault(
				fault.Invalid,
				c.Path(),
				"beside the keys of an entry only one member leads to a notification",
			)
			return nil
		case m != nil:
			c.Node = m
		case n.notification(c.name) != nil:
			c.Node = n.notification(c.name)
		default:
			v.addFault(
				fault.Invalid,
				c.Path(),
				"there is no such member here%s",
				suggestMember(c.name, n),
			)
			return nil
		}
		next = c
	}
	switch {
	case keys < len(n.Keys):
		v.addFault(fault.Missing, d.Path(), "the keys of the entry are required")
		return nil
	case next == nil:
		v.addFault(fault.Missing, d.Path(), "a notification is required")
		return nil
	case next.Node.Kind == Notification:
		v.checkObject(next, next.Node)
		return next
	}
	return v.lead(next, next.Node)
}

// Check checks the conditions of a notification. tops is the data that they may look at, with the instance that the
// notification is bound to.
func (n *Notice) Check(tops *Data) error {
	d := n.Notification
	if !d.Node.constrains {
		return nil
	}
	if tops != nil && d.parent != nil {
		around := d.parent
		d.parent = tops.counterpart(around)
		defer func() { d.parent = around }()
	}
	return d.Constraints(tops).Err()
}

// HasConditions reports whether the notification has conditions to check.
func (n *Notice) HasConditions() bool {
	return n.Notification.Node.constrains
}

// counterpart returns the instance below d, an instance of the root, that has the same path as other; nil if there is none.
func (d *Data) counterpart(other *Data) *Data {
	if other.parent == nil {
		return d.Get(other.Node)
	}
	up := d.counterpart(other.parent)
	switch {
	case up == nil:
		return nil
	case other.parent.kind == jArray:
		return up.Entry(other.KeyValues())
	}
	return up.Get(other.Node)
}

// Actions lists the actions of a module: the path of each node in the schema and the name, "/m:list/reset", with modules at
// the top and where they change.
func (s *Set) Actions(module string) []string {
	var out []string
	var walk func(n *Node, path, in string)
	walk = func(n *Node, path, in string) {
		step := func(of, name string) string {
			if of != in {
				name = of + ":" + name
			}
			return path + "/" + name
		}
		for _, r := range n.Actions {
			if r.Module == module {
				out = append(out, step(r.Module, r.Name))
			}
		}
		for _, m := range n.members {
			walk(m, step(m.Module, m.Name), m.Module)
		}
	}
	walk(s.Root, "", "")
	slices.Sort(out)
	return out
}
