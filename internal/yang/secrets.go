package yang

import (
	"bytes"
	"slices"
	"strings"

	"ctl.internal/sdk/fault"
)

// Mask is shown in place of a secret text.
const Mask = "**********"

// The annotation of an object that names its members that are not shown (RFC 7952).
const (
	metadata   = "@"
	maskedName = schemaModule + ":masked"
)

// secrecy is what is secret of a node: a set of these.
type secrecy uint8

const (
	secretHere    secrecy = 1 << iota // the node
	secretBelow                       // something below it
	leftOutHere                       // it is secret, and its value is no text, so that it is left out
	leftOutBelow                      // there is one of these below it
	secretAnyData                     // it is, or holds, anydata in a module without annotations: names in it are guessed
)

// secretEndings are how the names of secrets end, in lower or upper case. They are used where a module has no annotation
// at all.
var secretEndings = []string{
	"password", "passwd", "passphrase", "secret", "community", "psk",
	"private-key", "privatekey", "auth-key", "priv-key", "pre-shared-key", "symmetric-key", "cleartext-key", "api-key", "access-token",
}

// LooksSecret reports whether a name is like that of a secret.
func LooksSecret(name string) bool {
	return slices.ContainsFunc(secretEndings, func(ending string) bool {
		return len(name) >= len(ending) && strings.EqualFold(name[len(name)-len(ending):], ending)
	})
}

// Secret reports whether the value of a node is kept sealed and is never shown.
func (n *Node) Secret() bool { return n.secret&secretHere != 0 }

// HasSecrets reports whether a node or something below it is secret, or may be.
func (n *Node) HasSecrets() bool { return n.secret != 0 }

// LeavesOut reports whether a node, or something below it, is left out of what is shown, as a secret that is no text, or
// has no schema.
func (n *Node) LeavesOut() bool {
	return n.secret&(leftOutHere|leftOutBelow|secretAnyData) != 0
}

// MaskedText reports whether Mask is shown in place of the value of a node.
func (n *Node) MaskedText() bool {
	return n.secret&(secretHere|leftOutHere) == secretHere
}

// markSecrets finds out what is secret: what a module says, and in a module without any annotation of its own what has the
// name of a secret, unless another module says that it is none.
func (c *compiler) markSecrets() {
	for _, m := range c.set.modules {
		for _, n := range slices.Concat(m.Data, m.Notifications) {
			c.markSecret(n, false, false)
		}
		for _, r := range m.RPCs {
			c.markOperation(r)
		}
	}
	for _, r := range c.actions {
		c.markOperation(r)
	}
	for _, n := range c.set.Root.members {
		c.set.Root.takeSecrecy(n)
	}
}

func (c *compiler) markOperation(r *RPC) {
	c.markSecret(r.Input, false, false)
	c.markSecret(r.Output, false, false)
}

// markSecret marks a node and what is below it. inherited says that what holds it is secret, guessed that the name of
// what holds it is that of a secret.
func (c *compiler) markSecret(n *Node, inherited, guessed bool) {
	a := n.Annotations
	n.denies = a != nil && (a.DenyAll || a.DenyWrite)
	secret := inherited || a != nil && a.Secret
	if a != nil && a.Secret && n.key {
		c.addFault(
			n.defined,
			"%q is a key of a list, which is in the paths of its entries: a key cannot be secret",
			n.Name,
		)
	}
	if !c.marked[n.Module] {
		guessed = guessed || LooksSecret(n.Name)
		open := a != nil && a.NotSecret
		secret = secret || guessed && !open && n.IsLeaf() && !n.key && n.Type.holdsText()
		if n.Kind == AnyData && !secret {
			n.secret |= secretAnyData
		}
	}
	if secret {
		n.secret |= secretHere
		if n.Kind != Leaf || !n.Type.holdsText() {
			n.secret |= leftOutHere
		}
	}
	for _, m := range n.Children {
		if n.Kind == Choice || n.Kind == Case { // they are not in data
			m.denyAs(a)
		}
		c.markSecret(m, secret, guessed)
		n.takeSecrecy(m)
	}
	for _, m := range n.Notifications {
		c.markSecret(m, secret, false)
	}
}

// takeSecrecy notes what is secret, or denied by default, of a node below n.
func (n *Node) takeSecrecy(m *Node) {
	if m.secret&(secretHere|secretBelow) != 0 {
		n.secret |= secretBelow
	}
	if m.secret&(leftOutHere|leftOutBelow) != 0 {
		n.secret |= leftOutBelow
	}
	n.secret |= m.secret & secretAnyData
	n.denies = n.denies || m.denies
}

// holdsText reports whether values of a type are any text: strings and binary.
func (t *Type) holdsText() bool {
	switch t = t.Final(); t.Base {
	case String, Binary:
		return true
	case Union:
		return slices.ContainsFunc(t.Members, (*Type).holdsText)
	}
	return false
}

// HoldsSecret reports whether the text of an instance of a node, as it is stored, has a secret in it. What is stored
// elsewhere may count, too.
func (n *Node) HoldsSecret(text []byte) bool {
	if n.Secret() {
		return true
	}
	if n.secret&secretAnyData != 0 && TextLooksSecret(text) {
		return true
	}
	return slices.ContainsFunc(n.members, func(m *Node) bool {
		return m.HasSecrets() && bytes.Contains(text, []byte(m.Name+`"`)) && m.HoldsSecret(text)
	})
}

// TextLooksSecret reports whether a JSON text of which no schema is known has a member with the name of a secret.
func TextLooksSecret(text []byte) bool {
	for {
		end := bytes.IndexByte(text, '"')
		if end < 0 {
			return false
		}
		if LooksSecret(string(text[:end])) {
			return true
		}
		text = text[end+1:]
	}
}

// HideSecrets puts Mask in place of the secret texts of d, takes the other secrets out, and names these in the object
// that they were in.
func (d *Data) HideSecrets() {
	n := d.Node
	switch {
	case n == nil || !n.HasSecrets():
		return
	case n.Kind == AnyData && !n.Secret():
		d.HideGuessed()
		return
	case n.MaskedText() && d.kind != jArray:
		d.kind, d.text, d.typ = jString, Mask, nil
		return
	case n.Secret():
		d.first, d.last = nil, nil
		return
	}
	var names []string
	for c := range d.All() {
		if c.Node != nil && d.kind == jObject && c.Node.secret&leftOutHere != 0 {
			name := c.appendName(nil, Canonical)
			names = append(names, string(name[1:len(name)-2]))
			c.Remove()
			continue
		}
		c.HideSecrets()
	}
	if len(names) > 0 {
		d.nameMasked(strings.Join(names, " "))
	}
}

// HideGuessed puts Mask in place of the texts in d, which has no schema, whose names are those of secrets.
func (d *Data) HideGuessed() {
	for c := range d.All() {
		if c.guessed() {
			c.text = Mask
		}
		c.HideGuessed()
	}
}

// guessed reports whether d, which has no schema, is a text with the name of a secret.
func (d *Data) guessed() bool {
	return d.kind == jString && LooksSecret(d.name)
}

// unmaskGuessed is unmask of what has no schema.
func (d *Data) unmaskGuessed(stored *Data) (l fault.List) {
	var was *Data // the entry of an array at the same position
	if stored != nil && d.kind == jArray && stored.kind == jArray {
		was = stored.first
	}
	for c := range d.All() {
		if d.kind != jArray && stored != nil {
			was = stored.named(c.name)
		}
		if c.guessed() && c.text == Mask {
			if was == nil || was.kind != jString {
				l = append(l, noSecretStored(c.Path()))
			} else {
				c.text = was.text
			}
		}
		l = append(l, c.unmaskGuessed(was)...)
		if d.kind == jArray && was != nil {
			was = was.next
		}
	}
	return l
}

// named is the member with a name, nil if there is none.
func (d *Data) named(name string) *Data {
	for c := range d.All() {
		if c.name == name {
			return c
		}
	}
	return nil
}

func noSecretStored(path string) *fault.Error {
	return fault.At(
		fault.Invalid,
		path,
		"%s is shown in place of a secret, and no secret is stored here: write the secret itself",
		Mask,
	)
}

// nameMasked adds the annotation with names of members that are not shown.
func (d *Data) nameMasked(names string) {
	if have := d.masked(); have != nil {
		have.first.text += " " + names
		return
	}
	at := &Data{kind: jObject, name: metadata}
	at.addChild(&Data{
		kind: jString,
		name: maskedName,
		text: names,
	})
	if d.first == nil {
		d.addChild(at)
		return
	}
	d.Insert(at, d.first)
}

// masked is the annotation of d with the names of members that are not shown, nil if there is none.
func (d *Data) masked() *Data {
	if d.Node == nil || d.kind != jObject || !d.Node.HasSecrets() {
		return nil
	}
	for c := d.first; c != nil; c = c.next {
		if c.IsMasked() {
			return c
		}
	}
	return nil
}

// IsMasked reports whether d is the annotation of an object with the names of members that are not shown.
func (d *Data) IsMasked() bool {
	return d.Node == nil && d.name == metadata
}

// isMask reports whether d is Mask in place of the text of a secret.
func (d *Data) isMask(n *Node) bool {
	return n.MaskedText() && d.kind == jString && d.text == Mask
}

// Masked reports whether something of d is not its value, but what is shown in place of a secret.
func (d *Data) Masked() bool {
	if d.Node == nil || !d.Node.HasSecrets() {
		return false
	}
	if d.Node.IsLeaf() && d.kind != jArray {
		return d.isMask(d.Node)
	}
	if d.Node.Kind == AnyData {
		return bytes.Contains(d.Append(nil, Canonical), []byte(Mask))
	}
	if d.masked() != nil {
		return true
	}
	for c := range d.All() {
		if c.Masked() {
			return true
		}
	}
	return false
}

// Unmask puts the secrets of stored, an instance of the same node or nil, in the place of what is shown instead of them.
// The error names each that stored does not have.
func (d *Data) Unmask(stored *Data) error {
	return d.unmask(stored).Err()
}

func (d *Data) unmask(stored *Data) (l fault.List) {
	switch {
	case d.Node == nil || !d.Node.HasSecrets():
		return nil
	case d.Node.Kind == AnyData && !d.Node.Secret():
		return d.unmaskGuessed(stored)
	case d.Node.IsLeaf() && d.kind != jArray:
		if !d.isMask(d.Node) {
			return nil
		}
		if stored == nil {
			return fault.List{noSecretStored(d.Path())}
		}
		d.kind, d.text, d.typ = stored.kind, stored.text, stored.typ
		return nil
	}
	l = d.unmaskMembers(stored)
	for c := range d.All() {
		var was *Data
		switch {
		case stored == nil:
		case d.kind != jArray:
			was = stored.Get(c.Node)
		case d.Node.Keyed():
			was = stored.Entry(c.KeyValues())
		}
		l = append(l, c.unmask(was)...)
	}
	return l
}

// unmaskMembers puts the members that were left out back.
func (d *Data) unmaskMembers(stored *Data) (l fault.List) {
	at := d.masked()
	if at == nil {
		return nil
	}
	at.Remove()
	for name := range strings.FieldsSeq(at.first.text) {
		n := d.Node.index[name]
		switch {
		case n == nil || n.secret&leftOutHere == 0:
			l = append(
				l,
				fault.At(
					fault.Invalid,
					d.Path(),
					"the annotation %s names %.60q, which is no secret member here",
					maskedName,
					name,
				),
			)
		case d.Get(n) != nil: // it is written anyhow
		case stored == nil || stored.Get(n) == nil:
			l = append(
				l,
				fault.At(
					fault.Invalid,
					d.Path()+"/"+n.stepName(d.Node),
					"the annotation %s names it, and no secret is stored here: write the secret itself",
					maskedName,
				),
			)
		default:
			d.addChild(stored.Get(n).Clone())
		}
	}
	return l
}

// metadata checks the annotation of an object; only that of masked members is known.
func (v *validator) metadata(c *Data) {
	if c.kind == jObject &&
		c.first != nil &&
		c.first.next == nil &&
		c.first.name == maskedName &&
		c.first.kind == jString {
		return
	}
	v.addFault(
		fault.Unknown,
		c.Path(),
		"the only annotation that is read is %s, the names of secret members that are to be kept",
		maskedName,
	)
}

// hidden is what is reported of a wrong value: of a secret its text must not be in it.
func (n *Node) hidden(why string) string {
	if !n.Secret() {
		return why
	}
	return "the value does not fit the type " + n.Type.Name + "; it is not shown, for it is secret"
}

// UnmarkedSecrets lists the leaves of a module, also those that it adds to others, that have the name of a secret, or are
// in what has, and are marked neither ctl:secret nor ctl:not-secret, with the place of each.
func (s *Set) UnmarkedSecrets(module string) (paths []string) {
	search := unmarkedSearch{module: module}
	for _, m := range s.modules {
		for _, n := range slices.Concat(m.Data, m.Notifications) {
			search.walk(n, "", false)
		}
		search.walkOperations(m.RPCs, "")
	}
	return search.paths
}

// unmarkedSearch looks for leaves with names of secrets that are not marked.
type unmarkedSearch struct {
	module string
	paths  []string
}

func (s *unmarkedSearch) walk(n *Node, path string, guessed bool) {
	a := n.Annotations
	if a != nil && (a.Secret || a.NotSecret) {
		return
	}
	if n.Kind != Choice && n.Kind != Case {
		path += "/" + n.Name
	}
	guessed = guessed || LooksSecret(n.Name)
	if guessed && n.Module == s.module && n.IsLeaf() && !n.key && n.Type.holdsText() {
		s.paths = append(s.paths, path)
	}
	for _, c := range n.Children {
		s.walk(c, path, guessed)
	}
	for _, c := range n.Notifications {
		s.walk(c, path, false)
	}
	s.walkOperations(n.Actions, path)
}

func (s *unmarkedSearch) walkOperations(list []*RPC, path string) {
	for _, r := range list {
		s.walk(r.Input, path+"/"+r.Name, false)
		s.walk(r.Output, path+"/"+r.Name, false)
	}
}
