package yang

// Origin is where operational data is from (RFC 8342 section 5.3.4).
type Origin uint8

// The known origins; the zero value means no origin.
const (
	Intended Origin = iota + 1
	Learned
	Default
)

var originNames = [...]string{
	Intended: "intended",
	Learned:  "learned",
	Default:  "default",
}

// String is the name of the identity of ietf-origin.
func (o Origin) String() string { return originNames[o] }

// SetOrigin says where an instance with all below it is from; nil means no origin.
func (d *Data) SetOrigin(o Origin) {
	if d == nil {
		return
	}
	d.origin = o
	for c := d.first; c != nil; c = c.next {
		c.SetOrigin(o)
	}
}

// newOrigin is the origin that has to be written with d: that of what it stands in holds for it, too.
func (d *Data) newOrigin() Origin {
	if d.Node == nil || d.Node.Kind == Root || d.kind == jArray {
		return 0
	}
	up := d.parent
	for up != nil && up.kind == jArray {
		up = up.parent
	}
	if up != nil && up.origin == d.origin && up.Node != nil && up.Node.Kind != Root {
		return 0
	}
	return d.origin
}

// appendOrigin writes the annotation of an object (RFC 7952 section 5.2.1).
func appendOrigin(buf []byte, o Origin) []byte {
	return append(append(append(buf, `{"ietf-origin:origin":"ietf-origin:`...), o.String()...), `"}`...)
}

// LeafOrigin is the annotation of a leaf, or of the entries of a leaf-list; nil when none has an origin
// that what it stands in does not have.
func (d *Data) LeafOrigin() []byte {
	if d.Node == nil || !d.Node.IsLeaf() {
		return nil
	}
	if d.kind != jArray {
		if o := d.newOrigin(); o != 0 {
			return appendOrigin(nil, o)
		}
		return nil
	}
	list, any := []byte{'['}, false
	for e := d.first; e != nil; e = e.next {
		if e != d.first {
			list = append(list, ',')
		}
		if o := e.newOrigin(); o != 0 {
			list, any = appendOrigin(list, o), true
		} else {
			list = append(list, "null"...)
		}
	}
	if !any {
		return nil
	}
	return append(list, ']')
}
