package service

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/internal/switchcli/hostkeys"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/vendorfile"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/switchdriver"
)

// setUpDrivers makes what controls the switches.
func (s *Service) setUpDrivers(env *sdk.Env) {
	s.standard = mibdriver.New(s.client)
	s.vendors = vendorfile.NewSource(env.Below(s.set.Vendor...), s.log)
	s.keys = s.hostKeys(env.Host)
	described := vendorfile.New(s.vendors, s.standard, s.keys)
	s.drivers = driver.New(driver.Options{
		Standard: s.standard,
		File:     described,
		Board:    env.Host.Switchboard,
		Listed:   s.inventory.DriverOf,
		Deadline: s.set.Drivers.Deadline.Duration,
		Log:      s.log,
	})
	described.Next = s.drivers.Next
	s.writer = writes.New(writes.Options{
		Find:    s.findSwitch,
		Refuse:  s.refuseImpostor,
		Perform: s.performOperation,
		Repair:  s.drivers.Repair,
		Source:  s.source,
		Log:     s.log,
	})
	s.sdn = driver.NewSDN(s.drivers, s.writer.Do, s.set.SDN.SDNSettings, s.log)
}

// hostKeys are those of switches whose command line the vendor-specific file describes.
func (s *Service) hostKeys(h *host.Client) *hostkeys.Keys {
	k := &hostkeys.Keys{
		Policy:  s.set.CLI.HostKeys,
		File:    "etc/switch.yaml",
		Command: hostKeysCommand,
		Log:     s.log,
	}
	k.Known, _ = s.set.CLI.Check("") // faults were reported with the settings
	k.Store = h.Datastore
	return k
}

// refuseImpostor keeps from being changed in place of another what answers as another switch
// of the list: their addresses were swapped, or one is in the list twice.
func (s *Service) refuseImpostor(sw *switchdriver.Switch) error {
	m := s.survey.Impostor(mib.MAC(sw.NodeId))
	if m == 0 {
		return nil
	}
	return fault.Device(fault.Downstream, "switch %s is not changed: the device at its address reports that it is switch %s, which is also in the list; "+
		"correct the list, or once that is mended read it again with switch:TopoDiscover", switchdriver.Label(sw), m)
}

// findSwitch returns a switch of the list.
func (s *Service) findSwitch(node uint64) (*switchdriver.Switch, error) {
	return s.inventory.Find(mib.MAC(node))
}

// The values of the setting sdn.apply.
const (
	sdnOff = "off"
	sdnDry = "dry-run"
)

// The bounds of applying: switches at a time, and time for one.
const (
	sdnParallel = 16
	sdnTime     = time.Minute
)

// followSDN gives switches the settings for SDN when they first answer, if that is asked.
func (s *Service) followSDN(ctx context.Context) {
	if s.set.SDN.Apply == sdnOff || !s.set.SDN.Any() {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.discovered:
		}
		var g errgroup.Group
		g.SetLimit(sdnParallel)
		for _, sw := range s.inventory.All() {
			o := s.survey.Observation(mib.MAC(sw.NodeId))
			if ctx.Err() != nil ||
				o == nil ||
				o.Stale ||
				s.sdn.Done(sw.NodeId, s.set.SDN.Apply == sdnDry) {
				continue
			}
			g.Go(func() error {
				ctx, cancel := context.WithTimeout(ctx, sdnTime)
				defer cancel()
				s.sdn.Apply(ctx, sw, s.set.SDN.Apply == sdnDry) // it logs and keeps what came of it
				return nil
			})
		}
		_ = g.Wait()
	}
}
