package service

import (
	"context"
	"strconv"

	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

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
