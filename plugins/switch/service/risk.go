package service

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// risk finds out why a port should not be switched off.
type risk struct {
	s    *Service
	sw   *switchdriver.Switch
	o    *discovery.Observation
	port *discovery.Port
}

// refuseRisk refuses to switch a port off that leads to another switch, is of an aggregate, or carries the way to the
// controller, with the reasons. What cannot be read is a reason, too.
func (s *Service) refuseRisk(ctx context.Context, sw *switchdriver.Switch, number uint32) error {
	o := s.survey.Observation(mib.MAC(sw.NodeId))
	if o == nil {
		var err error
		if o, _, err = s.readCurrent(ctx, sw); err != nil {
			return err
		}
	}
	i := slices.IndexFunc(o.Ports, func(p discovery.Port) bool {
		return p.Number == number
	})
	if i < 0 {
		return fault.At(
			fault.NotFound,
			"port",
			"switch %s has no port %d",
			switchdriver.Label(sw),
			number,
		)
	}
	r := risk{s, sw, o, &o.Ports[i]}
	var reasons []string
	for _, find := range []func(context.Context) string{r.leads, r.aggregate, r.way} {
		if why := find(ctx); why != "" {
			reasons = append(reasons, why)
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	return fault.At(fault.InUse, "port", "port %s of switch %s is not switched off, because %s; nothing was sent; write force to do it nevertheless",
		portName(o.Ports[i]), switchdriver.Label(sw), strings.Join(reasons, ", and because "))
}

// leads reports the switch behind the port.
func (r risk) leads(context.Context) string {
	m := mib.MAC(r.sw.NodeId)
	p := r.s.currentPlaces()
	if p.obs[m] == nil {
		return ""
	}
	if peer := p.peerOf(m, r.port); peer != 0 {
		return "it leads to switch " + r.s.switchIdentity(peer).Switch
	}
	if p.leadsOn(m, r.port.Number) {
		return "addresses of another switch, or of very many stations, are behind it"
	}
	return ""
}

// aggregate reports that the port is an aggregate, or in one.
func (r risk) aggregate(ctx context.Context) string {
	ports, err := r.s.standard.Aggregates(ctx, r.sw, r.o.Ports)
	switch {
	case fault.KindOf(err) == fault.Unsupported:
		ports = r.o.Ports
	case err != nil:
		return "it cannot be read whether it is in an aggregate: " + err.Error()
	}
	for _, p := range ports {
		switch {
		case p.Number == r.port.Number && p.Aggregate != 0:
			return "it is a member of the aggregate " + nameOfInterface(ports, p.Aggregate)
		case p.Aggregate != 0 && p.Aggregate == r.port.IfIndex:
			return "it is an aggregate with the member " + portName(p)
		}
	}
	return ""
}

func nameOfInterface(ports []discovery.Port, ifIndex uint32) string {
	i := slices.IndexFunc(ports, func(p discovery.Port) bool {
		return p.IfIndex == ifIndex
	})
	if i < 0 {
		return fmt.Sprintf("with ifIndex %d", ifIndex)
	}
	return portName(ports[i])
}

// way reports that the switch sends to the controller by the port.
func (r risk) way(ctx context.Context) string {
	carries, err := r.carriesController(ctx)
	switch {
	case fault.KindOf(err) == fault.Unsupported:
		return ""
	case err != nil:
		return "it cannot be read whether it carries the way to the controller: " + err.Error()
	case carries:
		return "it carries the way from the switch to the controller"
	}
	return ""
}

// carriesController looks for the addresses by which the switch reaches the controller in its forwarding table: that of
// the controller, or that of the gateway.
func (r risk) carriesController(ctx context.Context) (bool, error) {
	macs, err := r.nextHops(ctx)
	if err != nil {
		return false, err
	}
	for _, m := range macs {
		page, err := r.s.drivers.ReadFDB(
			ctx,
			r.sw,
			driver.Query{
				MAC:   uint64(m),
				Limit: driver.PageSize,
			},
		)
		if err != nil {
			return false, err
		}
		for _, e := range page.Entries {
			if e.Port == r.port.Number {
				return true, nil
			}
		}
	}
	return false, nil
}

// nextHops are the MAC addresses that the switch sends to on the way to the controller.
func (r risk) nextHops(ctx context.Context) (out []mib.MAC, err error) {
	local, err := localAddress(ctx, r.sw)
	if err != nil {
		return nil, err
	}
	out = ownMACs(local)
	d, known, err := driver.For[switchdriver.ARPReader](ctx, r.s.drivers, r.sw, "ReadArp")
	if err != nil {
		return nil, err
	}
	gateway, err := r.s.standard.Gateway(ctx, r.sw)
	if err != nil && fault.KindOf(err) != fault.Unsupported {
		return nil, err
	}
	for _, a := range []netip.Addr{local, gateway} {
		if !a.IsValid() || !a.Is4() {
			continue
		}
		entries, err := d.ReadARP(ctx, known, a.String())
		if err != nil &&
			fault.KindOf(err) != fault.NotFound &&
			fault.KindOf(err) != fault.Unsupported {
			return nil, err
		}
		for _, e := range entries {
			out = append(out, mib.MAC(e.Mac))
		}
		if len(out) > 0 {
			break // the controller is in a subnet of the switch: the gateway is not on the way
		}
	}
	return out, nil
}

// localAddress is the address of this controller from which it speaks to a switch. Nothing is sent.
func localAddress(ctx context.Context, sw *switchdriver.Switch) (netip.Addr, error) {
	port := max(sw.GetSnmp().GetPort(), 1)
	c, err := (&net.Dialer{}).DialContext(
		ctx,
		"udp",
		net.JoinHostPort(sw.Address, strconv.Itoa(int(port))),
	)
	if err != nil {
		return netip.Addr{}, fault.Wrap(
			fault.Unavailable,
			err,
			"the way to switch %s is not known: %v",
			switchdriver.Label(sw),
			err,
		)
	}
	defer c.Close()
	a, err := netip.ParseAddrPort(c.LocalAddr().String())
	return a.Addr().Unmap(), err
}

// ownMACs are those of the interface that has an address. None is known where interfaces may not be listed.
func ownMACs(local netip.Addr) (out []mib.MAC) {
	all, err := net.Interfaces()
	if err != nil {
		return nil
	}
	for _, i := range all {
		addresses, err := i.Addrs()
		if err != nil || mib.MACOf(i.HardwareAddr) == 0 {
			continue
		}
		for _, a := range addresses {
			p, err := netip.ParsePrefix(a.String())
			if err == nil && p.Addr().Unmap() == local {
				out = append(out, mib.MACOf(i.HardwareAddr))
			}
		}
	}
	return out
}
