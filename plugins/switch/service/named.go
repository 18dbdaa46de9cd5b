package service

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// switchArg is the argument that names a switch of the list.
func (s *Service) switchArg(required bool) []commands.Argument {
	return []commands.Argument{{
		Name:     "switch",
		Help:     "name (sysName), MAC address, node-id or IP address of one switch",
		Required: required,
		Complete: s.completeSwitch,
	}}
}

// switchHandler makes a handler that gets the switch which its input names.
func switchHandler[In interface{ which() string }, Out any](s *Service,
	f func(context.Context, *switchdriver.Switch, In) (*Out, error)) func(context.Context, In) (*Out, error) {
	return func(ctx context.Context, in In) (*Out, error) {
		sw, err := s.findNamedSwitch(in.which())
		if err != nil {
			return nil, err
		}
		return f(ctx, sw, in)
	}
}

// findNamedSwitch finds the switch that an argument names: by what the commands show of it. A name
// or an address that several have is refused with their MAC addresses.
func (s *Service) findNamedSwitch(arg string) (*switchdriver.Switch, error) {
	ids := idsOf(arg)
	for _, m := range ids {
		if sw, err := s.inventory.Find(m); err == nil {
			return sw, nil
		}
	}
	var match []string
	var found mib.MAC
	for _, e := range s.inventory.Entries() {
		if s.isCalled(e, arg) {
			match, found = append(match, e.MAC.String()), e.MAC
		}
	}
	switch {
	case len(match) == 1:
		return s.inventory.Find(found)
	case len(match) > 1:
		if more := len(match) - 5; more > 0 {
			match = append(match[:5], strconv.Itoa(more)+" more")
		}
		return nil, fault.At(
			fault.Invalid,
			"switch",
			"%.64q may be any of %s; write the MAC address",
			arg,
			strings.Join(match, ", "),
		)
	case len(ids) > 0:
		return s.inventory.Find(ids[0]) // the error says that it is not listed
	}
	return nil, fault.At(
		fault.NotFound,
		"switch",
		"no switch of the list is called %.64q; write its name (sysName), known once it has answered, its MAC address, node-id or IP address: see switch:PrintDB and switch:edges",
		arg,
	)
}

// idsOf are the switches that an argument may mean as MAC address or node-id: twelve
// digits may be either.
func idsOf(arg string) (out []mib.MAC) {
	if m, err := mib.ParseMAC(arg); err == nil {
		out = append(out, m)
	}
	if id, err := strconv.ParseUint(arg, 10, 48); err == nil {
		out = append(out, mib.MAC(id))
	}
	return out
}

// isCalled reports whether a switch has a name or an address, which may have ":port".
func (s *Service) isCalled(e switchlist.Entry, arg string) bool {
	o := s.survey.Observation(e.MAC)
	if o != nil && o.SysName != "" && strings.EqualFold(o.SysName, arg) {
		return true
	}
	if a, err := netip.ParseAddr(arg); err == nil {
		return a == e.Address
	}
	return arg == e.Place()
}

// completeSwitch lists the names, MAC and IP addresses that begin with prefix.
func (s *Service) completeSwitch(_ context.Context, prefix string) []string {
	prefix = strings.ToLower(prefix)
	var names, addresses, macs []string
	offer := func(to *[]string, what string) {
		if strings.HasPrefix(strings.ToLower(what), prefix) &&
			what != "" &&
			!strings.ContainsAny(what, " \t\"'\\|;") &&
			len(*to) < maxCompletions {
			*to = append(*to, what)
		}
	}
	for _, e := range s.inventory.Entries() {
		if o := s.survey.Observation(e.MAC); o != nil {
			offer(&names, o.SysName)
		}
		offer(&macs, e.MAC.String())
		if prefix != "" {
			offer(&addresses, e.Place())
		}
	}
	slices.Sort(names)
	all := slices.Concat(slices.Compact(names), macs, addresses)
	return all[:min(len(all), maxCompletions)]
}
