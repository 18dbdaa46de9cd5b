package restconf

import (
	"encoding/json"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// maxWhere bounds the characters of a filter.
const maxWhere = 4096

// parseWhere reads a filter: an expression of XPath, whose prefixes are names of modules and may be left out.
func parseWhere(s string) (*yang.XPath, error) {
	if len(s) > maxWhere {
		return nil, fault.New(
			fault.Invalid,
			"a filter may have %d characters, this has %d",
			maxWhere,
			len(s),
		)
	}
	x, err := yang.CompileXPath(s)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the filter %.100q cannot be read: %v", s, err)
	}
	return x, nil
}

// passesFilter reports whether a notification passes a filter. One that cannot be evaluated lets nothing pass.
func passesFilter(x *yang.XPath, n *Event, sets []*yang.Set) bool {
	var top *yang.Data
	if notice, s := n.decodeBySet(sets); notice != nil {
		top = yang.NewData(s.Root, false)
		top.Add(notice.Top)
	} else {
		text, err := json.Marshal(map[string]json.RawMessage{n.Name: n.Data})
		if err != nil {
			return false
		}
		if top, err = yang.DecodeAny(text); err != nil {
			return false
		}
	}
	ok, err := x.Holds(top, top)
	return ok && err == nil
}
