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
	r, err := s.transact(
		read("Bridge", "_uuid", "name", "ports", "external_ids", "other_config", "stp_enable", "rstp_enable", "status", "rstp_status"),
		read("Port", "_uuid", "name", "interfaces", "tag", "trunks", "vlan_mode", "other_config", "status", "rstp_status"),
		read("Interface", "_uuid", "name", "type", "ofport", "ifindex", "admin_state", "link_state", "mac_in_use", "link_speed"),
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
		interfaces[uuid(i["_uuid"])], byName[text(i["name"])] = i, i
	}
	self, err := choose(r[0].Rows, byName, name, mac)
	if err != nil {
		return nil, err
	}
	b := &Bridge{State: bridge.State{UUID: uuid(self["_uuid"]), Name: text(self["name"]), Names: map[int]string{}},
		STP: truth(self["stp_enable"]) || truth(self["rstp_enable"]), Status: merged(self["status"], self["rstp_status"]), ids: texts(self["external_ids"])}
	for k, v := range b.ids {
		if id, err := strconv.Atoi(strings.TrimPrefix(k, vlanKey)); err == nil && strings.HasPrefix(k, vlanKey) && id >= 1 && id <= switchdriver.MaxVLANID {
			b.Names[id] = v
		}
	}
	members := uuids(self["ports"])
	for _, p := range r[1].Rows {
		if id := uuid(p["_uuid"]); slices.Contains(members, id) {
			b.add(p, interfaces)
		}
	}
	slices.SortFunc(b.Ports, func(p, q *Port) int { return int(p.Number) - int(q.Number) })
	return b, nil
}

// choose finds the bridge that is the switch.
func choose(rows []row, interfaces map[string]row, name string, mac uint64) (row, error) {
	var names []string
	var match []row
	for _, r := range rows {
		n := text(r["name"])
		names = append(names, n)
		local := text(first(interfaces[n]["mac_in_use"]))
		fixed := texts(r["other_config"])["hwaddr"]
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
		return nil, fmt.Errorf("there is no bridge %q; there are %s", name, strings.Join(names, ", "))
	case len(match) == 1:
		return match[0], nil
	case len(rows) == 1:
		return rows[0], nil
	}
	return nil, fmt.Errorf("none of the bridges %s has the MAC address of the switch; name the bridge in etc/switch-driver-ovs.yaml", strings.Join(names, ", "))
}

// add reads a port. The bridge's own, local one is not one of the switch's ports.
func (b *Bridge) add(columns row, interfaces map[string]row) {
	p := &Port{UUID: uuid(columns["_uuid"]), STP: texts(columns["other_config"])["stp-enable"] != "false", Status: merged(columns["status"], columns["rstp_status"])}
	p.Name = text(columns["name"])
	if p.Name == b.Name {
		return
	}
	for _, id := range uuids(columns["interfaces"]) {
		i := interfaces[id]
		n := integer(i["ofport"])
		if n < 1 || n >= reserved {
			continue // the datapath does not have it
		}
		p.Numbers = append(p.Numbers, uint32(n))
		if p.Number != 0 && p.Number < uint32(n) {
			continue
		}
		p.Number, p.IfIndex = uint32(n), uint32(max(0, integer(i["ifindex"])))
		p.AdminStatus, p.OperStatus = status(i["admin_state"]), status(i["link_state"])
		p.Mac, p.Speed = macOf(text(first(i["mac_in_use"]))), uint64(max(0, integer(i["link_speed"])))
	}
	b.Ports = append(b.Ports, p)
	b.State.Ports = append(b.State.Ports, bridge.Port{UUID: p.UUID, Name: p.Name, Number: p.Number,
		Columns: bridge.Columns{Tag: integer(columns["tag"]), Trunks: integers(columns["trunks"]), Mode: text(first(columns["vlan_mode"]))}})
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
		if n := hexadecimal(digits); len(digits) == 16 && n != 0 {
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

func merged(columns ...any) map[string]string {
	out := map[string]string{}
	for _, c := range columns {
		maps.Copy(out, texts(c))
	}
	return out
}

func status(v any) int32 {
	switch first(v) {
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
	return hexadecimal(digits)
}
