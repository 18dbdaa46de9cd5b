package server

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"ctl.internal/host/internal/restconf"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// disclosure keeps from a caller what an operation or event says of entries of originals that the caller may not read.
type disclosure struct {
	origins *origins
	from    []*original
	may     func(address string) (may, all bool)
	whole   bool // what names an entry of which not all may be read is kept back, too
}

// disclosureTo is what is kept from the caller of ctx in what a module says; nil = nothing.
func (s *Server) disclosureTo(ctx context.Context, module string) *disclosure {
	if s.catalog == nil || s.aaa == nil {
		return nil
	}
	o := s.catalog.origins.Load()
	who, known := caller.From(ctx)
	if o == nil || len(o.modules[module]) == 0 || !known || who.Domain == pluginDomain {
		return nil
	}
	d := &disclosure{
		origins: o,
		may: func(address string) (may, all bool) {
			return s.aaa.MayRead(ctx, who, address)
		},
	}
	for _, from := range o.modules[module] {
		if _, all := d.may(dataAddress(from.top)); !all {
			d.from = append(d.from, from)
		}
	}
	if len(d.from) == 0 {
		return nil
	}
	return d
}

// denied is an entry that may not be read, nil = names name none.
func (d *disclosure) denied(from *original, names map[string]string) tree.Path {
	for _, path := range from.named(names) {
		may, all := d.may(dataAddress(path))
		if !may || d.whole && !all {
			return path
		}
	}
	return nil
}

// prune removes from an object what names entries that may not be read. It returns false if the object itself does, and what was
// removed.
func (d *disclosure) prune(
	from *original,
	object map[string]any,
	names map[string]string,
) (keep bool, removed []tree.Path) {
	names = withNames(names)
	for name, value := range object {
		text, scalar := value.(string)
		key, ok := d.origins.keyOf(from, name)
		if ok && scalar {
			names[key] = text
		}
	}
	if path := d.denied(from, names); path != nil {
		return false, []tree.Path{path}
	}
	for name, value := range object {
		switch v := value.(type) {
		case map[string]any:
			ok, below := d.prune(from, v, names)
			removed = append(removed, below...)
			if !ok {
				delete(object, name)
			}
		case []any:
			key, _ := d.origins.keyOf(from, name)
			object[name] = slices.DeleteFunc(v, func(one any) bool {
				gone, below := d.hidden(from, key, one, names)
				removed = append(removed, below...)
				return gone
			})
		}
	}
	return true, removed
}

// withNames is a copy of names to which more can be added.
func withNames(names map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, names)
	return out
}

// hidden reports whether an element of an array is left out, and prunes it otherwise.
func (d *disclosure) hidden(
	from *original,
	key string,
	one any,
	names map[string]string,
) (bool, []tree.Path) {
	switch v := one.(type) {
	case map[string]any:
		ok, below := d.prune(from, v, names)
		return !ok, below
	case string:
		if key == "" {
			return false, nil
		}
		with := withNames(names)
		with[key] = v
		if path := d.denied(from, with); path != nil {
			return true, []tree.Path{path}
		}
	}
	return false, nil
}

// refuseInput is the error of a call whose input names an entry that the caller may not read; names are those of its input.
func (d *disclosure) refuseInput(input []byte) (names []map[string]string, err error) {
	object, err := decodeObject(input)
	if err != nil {
		return nil, err
	}
	for _, from := range d.from {
		_, removed := d.prune(from, object, nil)
		if len(removed) > 0 {
			return nil, fault.New(
				fault.Denied,
				"the input names %s, which the caller may not read",
				removed[0],
			)
		}
		named := map[string]string{}
		for name, value := range object {
			text, scalar := value.(string)
			key, ok := d.origins.keyOf(from, name)
			if ok && scalar {
				named[key] = text
			}
		}
		names = append(names, named)
	}
	return names, nil
}

// pruneOutput removes what the caller may not read from an output.
func (d *disclosure) pruneOutput(output []byte, names []map[string]string) ([]byte, error) {
	object, err := decodeObject(output)
	if err != nil {
		return nil, err
	}
	changed := false
	for i, from := range d.from {
		keep, removed := d.prune(from, object, names[i])
		if !keep {
			return nil, fault.New(
				fault.Denied,
				"the output is about %s, which the caller may not read",
				removed[0],
			)
		}
		changed = changed || len(removed) > 0
	}
	if !changed {
		return output, nil
	}
	return json.Marshal(object)
}

func decodeObject(text []byte) (object map[string]any, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	err = dec.Decode(&object)
	return object, err
}

// eventVisible reports whether a subscriber may see an event: it names nothing that the subscriber may not read whole.
func (s *Server) eventVisible(ctx context.Context, e *restconf.Event) bool {
	module, _, _ := strings.Cut(e.Name, ":")
	d := s.disclosureTo(ctx, module)
	if d == nil {
		return true
	}
	d.whole = true
	object, err := decodeObject(e.Data)
	if err != nil {
		return false
	}
	for _, from := range d.from {
		if _, removed := d.prune(from, object, nil); len(removed) > 0 {
			return false
		}
	}
	return true
}
