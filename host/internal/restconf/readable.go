package restconf

import (
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
)

// removeUnreadable takes out of an answer what the caller may not read (RFC 8341 section 3.2.4); at is at p, which
// may be read itself.
func removeUnreadable(p tree.Path, at *yang.Data, readable func(string) (may, all bool)) {
	if at.Node.Kind == yang.AnyData {
		return
	}
	whole := at.IsArray()
	for c := range at.All() {
		step := tree.Step{Node: c.Node}
		var below tree.Path
		if whole {
			step.Keys = c.KeyValues()
			below = append(p[:len(p)-1:len(p)-1], step)
		} else {
			below = append(p[:len(p):len(p)], step)
		}
		may, all := false, false
		if !whole || len(step.Keys) > 0 { // an entry without keys has no path to be permitted at
			may, all = readable(rfc8040.root + "/data" + below.Key())
		}
		if may && !all {
			removeUnreadable(below, c, readable)
		}
		if !may || !all && c.IsArray() && c.First() == nil {
			c.Remove()
		}
	}
}
