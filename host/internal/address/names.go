// Package address knows all the ways in which clients write what the controller serves, and finds out what a path addresses.
// Everything behind it asks by that.
package address

import (
	"strings"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/restconf"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
)

// OtherNames are the forms of what a RESTCONF path addresses below its root, for data or an operation: with the name of the
// module, its other names and without, keys after an equals sign or as segments.
func OtherNames(now *restconf.Installed, data bool, below []reqpath.Segment) [][]reqpath.Segment {
	if !data {
		if len(below) != 1 {
			return nil
		}
		return otherRPCs(now, below[0])
	}
	path, err := tree.Parse(now.Schema, below, now.Aliases.Module)
	var action []reqpath.Segment
	if err != nil {
		var r *yang.RPC
		if path, r = tree.ParseAction(now.Schema, below, now.Aliases.Module); r == nil {
			return nil // nothing is there: RESTCONF answers so
		}
		action = append(action, actionName(r, now.Aliases))
	}
	top := path[0].Node
	tops := []string{top.QName()}
	for _, m := range now.Aliases.Names(top.Module) {
		tops = append(tops, m+":"+top.Name)
	}
	var bare []string // the name without its module is no address of its own, but another spelling of one
	if now.Schema.Root.Member(top.Name) == top {
		bare = []string{top.Name}
	}
	var out [][]reqpath.Segment
	for keys := range keyForms(path) {
		for _, t := range tops {
			out = append(out, append(written(path, t, bare, keys, now.Aliases), action...))
		}
	}
	return out
}

// actionName is the last segment of an action's path, with its other spellings: the module may be left out as it may below
// the top of data.
func actionName(r *yang.RPC, aliases *yang.AliasIndex) reqpath.Segment {
	s := reqpath.Segment{
		Raw:     r.Name,
		Decoded: r.Name,
		Also:    []string{r.Module + ":" + r.Name},
	}
	for _, m := range aliases.Names(r.Module) {
		s.Also = append(s.Also, m+":"+r.Name)
	}
	return s
}

// maxKeyForms bounds the forms of the keys of a path: those of the third list and of all below it
// stand after an equals sign, or as segments, alike.
const maxKeyForms = 8

// keyForms is how many ways there are to write the keys of a path.
func keyForms(path tree.Path) int {
	n := 1
	for _, s := range path {
		if len(s.Keys) > 0 && n < maxKeyForms {
			n *= 2
		}
	}
	return n
}

// written writes a path with a name for its top, and the other spellings of that. Keys follow an equals sign or, as the
// older controllers have it, stand as segments: a bit of keys for each list. Below the top the module may
// be left out where it is that of the node above (RFC 8040 section 3.5.3), and always in ours.
func written(
	path tree.Path,
	top string,
	bare []string,
	keys int,
	aliases *yang.AliasIndex,
) []reqpath.Segment {
	out := make([]reqpath.Segment, 0, len(path))
	lists := 0
	for i, step := range path {
		s := reqpath.Segment{
			Raw:     step.Node.Name,
			Decoded: step.Node.Name,
		}
		if i == 0 {
			s.Raw, s.Decoded, s.Also = top, top, append([]string(nil), bare...)
		} else {
			s.Also = []string{step.Node.QName()}
			for _, m := range aliases.Names(step.Node.Module) {
				s.Also = append(s.Also, m+":"+step.Node.Name)
			}
		}
		if len(step.Keys) == 0 {
			out = append(out, s)
			continue
		}
		asSegments := keys>>min(lists, 2)&1 == 1
		lists++
		if asSegments {
			out = append(out, s)
			for _, k := range step.Keys {
				out = append(out, reqpath.Segment{
					Raw:     tree.EscapeKey(k),
					Decoded: k,
				})
			}
			continue
		}
		out = append(out, withKeys(s, step.Keys))
	}
	return out
}

func withKeys(s reqpath.Segment, keys []string) reqpath.Segment {
	raw, decoded := "", ""
	for i, k := range keys {
		sep := ","
		if i == 0 {
			sep = "="
		}
		raw, decoded = raw+sep+tree.EscapeKey(k), decoded+sep+k
	}
	s.Raw, s.Decoded = s.Raw+raw, s.Decoded+decoded
	for i := range s.Also {
		s.Also[i] += decoded
	}
	return s
}

func otherRPCs(now *restconf.Installed, name reqpath.Segment) [][]reqpath.Segment {
	module, rpc, ok := strings.Cut(name.Decoded, ":")
	if !ok || now.Aliases == nil {
		return nil
	}
	module, rpc, _ = now.Aliases.Resolve(module, rpc)
	var out [][]reqpath.Segment
	for _, m := range append(now.Aliases.Names(module), module) {
		for _, r := range append(now.Aliases.RPCNames(module, rpc), rpc) {
			if other := m + ":" + r; other != name.Decoded {
				out = append(out, []reqpath.Segment{{
					Raw:     other,
					Decoded: other,
				}})
			}
		}
	}
	return out
}
