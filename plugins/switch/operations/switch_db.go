package operations

import (
	"context"
	"strconv"

	"ctl.internal/plugins/switch/csvlist"
	"ctl.internal/plugins/switch/inventory"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

// SwitchList changes the switch list; inventory.Database is one.
type SwitchList interface {
	Add(ctx context.Context, e csvlist.Entry) error
	Remove(ctx context.Context, address string) error
	Replace(ctx context.Context, entries []csvlist.Entry) error
	Reload(ctx context.Context) (inventory.Loaded, error)
}

// switchInfo is grouping switch-info.
type switchInfo struct {
	IP          string `json:"node-ip"`
	MAC         string `json:"node-mac"`
	Community   string `json:"community"`
	CLIUser     string `json:"cli-user-name"`
	CLIPassword string `json:"cli-password"`
	Model       string `json:"model"`
}

// entry checks a switch-info. Paths of its faults are below at.
func (i switchInfo) entry(at string) (csvlist.Entry, fault.List) {
	var l fault.List
	for _, m := range []struct{ leaf, v string }{{"node-ip", i.IP}, {"node-mac", i.MAC}} {
		if m.v == "" {
			l = append(l, fault.At(fault.Missing, at+m.leaf, "%s is missing", m.leaf))
		}
	}
	if len(l) > 0 {
		return csvlist.Entry{}, l
	}
	e, l := csvlist.New(csvlist.Fields{IP: i.IP, MAC: i.MAC, Community: i.Community, CLIUser: i.CLIUser, CLIPassword: i.CLIPassword, Model: i.Model})
	for _, f := range l {
		f.Path = at + f.Path
	}
	return e, l
}

type reloadDBOut struct {
	Result string `json:"reload-db-result"`
}

func (h *Handlers) reloadDB(ctx context.Context, _ operations.None) (*reloadDBOut, error) {
	if _, err := h.List.Reload(ctx); err != nil {
		return nil, err
	}
	return &reloadDBOut{success}, nil
}

type addSwitchEntryOut struct {
	Result string `json:"add-switch-entry-result"`
}

func (h *Handlers) addSwitchEntry(ctx context.Context, in switchInfo) (*addSwitchEntryOut, error) {
	e, l := in.entry("")
	if len(l) > 0 {
		return nil, l.Err()
	}
	if err := h.List.Add(ctx, e); err != nil {
		return nil, err
	}
	return &addSwitchEntryOut{success}, nil
}

type deleteSwitchEntryIn struct {
	IP *string `json:"node-ip"`
}

type deleteSwitchEntryOut struct {
	Result string `json:"delete-switch-entry-result"`
}

func (h *Handlers) deleteSwitchEntry(ctx context.Context, in deleteSwitchEntryIn) (*deleteSwitchEntryOut, error) {
	if in.IP == nil {
		return nil, fault.At(fault.Missing, "node-ip", "node-ip is missing")
	}
	if err := h.List.Remove(ctx, *in.IP); err != nil {
		return nil, err
	}
	return &deleteSwitchEntryOut{success}, nil
}

type clearDBOut struct {
	Result string `json:"clear-db-result"`
}

func (h *Handlers) clearDB(ctx context.Context, _ operations.None) (*clearDBOut, error) {
	if err := h.List.Replace(ctx, nil); err != nil {
		return nil, err
	}
	return &clearDBOut{success}, nil
}

type updateDBIn struct {
	Entries []switchInfo `json:"all-switch-entry"`
}

type updateDBOut struct {
	Result string `json:"update-db-result"`
}

// updateDB replaces the list, or tells every entry that is wrong and changes nothing.
func (h *Handlers) updateDB(ctx context.Context, in updateDBIn) (*updateDBOut, error) {
	var all fault.List
	entries := make([]csvlist.Entry, 0, len(in.Entries))
	for n, i := range in.Entries {
		e, l := i.entry("all-switch-entry[" + strconv.Itoa(n+1) + "]/")
		all, entries = append(all, l...), append(entries, e)
	}
	if len(all) > 0 {
		return nil, all.Err()
	}
	if err := h.List.Replace(ctx, entries); err != nil {
		return nil, err
	}
	return &updateDBOut{success}, nil
}
