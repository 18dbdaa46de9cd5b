package ovsdb

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/plugins/switch-driver-ovs/bridge"
	"ctl.internal/sdk/switchdriver"
)

// Bridge is what a host says of a bridge.
type Bridge struct {
	bridge.State
	STP    bool
	Status map[string]string // stp_designated_root and the like
	Ports  []*Port
	ids    map[string]string // all external_ids
}

// Port is what a host says of a port and its first interface.
type Port struct {
	switchdriver.Port
	UUID    string
	STP     bool              // takes part in the spanning tree
	Status  map[string]string // stp_state and the like
	Numbers []uint32          // of all interfaces: a bond has several
}

// vlanKey is where the name of a VLAN is kept in external_ids.
const vlanKey = "vlan-"

// reserved is from where OpenFlow port numbers mean something else (OFPP_MAX).
const reserved = 0xff00

// ReadBridge reads the bridge of a name; without a name that of a MAC address, or the
// only one there is.
func (s *Session) ReadBridge(name string, mac uint64) (*Bridge, error) {
	r, err := s.runTransaction(
		selectOp(
			"Bridge",
			"_uuid",
			"name",
			"ports",
			"external_ids",
			"other_config",
			"stp_enable",
			"rstp_enable",
			"status",
			"rstp_status",
		),
		selectOp(
			"Port",
			"_uuid",
			"name",
			"interfaces",
			"tag",
			"trunks",
			"vlan_mode",
			"other_config",
			"status",
			"rstp_status",
		),
		selectOp(
			"Interface",
			"_uuid",
			"name",
			"type",
			"ofport",
			"ifindex",
			"admin_state",
			"link_state",
			"mac_in_use",
			"link_speed",
		),
	)
	if err != nil {
		return nil, err
	}
	return bridgeOf(r, name, mac)
}

// bridgeOf reads the rows of bridges, ports and interfaces.
func bridgeOf(r []result, name string, mac uint64) (*Bridge, error) {
	interfaces := map[string]row{}
	byName := map[string]row{}
	for _, i := range r[2].Rows {
		interfaces[uuidValue(i["_uuid"])], byName[stringValue(i["name"])] = i, i
	}
	self, err := chooseBridge(r[0].Rows, byName, name, mac)
	if err != nil {
		return nil, err
	}
	b := &Bridge{
		State: bridge.State{
			UUID:  uuidValue(self["_uuid"]),
			Name:  stringValue(self["name"]),
			Names: map[int]string{},
		},
		STP:    boolValue(self["stp_enable"]) || boolValue(self["rstp_enable"]),
		Status: mergeMaps(self["status"], self["rstp_status"]),
		ids:    stringMap(self["external_ids"]),
	}
	for k, v := range b.ids {
		id, err := strconv.Atoi(strings.TrimPrefix(k, vlanKey))
		if err == nil && strings.HasPrefix(k, vlanKey) && id >= 1 && id <= switchdriver.MaxVLANID {
			b.Names[id] = v
		}
	}
	members := uuidValues(self["ports"])
	for _, p := range r[1].Rows {
		if id := uuidValue(p["_uuid"]); slices.Contains(members, id) {
			b.addPort(p, interfaces)
		}
	}
	slices.SortFunc(b.Ports, func(p, q *Port) int {
		return int(p.Number) - int(q.Number)
	})
	return b, nil
}

// chooseBridge finds the bridge that is the switch.
func chooseBridge(rows []row, interfaces map[string]row, name string, mac uint64) (row, error) {
	var names []string
	var match []row
	for _, r := range rows {
		n := stringValue(r["name"])
		names = append(names, n)
		local := stringValue(firstValue(interfaces[n]["mac_in_use"]))
		fixed := stringMap(r["other_config"])["hwaddr"]
		switch {
		case name != "" && n == name:
			return r, nil
		case name == "" && mac != 0 && (macOf(local) == mac || macOf(fixed) == mac):
			match = append(match, r)
		}
	}
	slices.Sort(names)
	switch {
	case name != "":
		return nil, fmt.Errorf(
			"there is no bridge %q; there are %s",
			name,
			strings.Join(names, ", "),
		)
	case len(match) == 1:
		return match[0], nil
	case len(rows) == 1:
		return rows[0], nil
	}
	return nil, fmt.Errorf(
		"none of the bridges %s has the MAC address of the switch; name the bridge in etc/switch-driver-ovs.yaml",
		strings.Join(names, ", "),
	)
}

// addPort reads a port. The bridge's own, local one is not one of the switch's ports.
func (b *Bridge) addPort(columns row, interfaces map[string]row) {
	p := &Port{
		UUID:   uuidValue(columns["_uuid"]),
		STP:    stringMap(columns["other_config"])["stp-enable"] != "false",
		Status: mergeMaps(columns["status"], columns["rstp_status"]),
	}
	p.Name = stringValue(columns["name"])
	if p.Name == b.Name {
		return
	}
	for _, id := range uuidValues(columns["interfaces"]) {
		i := interfaces[id]
		n := intValue(i["ofport"])
		if n < 1 || n >= reserved {
			continue // the datapath does not have it
		}
		p.Numbers = append(p.Numbers, uint32(n))
		if p.Number != 0 && p.Number < uint32(n) {
			continue
		}
		p.Number, p.IfIndex = uint32(n), uint32(max(0, intValue(i["ifindex"])))
		p.AdminStatus, p.OperStatus = operStatus(i["admin_state"]), operStatus(i["link_state"])
		p.Mac, p.Speed = macOf(stringValue(firstValue(i["mac_in_use"]))), uint64(max(0, intValue(i["link_speed"])))
	}
	b.Ports = append(b.Ports, p)
	b.State.Ports = append(b.State.Ports, bridge.Port{
		UUID:   p.UUID,
		Name:   p.Name,
		Number: p.Number,
		Columns: bridge.Columns{
			Tag:    intValue(columns["tag"]),
			Trunks: intValues(columns["trunks"]),
			Mode:   stringValue(firstValue(columns["vlan_mode"])),
		},
	})
}

// Port finds the port of an OpenFlow port number, which may be that of a bond's member.
func (b *Bridge) Port(number uint32) *Port {
	for _, p := range b.Ports {
		if number != 0 && slices.Contains(p.Numbers, number) {
			return p
		}
	}
	return nil
}

// Root is the designated root as dot1dStpPortDesignatedRoot has it: priority and MAC
// address; nil without one.
func (b *Bridge) Root() []byte {
	for _, key := range []string{"stp_designated_root", "rstp_designated_root"} {
		digits := strings.ReplaceAll(b.Status[key], ".", "")
		n := parseHex(digits)
		if len(digits) == 16 && n != 0 {
			return binary.BigEndian.AppendUint64(nil, n)
		}
	}
	return nil
}

// State is dot1dStpPortState of a port.
func (p *Port) State() int32 {
	state := cmp.Or(p.Status["stp_state"], p.Status["rstp_port_state"])
	switch strings.ToLower(state) {
	case "disabled":
		return switchdriver.STPDisabled
	case "blocking", "discarding":
		return switchdriver.STPBlocking
	case "listening":
		return switchdriver.STPListening
	case "learning":
		return switchdriver.STPLearning
	}
	if state == "" && p.OperStatus == 2 { // without a spanning tree a port that is up forwards
		return switchdriver.STPDisabled
	}
	return switchdriver.STPForwarding
}

func mergeMaps(columns ...any) map[string]string {
	out := map[string]string{}
	for _, c := range columns {
		maps.Copy(out, stringMap(c))
	}
	return out
}

func operStatus(v any) int32 {
	switch firstValue(v) {
	case "up":
		return 1
	case "down":
		return 2
	}
	return 0
}

// macOf reads aa:bb:cc:dd:ee:ff; 0 when it is not one.
func macOf(s string) uint64 {
	digits := strings.ReplaceAll(s, ":", "")
	if len(digits) != 12 {
		return 0
	}
	return parseHex(digits)
}
