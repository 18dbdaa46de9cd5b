package service

import (
	"context"
	"log/slog"
	"strconv"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/lab/compare"
	"ctl.internal/plugins/lab/intent"
)

// maxSwitches is how many switches are asked at the same time.
const maxSwitches = 8

// portsOutput is what of the output of switch:ports is read.
type portsOutput struct {
	Entry []struct {
		Port   string `json:"port"`
		Number int    `json:"number"`
		State  string `json:"state"`
	} `json:"entry"`
}

// addPortNames asks switches for the names of their ports where the lab names one that the topology does not name: a
// topology has the names of ports that are up.
func (s *Service) addPortNames(ctx context.Context, lab *intent.Lab, found *compare.Found) {
	var group errgroup.Group
	group.SetLimit(maxSwitches)
	for _, d := range lab.Devices {
		node := found.Device(d)
		if node == nil || node.MAC == 0 || !namesNoPort(lab, d.Name, node) {
			continue
		}
		group.Go(func() error {
			var out portsOutput
			err := s.host.Operations.Call(ctx, "switch", "ports", map[string]string{"switch": node.ID}, &out)
			if err != nil {
				slog.Warn("the names of a switch's ports are not known", "switch", node.ID, "error", err)
				return nil
			}
			for _, p := range out.Entry {
				node.NamePort(strconv.Itoa(p.Number), p.Port, p.State == "up")
			}
			return nil
		})
	}
	_ = group.Wait() // each switch that failed is logged
}

// vlansOutput is what of the output of switch:vlans is read.
type vlansOutput struct {
	Entry []struct {
		NodeID   string   `json:"node-id"`
		Tagged   []string `json:"tagged-port"`
		Untagged []string `json:"untagged-port"`
	} `json:"entry"`
	Partial []string `json:"partial"`
}

// readVLANs reads the members of the lab's VLANs in all switches. What could not be read is said of each device.
func (s *Service) readVLANs(
	ctx context.Context,
	lab *intent.Lab,
	found *compare.Found,
) (tables map[string]compare.Members, why map[string]string) {
	tables = map[string]compare.Members{}
	why = map[string]string{}
	for _, v := range lab.VLANs {
		var out vlansOutput
		err := s.host.Operations.Call(ctx, "switch", "vlans", map[string]int{"vlan-id": v.ID}, &out)
		if err != nil {
			for _, n := range found.Nodes {
				why[n.ID] = err.Error()
			}
			return tables, why
		}
		for _, e := range out.Entry {
			node := found.NodeByID(e.NodeID)
			if node == nil {
				continue
			}
			if tables[e.NodeID] == nil {
				tables[e.NodeID] = compare.Members{}
			}
			for _, port := range append(e.Tagged, e.Untagged...) {
				tables[e.NodeID][v.ID] = append(tables[e.NodeID][v.ID], node.PortID(port))
			}
		}
	}
	return tables, why
}
