package server

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/restconf"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// disclosure keeps from a caller what an operation or event says of entries of originals that the caller may not read.
type disclosure struct {
	origins *origins
	module  string
	from    []*original
	may     func(address string) (may, all bool)
	whole   bool                     // what names an entry of which not all may be read is kept back, too
	own     func() ([]string, error) // topologies that the plugin of the module observes, which it need not name
	// observer is set for a module whose plugin reads what all sources observe, and answers it in texts that cannot be
	// pruned: a call must name a topology of which the caller may read all.
	observer bool
}

// disclosureTo is what is kept from the caller of ctx in what a module says; nil = nothing.
func (s *Server) disclosureTo(ctx context.Context, module string) *disclosure {
	if s.catalog == nil || s.aaa == nil {
		return nil
	}
	o := s.catalog.origins.Load()
	who, known := caller.From(ctx)
	if o == nil || len(o.modules[module]) == 0 || !known || aaa.IsPlugin(ctx) {
		return nil
	}
	d := &disclosure{
		origins: o,
		module:  module,
		may: func(address string) (may, all bool) {
			return s.aaa.MayRead(ctx, who, address)
		},
	}
	if o.observers[module] != "" {
		d.observer, d.whole = true, true
	}
	if plugin := o.sources[module]; plugin != "" {
		d.own = sync.OnceValues(func() ([]string, error) { return s.topologiesOf(ctx, plugin) })
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

// topologyKey is the key of the list of topologies.
const topologyKey = "topology-id"

// denied is an entry that may not be read, nil = names name none. What names a node or link, and no topology, is of one that the
// plugin of the module observes.
func (d *disclosure) denied(from *original, names map[string]string) tree.Path {
	if path := d.deniedOf(from.named(names)); path != nil {
		return path
	}
	if d.own == nil || from.top[0].Node.QName() != topologyTop || names[topologyKey] != "" || len(names) == 0 {
		return nil
	}
	own, err := d.own()
	if err != nil {
		return from.top // what is not known is kept back
	}
	for _, id := range own {
		with := withNames(names)
		with[topologyKey] = id
		paths := slices.DeleteFunc(from.named(with), func(p tree.Path) bool {
			return p.Node().Name == "topology" // the names are of nothing in it
		})
		if path := d.deniedOf(paths); path != nil {
			return path
		}
	}
	return nil
}

func (d *disclosure) deniedOf(paths []tree.Path) tree.Path {
	for _, path := range paths {
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
	names, others := d.namesIn(from, object, names)
	if others == nil {
		return false, []tree.Path{from.top}
	}
	for _, with := range others {
		if path := d.denied(from, with); path != nil {
			return false, []tree.Path{path}
		}
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
			key, _ := d.origins.keyOf(d.module, from, name)
			object[name] = slices.DeleteFunc(v, func(one any) bool {
				gone, below := d.hidden(from, key, one, names)
				removed = append(removed, below...)
				return gone
			})
		}
	}
	return true, removed
}

// maxNamings bounds the ways to read one object, of which each is asked about.
const maxNamings = 256

// namesIn are names with those of an object's members. Where members have the same key, as the two ends of a link have, any of them may
// go with any of the others: all has each way once, and is nil where there are more than maxNamings.
func (d *disclosure) namesIn(
	from *original,
	object map[string]any,
	outer map[string]string,
) (names map[string]string, all []map[string]string) {
	names = withNames(outer)
	given := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		text, scalar := scalarText(object[name])
		key, ok := d.origins.keyOf(d.module, from, name)
		if ok && scalar {
			given[key] = append(given[key], text)
			names[key] = text
		}
	}
	all = append(all, names)
	for key, texts := range given {
		ways := len(all)
		for i, text := range texts[:len(texts)-1] {
			if slices.Contains(texts[i+1:], text) {
				continue
			}
			if len(all)+ways > maxNamings {
				return names, nil
			}
			for _, one := range all[:ways] {
				with := withNames(one)
				with[key] = text
				all = append(all, with)
			}
		}
	}
	return names, all
}

// scalarText is a text, or a number as it is written.
func scalarText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	}
	return "", false
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
	case string, json.Number:
		if key == "" {
			return false, nil
		}
		with := withNames(names)
		with[key], _ = scalarText(v)
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
		if err := d.refuseUnnamed(from, object); err != nil {
			return nil, err
		}
		_, removed := d.prune(from, object, nil)
		if len(removed) > 0 {
			return nil, fault.New(
				fault.Denied,
				"the input names %s, %s%s",
				removed[0],
				d.denial(),
				d.remedy(),
			)
		}
		named, _ := d.namesIn(from, object, nil)
		names = append(names, named)
	}
	return names, nil
}

// refuseUnnamed is the error of a call that names no topology, if all of them are read for it.
func (d *disclosure) refuseUnnamed(from *original, object map[string]any) error {
	if !d.observer || from.top[0].Node.QName() != topologyTop {
		return nil
	}
	names, _ := d.namesIn(from, object, nil)
	if names[topologyKey] != "" {
		return nil
	}
	return fault.New(
		fault.Denied,
		"all topologies are read for this, and the caller may not read all of %s%s",
		from.top,
		d.remedy(),
	)
}

// permitsCommand is the error of a console command of a plugin that reads what the sources observe: its options are the
// input. Who is at the console on the machine of the controller may read its files anyway.
func (s *Server) permitsCommand(ctx context.Context, plugin string, in *commands.Invocation) error {
	if s.catalog == nil || in.Caller.Address == "" {
		return nil
	}
	o := s.catalog.origins.Load()
	if o == nil {
		return nil
	}
	module, ok := o.observerOf(plugin)
	if !ok {
		return nil
	}
	d := s.disclosureTo(caller.With(ctx, in.Caller), module)
	if d == nil {
		return nil
	}
	options, err := json.Marshal(in.Options)
	if err != nil {
		return err
	}
	_, err = d.refuseInput(options)
	return err
}

// denial is what the caller may not do with an entry that is refused.
func (d *disclosure) denial() string {
	if d.observer {
		return "of which the caller may not read all"
	}
	return "which the caller may not read"
}

// remedy is what the caller of an operation that is refused can do.
func (d *disclosure) remedy() string {
	if d.observer {
		return ": name a topology-id that you may read"
	}
	return ""
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
		if d.refuseUnnamed(from, object) != nil {
			return false
		}
		if _, removed := d.prune(from, object, nil); len(removed) > 0 {
			return false
		}
	}
	return true
}
