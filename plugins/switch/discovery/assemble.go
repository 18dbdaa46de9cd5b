package discovery

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"ctl.internal/plugins/switch/mib"
)

// Tables are the MIB tables of one switch as they were read; any may be empty.
type Tables struct {
	BasePorts  map[uint32]uint32 // dot1dBasePort → ifIndex
	Interfaces map[uint32]Interface
	LLDPPorts  map[uint32]LLDPPort // by lldpLocPortNum
	IfPorts    map[uint32]LLDPPort // the same of LLDP-V2-MIB, by ifIndex
	Remotes    map[mib.RemoteIndex]*Neighbor
	// IfRemotes are neighbours whose tables name the port by its ifIndex: first those
	// of LLDP-V2-MIB, then those of CDP, FDP and EDP.
	IfRemotes [4]map[mib.RemoteIndex]*Neighbor
}

// Interface is a row of ifTable and ifXTable.
type Interface struct {
	Name, Descr string
	MAC         mib.MAC
	Admin, Oper int32
	Speed       uint64 // bit/s
	// Type is ifType; 0 is not asked for: the bridge lists all ports.
	Type int32
}

// LLDPPort is a row of lldpLocPortTable.
type LLDPPort struct {
	ID   Identifier
	Desc string
}

// Assemble gives o the ports and neighbours of the tables. Ports are those of the
// bridge, the interfaces that are ports by their type, where that was asked for, and
// those LLDP speaks on.
func Assemble(o *Observation, t Tables) {
	a := assembler{
		Tables:    t,
		byNumber:  map[uint32]int{},
		byIfIndex: map[uint32]int{},
	}
	for _, n := range slices.Sorted(maps.Keys(t.BasePorts)) {
		a.addPort(n, t.BasePorts[n], true)
	}
	a.addInterfaces()
	local := a.localPorts()
	for _, n := range slices.Sorted(maps.Keys(t.LLDPPorts)) {
		i := a.findOrAddPort(n, local)
		row := t.LLDPPorts[n]
		a.ports[i].LLDPLocal, a.ports[i].LLDP, a.ports[i].LLDPDesc = n, row.ID, row.Desc
	}
	for _, n := range slices.Sorted(maps.Keys(t.IfPorts)) {
		i := a.findOrAddPort(n, a.byIfIndex)
		row := t.IfPorts[n]
		a.ports[i].LLDP, a.ports[i].LLDPDesc = row.ID, row.Desc
	}
	Attach(o, t, func(n uint32) string { return a.ports[a.findOrAddPort(n, local)].ID },
		func(n uint32) string { return a.ports[a.findOrAddPort(n, a.byIfIndex)].ID })
	a.nameByDescr()
	o.Ports = a.ports
}

// nameByDescr names the ports without ifName by their ifDescr, where that is of one port only.
func (a *assembler) nameByDescr() {
	count := map[string]int{}
	for i := range a.ports {
		count[a.ports[i].Descr]++
		if a.ports[i].Name != a.ports[i].Descr {
			count[a.ports[i].Name]++
		}
	}
	for i := range a.ports {
		p := &a.ports[i]
		if p.Name == "" && p.Descr != "" && count[p.Descr] == 1 {
			p.Name = p.Descr
		}
	}
}

// Attach gives o the neighbours of the tables. Ports are found by their LLDP number
// or their ifIndex; a neighbour whose port has no id is left out.
func Attach(o *Observation, t Tables, byLLDP, byIfIndex func(uint32) string) {
	o.Neighbors = nil
	known := map[string]bool{} // ports with a neighbour of a protocol before
	add := func(rows map[mib.RemoteIndex]*Neighbor, port func(uint32) string) {
		now := map[string]bool{}
		for _, ix := range slices.SortedFunc(maps.Keys(rows), compareRemote) {
			n := *rows[ix]
			if len(n.Chassis.ID) == 0 &&
				len(n.Port.ID) == 0 &&
				n.SysName == "" &&
				len(n.Addresses) == 0 {
				o.Notes = append(
					o.Notes,
					fmt.Sprintf(
						"neighbour on port %d sends nothing that identifies it; left out",
						ix.LocalPort,
					),
				)
				continue
			}
			if n.LocalPort = port(ix.LocalPort); n.LocalPort == "" || known[n.LocalPort] {
				continue // the protocols of vendors report the same device in other words
			}
			now[n.LocalPort] = true
			o.Neighbors = append(o.Neighbors, n)
		}
		maps.Copy(known, now)
	}
	add(t.Remotes, byLLDP)
	for i, rows := range t.IfRemotes {
		if i == 0 && len(o.Neighbors) > 0 {
			continue // both MIBs show the same protocol's neighbours
		}
		add(rows, byIfIndex)
	}
}

func compareRemote(x, y mib.RemoteIndex) int {
	return slices.Compare(
		[]uint32{x.LocalPort, x.Mark, x.Index},
		[]uint32{y.LocalPort, y.Mark, y.Index},
	)
}

type assembler struct {
	Tables
	ports     []Port
	byNumber  map[uint32]int
	byIfIndex map[uint32]int
}

func (a *assembler) addPort(number, ifIndex uint32, bridged bool) int {
	p := Port{
		ID:      strconv.FormatUint(uint64(number), 10),
		Number:  number,
		IfIndex: ifIndex,
		Bridged: bridged,
	}
	if _, taken := a.byNumber[number]; taken {
		p.ID = "if" + strconv.FormatUint(uint64(ifIndex), 10)
		for taken {
			p.Number += clash
			_, taken = a.byNumber[p.Number]
		}
	}
	a.byNumber[p.Number] = len(a.ports)
	if f, ok := a.Interfaces[ifIndex]; ok {
		p.Name, p.Descr, p.MAC, p.Admin, p.Oper, p.Speed = f.Name, f.Descr, f.MAC, f.Admin, f.Oper, f.Speed
	}
	if _, taken := a.byIfIndex[ifIndex]; !taken {
		a.byIfIndex[ifIndex] = len(a.ports)
	}
	a.ports = append(a.ports, p)
	return len(a.ports) - 1
}

// findOrAddPort returns the port of an LLDP port number or an ifIndex, making it when no table has it.
func (a *assembler) findOrAddPort(n uint32, known map[uint32]int) int {
	i, ok := known[n]
	if !ok {
		i = a.addPort(n, n, false)
		known[n] = i
	}
	return i
}

// localPorts maps lldpLocPortNum to ports. The number is an ifIndex on most
// switches, a base port on some, neither on a few; the rows' own identifiers show
// first, then what fits the whole table.
func (a *assembler) localPorts() map[uint32]int {
	out := map[uint32]int{}
	numbers := map[uint32]bool{}
	for n := range a.LLDPPorts {
		numbers[n] = true
	}
	for ix := range a.Remotes {
		numbers[ix.LocalPort] = true
	}
	rows := map[string]int{} // an identifier that several rows share names none of them
	for _, row := range a.LLDPPorts {
		rows[idText(row.ID)]++
	}
	asIfIndex, asNumber := 0, 0
	for n := range numbers {
		row := a.LLDPPorts[n]
		if i, ok := a.byIfIndex[n]; ok {
			asIfIndex += a.fitScore(row, i)
		}
		if i, ok := a.byNumber[n]; ok {
			asNumber += a.fitScore(row, i)
		}
	}
	meant := a.byIfIndex
	if asNumber > asIfIndex {
		meant = a.byNumber
	}
	for n := range numbers {
		i, ok := a.portNamed(a.LLDPPorts[n])
		if ok && rows[idText(a.LLDPPorts[n].ID)] == 1 {
			out[n] = i
		} else if i, ok := meant[n]; ok {
			out[n] = i
		}
	}
	return out
}

// fitScore scores how well a row of lldpLocPortTable describes a port: one for being
// possible at all, more for an identifier that agrees.
func (a *assembler) fitScore(row LLDPPort, port int) int {
	p, score := &a.ports[port], 1
	id := mib.Text(row.ID.ID)
	if id != "" && (id == p.Name || id == p.Descr) {
		score += 4
	}
	if row.Desc != "" && (row.Desc == p.Descr || row.Desc == p.Name) {
		score += 2
	}
	if m := mib.MACOf(row.ID.ID); m != 0 && m == p.MAC {
		score += 4
	}
	return score
}

// portNamed finds the one port whose name or address is the row's identifier.
func (a *assembler) portNamed(row LLDPPort) (int, bool) {
	id, mac := mib.Text(row.ID.ID), mib.MACOf(row.ID.ID)
	found := -1
	for i := range a.ports {
		p := &a.ports[i]
		if (id != "" && (id == p.Name || id == p.Descr)) ||
			(row.ID.Subtype == portMAC && mac != 0 && mac == p.MAC) {
			if found >= 0 {
				return 0, false
			}
			found = i
		}
	}
	return found, found >= 0
}
