package aaa

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/right"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// rightCommands are access:sets, access:set-add, access:set-remove, access:rights, access:right-add and access:right-remove.
func (a *AAA) rightCommands() []commands.Command {
	set := commands.Argument{
		Name:     "set",
		Help:     "name of the set",
		Required: true,
		Complete: func(context.Context, string) (out []string) {
			for _, s := range a.rights.Now().Sets() {
				out = append(out, s.Name)
			}
			return out
		},
	}
	return append([]commands.Command{
		{
			Name:    "access:sets",
			Summary: "show the sets of switches, ports and VLANs that rights are for",
			Safe:    true,
			Run:     a.setsCommand,
		},
		a.setAddCommand(set),
		{
			Name:      "access:set-remove",
			Summary:   "remove a set, or a switch or VLANs from it",
			Arguments: []commands.Argument{set},
			Options: []commands.Option{
				{Name: yang.KindSwitch, Help: "only this switch, with its ports"},
				{Name: "vlans", Help: "only these VLANs, as access:sets shows them, with commas between them"},
			},
			Run: a.setRemoveCommand,
		},
	}, a.heldCommands(set)...)
}

// heldCommands are access:rights, access:right-add and access:right-remove.
func (a *AAA) heldCommands(set commands.Argument) []commands.Command {
	holder := commands.Argument{
		Name:     "holder",
		Help:     "user:NAME, user:NAME@REALM or role:NAME; NAME alone is a user of this controller",
		Required: true,
	}
	return []commands.Command{
		{
			Name:    "access:rights",
			Summary: "show who has a right to which set",
			Safe:    true,
			Run:     a.rightsCommand,
		},
		{
			Name:    "access:right-add",
			Summary: "give a user or role the right to view or change what is in a set",
			Help: "access:right-add ann \"bench 3\" change\nWhoever has a right may do nothing else: the trees, other operations and the pages are denied. " +
				"Role admin is not confined.",
			Arguments: []commands.Argument{holder, set, {
				Name:     "may",
				Help:     "what may be done",
				Required: true,
				Values:   []string{right.View, right.Change},
			}},
			Run: a.rightAddCommand,
		},
		{
			Name:      "access:right-remove",
			Summary:   "take a right to a set away",
			Help:      "The last right of a user or role is only taken away with --force: all would be open again that the rules and policies leave open.",
			Arguments: []commands.Argument{holder, set},
			Options: []commands.Option{{
				Name:  "force",
				Short: "f",
				Help:  "although it is the last one",
				Type:  commands.Bool,
			}},
			Run: a.rightRemoveCommand,
		},
	}
}

func (a *AAA) setAddCommand(set commands.Argument) commands.Command {
	return commands.Command{
		Name:    "access:set-add",
		Summary: "make a set, or add ports of a switch and VLANs to it",
		Help: "access:set-add \"bench 3\" --switch sw1 --ports 1-6 --vlans 100-120\nWithout --ports the whole switch is in the set. " +
			"A set is kept with the node-ids of switches and the numbers of ports.",
		Arguments: []commands.Argument{set},
		Options: []commands.Option{
			{Name: yang.KindSwitch, Help: "as the plugin of the switch calls it: its name or an id"},
			{Name: "ports", Help: "names, numbers and ranges of numbers, with commas between them"},
			{Name: "vlans", Help: "numbers and ranges, with commas between them"},
		},
		Run: a.setAdd,
	}
}

func listOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

func (a *AAA) setAdd(ctx context.Context, in *commands.Invocation) error {
	ctx = caller.With(ctx, in.Caller)
	set := right.Set{Name: in.Arg("set")}
	if have := a.rights.Now().Set(set.Name); have != nil {
		set.Switches, set.VLANs = slices.Clone(have.Switches), slices.Clone(have.VLANs)
	}
	for _, vlan := range listOf(in.Option("vlans")) {
		if !slices.Contains(set.VLANs, vlan) {
			set.VLANs = append(set.VLANs, vlan)
		}
	}
	name, ports := in.Option(yang.KindSwitch), listOf(in.Option("ports"))
	switch {
	case name != "":
		sw, err := a.findPorts(ctx, name, ports)
		if err != nil {
			return err
		}
		set.AddSwitch(sw)
	case len(ports) > 0:
		return fault.New(fault.Missing, "ports are of a switch: --switch")
	}
	if err := a.storeEntry(ctx, "/set="+url.PathEscape(set.Name), set); err != nil {
		return err
	}
	return in.Emit(set, func() string { return set.String() + "\n" })
}

// findPorts is a switch with ports as they are kept.
func (a *AAA) findPorts(ctx context.Context, name string, ports []string) (right.Switch, error) {
	if a.o.Ports == nil {
		return right.Switch{}, fault.New(fault.Unavailable, "no plugin that is installed knows switches")
	}
	found, err := a.o.Ports(ctx, name, ports)
	if err != nil {
		return right.Switch{}, err
	}
	if len(found) == 0 || len(ports) > 0 && found[0].Port == 0 {
		return right.Switch{}, fault.New(fault.NotFound, "the switch %q has no such ports", name)
	}
	sw := right.Switch{Node: found[0].Node}
	var numbers []uint32
	for _, one := range found {
		if one.Port != 0 {
			numbers = append(numbers, one.Port)
		}
	}
	sw.Ports = right.Spans(numbers)
	return sw, nil
}

func (a *AAA) storeEntry(ctx context.Context, path string, entry any) error {
	if a.o.StoreRight == nil {
		return fault.New(fault.Unavailable, "this controller keeps no rights")
	}
	if entry == nil {
		return a.o.StoreRight(ctx, path, nil)
	}
	value, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	return a.o.StoreRight(ctx, path, value)
}

func (a *AAA) setRemoveCommand(ctx context.Context, in *commands.Invocation) error {
	ctx = caller.With(ctx, in.Caller)
	have := a.rights.Now().Set(in.Arg("set"))
	if have == nil {
		return fault.New(fault.NotFound, "there is no set %q; access:sets shows them", in.Arg("set"))
	}
	path := "/set=" + url.PathEscape(have.Name)
	name, vlans := in.Option(yang.KindSwitch), listOf(in.Option("vlans"))
	if name == "" && len(vlans) == 0 {
		if err := a.storeEntry(ctx, path, nil); err != nil {
			return err
		}
		return in.Emit(map[string]string{"removed": have.Name}, func() string { return "the set " + have.Name + " is removed\n" })
	}
	set := right.Set{Name: have.Name, Switches: slices.Clone(have.Switches), VLANs: slices.Clone(have.VLANs)}
	if name != "" {
		sw := right.Switch{Node: name}
		if !set.HasSwitch(name) { // it is a name
			var err error
			if sw, err = a.findPorts(ctx, name, nil); err != nil {
				return err
			}
		}
		if !set.HasSwitch(sw.Node) {
			return fault.New(fault.NotFound, "the set %s has no switch %s", set.Name, sw.Node)
		}
		set.Switches = slices.DeleteFunc(set.Switches, func(s right.Switch) bool { return s.Node == sw.Node })
	}
	for _, vlan := range vlans {
		if !slices.Contains(set.VLANs, vlan) {
			return fault.New(fault.NotFound, "the set %s has no VLANs %s", set.Name, vlan)
		}
	}
	set.VLANs = slices.DeleteFunc(set.VLANs, func(v string) bool { return slices.Contains(vlans, v) })
	if err := a.storeEntry(ctx, path, set); err != nil {
		return err
	}
	return in.Emit(set, func() string { return set.String() + "\n" })
}

func (a *AAA) setsCommand(_ context.Context, in *commands.Invocation) error {
	t := &commands.Table{
		Empty: "No sets",
		Columns: []commands.Column{
			{Title: "Set", Key: "set"},
			{Title: "Switch", Key: yang.KindSwitch},
			{Title: "Ports", Key: "ports"},
			{Title: "VLANs", Key: "vlans"},
		},
	}
	for _, s := range a.rights.Now().Sets() {
		vlans := strings.Join(s.VLANs, ",")
		for _, sw := range s.Switches {
			ports := "all"
			if len(sw.Ports) > 0 {
				ports = strings.Join(sw.Ports, ",")
			}
			t.Add(s.Name, sw.Node, ports, vlans)
		}
		if len(s.Switches) == 0 {
			t.Add(s.Name, "", "", vlans)
		}
	}
	return in.Emit(t, nil)
}

func (a *AAA) rightsCommand(_ context.Context, in *commands.Invocation) error {
	t := &commands.Table{
		Empty: "No rights",
		Columns: []commands.Column{
			{Title: "Holder", Key: "holder"},
			{Title: "Set", Key: "set"},
			{Title: "May", Key: "may"},
		},
	}
	for _, r := range a.rights.Now().Rights() {
		t.Add(r.Holder, r.Set, r.May)
	}
	return in.Emit(t, nil)
}

// holderOf is who a command names, as it is kept.
func holderOf(text string) string {
	switch {
	case strings.HasPrefix(text, "role:"):
		return text
	case !strings.HasPrefix(text, "user:"):
		text = "user:" + text
	}
	if !strings.Contains(text, "@") {
		text += "@" + identity.SDN
	}
	return text
}

func (a *AAA) rightAddCommand(ctx context.Context, in *commands.Invocation) error {
	ctx = caller.With(ctx, in.Caller)
	r := right.Right{Holder: holderOf(in.Arg("holder")), Set: in.Arg("set"), May: in.Arg("may")}
	if !a.mayBeThere(ctx, r.Holder) && !strings.HasPrefix(r.Holder, "role:") {
		return fault.New(fault.NotFound, "there is no %s; a user of another realm is user:NAME@REALM", r.Holder)
	}
	if err := a.storeEntry(ctx, rightPath(r.Holder, r.Set), r); err != nil {
		return err
	}
	return in.Emit(r, func() string {
		return r.Holder + " may " + r.May + " what is in " + r.Set + ", and do nothing that is outside of the sets of their rights\n"
	})
}

func rightPath(holder, set string) string {
	return "/right=" + url.PathEscape(holder) + "," + url.PathEscape(set)
}

func (a *AAA) rightRemoveCommand(ctx context.Context, in *commands.Invocation) error {
	holder, set := holderOf(in.Arg("holder")), in.Arg("set")
	all := a.rights.Now().Rights()
	if !slices.ContainsFunc(all, func(r right.Right) bool { return r.Holder == holder && r.Set == set }) {
		return fault.New(fault.NotFound, "%s has no right to %s; access:rights shows them", holder, set)
	}
	ctx = context.WithValue(caller.With(ctx, in.Caller), forceKey{}, in.Flag("force"))
	if err := a.storeEntry(ctx, rightPath(holder, set), nil); err != nil {
		return err
	}
	return in.Emit(map[string]string{"removed": holder + " " + set}, func() string {
		return holder + " has no right to " + set + " any more\n"
	})
}
