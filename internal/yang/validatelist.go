package yang

import (
	"strconv"
	"strings"

	"ctl.internal/sdk/fault"
)

func (v *validator) checkList(d *Data, n *Node) {
	if !v.ensureArray(d, n) {
		return
	}
	for e := d.first; e != nil; e = e.next {
		e.Node = n
		v.checkObject(e, n)
	}
	if !v.Kept {
		v.checkEntries(d, n)
	}
}

// checkEntries checks the entries of a list together.
func (v *validator) checkEntries(d *Data, n *Node) {
	entries := d.Len()
	v.checkEntryCount(d, n, entries)
	if len(n.Keys) > 0 && entries > 1 {
		v.checkDistinct(d, entries, nil, "an earlier entry has the same key", func(e *Data) string {
			return e.keyText(n)
		})
	}
	for _, group := range n.unique {
		v.checkDistinct(d, entries, notUnique, "an earlier entry has the same "+groupText(group), func(e *Data) string {
			return uniqueText(e, group)
		})
	}
}

func (v *validator) leafList(d *Data, n *Node) {
	if !v.ensureArray(d, n) {
		return
	}
	entries := 0
	for e := range d.All() {
		v.Aliases.unwrapEntry(e, n)
		e.Node = n
		entries++
		before := len(v.faults)
		v.checkLeaf(e, n)
		if v.Kept && len(v.faults) > before {
			v.faults = v.faults[:before]
			e.Remove()
		}
	}
	if v.Kept {
		return
	}
	v.checkEntryCount(d, n, entries)
	if n.Config && entries > 1 {
		v.checkDistinct(d, entries, nil, "the value occurs twice", func(e *Data) string {
			return string(rune(e.kind)) + e.text
		})
	}
}

// ensureArray checks that d is an array, or makes it one where an alias allows that.
func (v *validator) ensureArray(d *Data, n *Node) bool {
	if d.kind == jArray {
		return true
	}
	if (v.Aliases.wrapsNode(n) || v.Single && n.Kind == List) &&
		(n.Kind == List) == (d.kind == jObject) {
		d.wrapInArray(v.a)
		return true
	}
	v.addFault(fault.Invalid, d.Path(), "want an array, got %s", jsonNames[d.kind])
	return false
}

func (v *validator) checkEntryCount(d *Data, n *Node, entries int) {
	switch {
	case uint64(entries) < n.Min && !v.Partial:
		v.addViolation(
			tooFew,
			fault.Invalid,
			d.Path(),
			"at least %d entries are required, there are %d",
			n.Min,
			entries,
		)
	case uint64(entries) > n.Max:
		v.addViolation(
			tooMany,
			fault.Invalid,
			d.Path(),
			"at most %d entries are allowed, there are %d",
			n.Max,
			entries,
		)
	}
}

// checkDistinct reports every entry whose text an earlier one has; an empty text never counts.
func (v *validator) checkDistinct(
	d *Data,
	entries int,
	kind *Violation,
	why string,
	text func(*Data) string,
) {
	seen := make(map[string]struct{}, entries)
	for e := d.first; e != nil; e = e.next {
		t := text(e)
		if t == "" {
			continue
		}
		if _, twice := seen[t]; twice {
			v.addViolation(kind, fault.Invalid, e.Path(), "%s", why)
			continue
		}
		seen[t] = struct{}{}
	}
}

// keyText joins the key values of a list entry; it is empty when one is absent.
func (d *Data) keyText(n *Node) string {
	if len(n.Keys) == 1 {
		if k := d.Get(n.Keys[0]); k != nil {
			return "=" + k.Text()
		}
		return ""
	}
	var b strings.Builder
	for _, kn := range n.Keys {
		k := d.Get(kn)
		if k == nil {
			return ""
		}
		addText(&b, k.Text())
	}
	return b.String()
}

// addText writes s so that no two lists of texts look the same.
func addText(b *strings.Builder, s string) {
	b.WriteString(strconv.Itoa(len(s)))
	b.WriteByte(':')
	b.WriteString(s)
}

// uniqueText joins the leaves that a unique statement names; entries that lack
// one of them do not take part (RFC 7950 section 7.8.3).
func uniqueText(e *Data, group [][]*Node) string {
	var b strings.Builder
	for _, steps := range group {
		at := e
		for _, s := range steps {
			if at = at.Get(s); at == nil {
				return ""
			}
		}
		addText(&b, at.Text())
	}
	return b.String()
}

func groupText(group [][]*Node) string {
	names := make([]string, len(group))
	for i, steps := range group {
		names[i] = steps[len(steps)-1].Name
	}
	return strings.Join(names, " and ")
}
