package service

import (
	"context"
	"strconv"

	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

func (s *Service) listRPCs(m operations.Mux) {
	registerHandler(m, "switch-db:reload-db", s.reloadDB)
	registerResultHandler(m, "switch-db:add-switch-entry", s.addSwitchEntry)
	registerResultHandler(m, "switch-db:delete-switch-entry", s.deleteSwitchEntry)
	registerResultHandler(m, "switch-db:clear-db", s.clearDB)
	registerResultHandler(m, "switch-db:update-db", s.updateDB)
}

type reloadDBOut struct {
	Result   string `json:"reload-db-result"`
	Path     string `json:"path"`
	Switches int    `json:"switches"`
	Problems int    `json:"problems"`
}

func (s *Service) reloadDB(ctx context.Context, _ operations.None) (*reloadDBOut, error) {
	l, err := s.database.Reload(ctx)
	if err != nil {
		return nil, err
	}
	switchlist.Report(s.log, l)
	return &reloadDBOut{"SUCCESS", l.Path, l.Switches, len(l.Problems)}, nil
}

func (s *Service) addSwitchEntry(ctx context.Context, in switchlist.Info) error {
	e, l := in.Entry("")
	if len(l) > 0 {
		return l.Err()
	}
	return s.database.Add(ctx, e)
}

type addressIn struct {
	IP string `json:"node-ip"`
}

func (s *Service) deleteSwitchEntry(ctx context.Context, in addressIn) error {
	return s.database.Remove(ctx, in.IP)
}

func (s *Service) clearDB(ctx context.Context, _ operations.None) error {
	return s.database.Replace(ctx, nil)
}

type updateDBIn struct {
	Entries []switchlist.Info `json:"all-switch-entry"`
}

// updateDB replaces the list, or reports every entry that is wrong and changes nothing.
func (s *Service) updateDB(ctx context.Context, in updateDBIn) error {
	var all fault.List
	entries := make([]switchlist.Entry, 0, len(in.Entries))
	for n, i := range in.Entries {
		e, l := i.Entry("all-switch-entry[" + strconv.Itoa(n+1) + "]/")
		all, entries = append(all, l...), append(entries, e)
	}
	if len(all) > 0 {
		return all.Err()
	}
	return s.database.Replace(ctx, entries)
}

// rows is the answer of an RPC whose command shows a table: the members are the columns' keys.
type rows struct {
	Entries commands.Table `json:"entry"`
}

// tableHandler makes a handler of a table that is always at hand.
func tableHandler(table func() commands.Table) func(context.Context, operations.None) (*rows, error) {
	return func(context.Context, operations.None) (*rows, error) {
		return &rows{table()}, nil
	}
}

type listedSwitch struct {
	ofSwitch
	lastAnswer
	MAC     string `json:"mac-address"`
	Address string `json:"address"`
	Version string `json:"snmp-version"`
	Model   string `json:"model,omitempty"`
	Driver  any    `json:"driver"`
	State   string `json:"state"`
}

type switchLines struct {
	switchlist.Loaded
	Stored  bool           `json:"stored"`
	At      string         `json:"loaded,omitempty"`
	Entries []listedSwitch `json:"entry"`
}

// switchLines is the switch list without its secrets, and what was wrong with its file.
func (s *Service) switchLines(context.Context, operations.None) (*switchLines, error) {
	l := s.inventory.Last()
	out := &switchLines{
		Loaded:  reportOfList(l),
		Stored:  l.Stored,
		At:      formatTime(l.At),
		Entries: []listedSwitch{},
	}
	for _, e := range s.inventory.Entries() {
		out.Entries = append(out.Entries, listedSwitch{
			ofSwitch:   s.switchIdentity(e.MAC),
			lastAnswer: s.lastAnswerOf(e.MAC),
			MAC:        e.MAC.String(),
			Address:    e.Place(),
			Version:    formatVersion(e),
			Model:      e.Model,
			Driver:     s.driverOf(e),
			State:      s.switchState(e),
		})
	}
	return out, nil
}
