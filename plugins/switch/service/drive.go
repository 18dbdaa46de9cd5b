package service

import (
	"context"
	"path/filepath"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/journal"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/sdn"
	"ctl.internal/plugins/switch/shell"
	"ctl.internal/plugins/switch/xmldriver"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/switchcli/hostkeys"
	"ctl.internal/sdk/switchdriver"
)

// drive makes what controls the switches.
func (s *Service) drive(ctx context.Context, env *sdk.Env) error {
	o := driver.Options{Listed: s.inventory.DriverOf, Refuse: s.refuse, Deadline: s.set.Drivers.Deadline.Std(), Log: s.log}
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
	standard := mibdriver.New(s.client).WithJournal(s.journal)
	s.standard = standard
	s.vendors = xmldriver.NewSource(s.below(s.set.Vendor), s.log)
	s.keys = s.hostKeys(env.Host)
	described := xmldriver.New(s.vendors, standard, s.journal, s.keys)
	o.Standard, o.File = standard, described
	s.drivers = driver.New(o)
	described.Beyond = s.drivers.Beyond
	s.sdn = sdn.New(s.drivers, s.set.SDN.settings(), s.log)
	return nil
}

// hostKeys are those of switches whose command line the vendor-specific file describes;
// without a host nothing can keep them.
func (s *Service) hostKeys(h *host.Client) *hostkeys.Keys {
	k := &hostkeys.Keys{Policy: s.set.CLI.HostKeys, File: "etc/switch.yaml", Command: shell.HostKeys, Log: s.log}
	k.Known, _ = s.set.CLI.Check("") // what is wrong was told with the settings
	switch {
	case h != nil:
		k.Store = h.Datastore
	case k.Policy == hostkeys.First:
		k.Policy = hostkeys.Known
	}
	return k
}

// below puts relative paths below the home.
func (s *Service) below(paths []string) (out []string) {
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(s.base, p)
		}
		out = append(out, filepath.Clean(p))
	}
	return out
}

// refuse keeps from being changed in place of another what answers as another switch
// of the list: their addresses were swapped, or one is in the list twice.
func (s *Service) refuse(sw *switchdriver.Switch) error {
	m := s.survey.Impostor(mib.MAC(sw.NodeId))
	if m == 0 {
		return nil
	}
	return fault.Device(fault.Downstream, "switch %s is not changed: what answers at its address says that it is switch %s, which is in the list, too; "+
		"correct the list, or once that is mended read it again with switch:TopoDiscover", switchdriver.Label(sw), m)
}

// find returns a switch of the list.
func (s *Service) find(node uint64) (*switchdriver.Switch, error) {
	return s.inventory.Find(mib.MAC(node))
}
