package service

import (
	"context"
	"strconv"

	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

func (s *Service) reloadDB(ctx context.Context, _ operations.None) error {
	_, err := s.database.Reload(ctx)
	return err
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
