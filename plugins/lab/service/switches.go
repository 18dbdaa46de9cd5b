package service

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

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

// addPortNames asks switches for the names of their ports where the lab names one that the topology does not name, or
// one in a VLAN: a topology has the names of ports that are up, and tables of VLANs name the others, too.
func (s *Service) addPortNames(ctx context.Context, lab *intent.Lab, found *compare.Found) {
	var group errgroup.Group
	group.SetLimit(maxSwitches)
	for _, node := range nodesToName(lab, compare.Place(lab, found)) {
		group.Go(func() error {
			var out portsOutput
			err := s.host.Operations.Call(ctx, "switch", "ports", map[string]string{"switch": node.ID}, &out)
			if err != nil {
				slog.Warn("the names of a switch's ports are not known", "switch", node.ID, "error", err)
				return nil
			}
			for _, p := range out.Entry {
				if p.Number > 0 { // it is a port of the bridge, which topologies know by this number
					node.NamePort(strconv.Itoa(p.Number), p.Port, p.State == "up")
				}
			}
			return nil
		})
	}
	_ = group.Wait() // each switch that failed is logged
}

// nodesToName are the switches whose ports must be asked for, each once: a lab may have several names for one.
func nodesToName(lab *intent.Lab, places *compare.Places) []*compare.Node {
	var out []*compare.Node
	known := map[*compare.Node]bool{}
	add := func(e intent.End, always bool) {
		n := places.Node(e.Device)
		if n == nil || n.MAC == 0 || known[n] || e.Port == "" {
			return
		}
		if always || !n.HasPort(e.Port) {
			known[n] = true
			out = append(out, n)
		}
	}
	for _, v := range lab.VLANs {
		for _, p := range v.Ports {
			add(p, true)
		}
	}
	for _, l := range lab.Links {
		add(l.A, false)
		add(l.B, false)
	}
	return out
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
) (tables map[*compare.Node]compare.Members, why map[*compare.Node]string) {
	t := newVLANTables(found)
	for _, v := range lab.VLANs {
		var out vlansOutput
		err := s.host.Operations.Call(ctx, "switch", "vlans", map[string]int{"vlan-id": v.ID}, &out)
		if err != nil {
			for _, n := range found.Nodes {
				t.why[n] = err.Error()
			}
			return t.members, t.why
		}
		t.add(v.ID, out)
	}
	return t.members, t.why
}

// vlanTables are the members of VLANs at each node, and why they are not known.
type vlanTables struct {
	members map[*compare.Node]compare.Members
	why     map[*compare.Node]string
	byID    map[string][]*compare.Node // switches by the number of their MAC address, which several topologies may have
	byName  map[string][]*compare.Node // by what a list of switches that failed calls them
}

func newVLANTables(found *compare.Found) *vlanTables {
	t := &vlanTables{
		members: map[*compare.Node]compare.Members{},
		why:     map[*compare.Node]string{},
		byID:    map[string][]*compare.Node{},
		byName:  map[string][]*compare.Node{},
	}
	for _, n := range found.Nodes {
		if n.MAC == 0 {
			t.why[n] = "it is not in the list of switches"
			continue
		}
		id := strconv.FormatUint(n.MAC, 10)
		t.byID[id] = append(t.byID[id], n)
		for _, name := range []string{n.Name, macText(n.MAC)} {
			t.byName[name] = append(t.byName[name], n)
		}
	}
	return t
}

// add adds what all switches say of a VLAN.
func (t *vlanTables) add(vlan int, out vlansOutput) {
	answered := map[*compare.Node]bool{}
	for _, e := range out.Entry {
		for _, n := range t.byID[e.NodeID] {
			answered[n] = true
			if t.members[n] == nil {
				t.members[n] = compare.Members{}
			}
			for _, port := range slices.Concat(e.Tagged, e.Untagged) {
				t.members[n][vlan] = append(t.members[n][vlan], n.PortID(port))
			}
		}
	}
	for _, text := range out.Partial {
		if more := moreForm.FindString(text); more != "" {
			t.addUnnamed(answered, more)
			continue
		}
		t.addFailed(text)
	}
}

// moreForm is the end of a list of switches that failed: "and 3 more".
var moreForm = regexp.MustCompile(`^and [0-9]+ more$`)

// addFailed notes why a switch could not be read: "NAME: why".
func (t *vlanTables) addFailed(text string) {
	for i := range len(text) {
		if !strings.HasPrefix(text[i:], ": ") {
			continue
		}
		nodes := t.byName[text[:i]]
		for _, n := range nodes {
			t.why[n] = text[i+len(": "):]
		}
		if len(nodes) > 0 {
			return
		}
	}
}

// addUnnamed notes that switches failed that are not named: each that has no table may be one.
func (t *vlanTables) addUnnamed(answered map[*compare.Node]bool, more string) {
	for _, nodes := range t.byID {
		for _, n := range nodes {
			if !answered[n] && t.why[n] == "" {
				t.why[n] = "it has no port in the VLAN, or is one of those that failed (" + more + ")"
			}
		}
	}
}

// macText is a MAC address by its number.
func macText(number uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], number)
	return net.HardwareAddr(b[2:]).String()
}
