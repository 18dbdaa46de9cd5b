package service

import (
	"context"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/journal"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// drive makes what controls the switches.
func (s *Service) drive(ctx context.Context, env *sdk.Env) error {
	o := driver.Options{Listed: s.inventory.DriverOf, Deadline: s.set.Drivers.Deadline.Std(), Log: s.log}
	if env.Host != nil {
		j, err := journal.Open(ctx, env.Host.Datastore, s.log)
		if err != nil {
			return fault.Wrap(fault.KindOf(err), err, "the journal of changes cannot be read: %v", err)
		}
		s.journal, o.Journal, o.Board = j, j, env.Host.Switchboard
	}
	turn, release, err := journal.Turn(env.DataDir)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "%v", err)
	}
	o.Turn, s.release = turn, release
	o.Standard = mibdriver.New(s.client).WithJournal(s.journal)
	s.drivers = driver.New(o)
	return nil
}

// find returns a switch of the list.
func (s *Service) find(node uint64) (*switchdriver.Switch, error) {
	return s.inventory.Find(mib.MAC(node))
}
