package yang

// XMLOf writes a JSON object that has no schema as XML, one element a member: a name with the name
// of a module of the sets, or at the top without one of the module top, is in its namespace. The
// values of members named in paths are instance-identifiers.
func XMLOf(text []byte, top string, paths []string, sets ...*Set) ([]byte, error) {
	d, perr := parseJSON(string(text), false, &arena{})
	if perr != nil {
		return nil, perr
	}
	all := &spaces{uri: map[string]string{}}
	for _, s := range sets {
		for module, uri := range s.Root.spaces.uri {
			all.uri[module] = uri
		}
	}
	w := xmlWriter{spaces: all, paths: paths}
	for c := d.first; c != nil; c = c.next {
		name := c.name
		if w.module(name) == "" {
			name = top + ":" + name
		}
		w.value(c, name, "")
	}
	return w.buf, nil
}

// DecodeAny reads a JSON value that has no schema.
func DecodeAny(text []byte) (*Data, error) {
	d, perr := parseJSON(string(text), false, &arena{})
	if perr != nil {
		return nil, perr
	}
	return d, nil
}

// Name is the name of a member as it was written or, of what was made by hand, its node's.
func (d *Data) Name() string { return d.name }

// XMLPath is an instance-identifier as an element path, with the prefixes it needs.
func (s *Set) XMLPath(path string) []byte {
	w := xmlWriter{spaces: s.Root.spaces, paths: []string{"path"}}
	w.value(&Data{kind: jString, text: path}, "path", "")
	return w.buf
}
