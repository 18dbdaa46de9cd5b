// Package intent is a lab as somebody says it shall be: devices, the cables between their ports, and VLANs. It reads
// and writes the forms that people have: lab.yaml, which is ours, containerlab, netlab, and NetBox's list of cables.
package intent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// MaxSize bounds a document, in bytes.
const MaxSize = 8 << 20

// Lab is what shall be.
type Lab struct {
	Name    string
	Devices []Device
	Links   []Link
	VLANs   []VLAN
	// Notes are what of the document is left out, and why.
	Notes []string

	moreNotes int            // that are only counted
	byName    map[string]int // the first indexed of Devices
	indexed   int
}

// Device is a switch or another device. Its name is that which it reports (sysName), or its id here.
type Device struct {
	Name     string
	Address  string // management address; empty when it does not matter
	Optional bool   // whether it may be absent
	Implied  bool   // whether links or VLANs alone name it, and no list of devices
	Line     int    // of the document; 0 when it has none
}

// End is a port of a device; an empty port is any.
type End struct {
	Device, Port string
}

func (e End) String() string {
	if e.Port == "" {
		return e.Device
	}
	return e.Device + ":" + e.Port
}

// Link is a cable.
type Link struct {
	A, B     End
	Kbps     uint64 // speed that both ends shall have; 0 when it does not matter
	Optional bool
	Line     int
}

func (l Link) String() string {
	return l.A.String() + " -- " + l.B.String()
}

// VLAN shall have its ports as members, and lead from each to each other.
type VLAN struct {
	ID    int
	Name  string
	Ports []End
	Line  int
}

// Form is a way to write a lab down.
type Form string

// The forms. Graphviz and Mermaid are written only.
const (
	Own          Form = "lab"
	Containerlab Form = "containerlab"
	Netlab       Form = "netlab"
	NetBox       Form = "netbox"
	Graphviz     Form = "graphviz"
	Mermaid      Form = "mermaid"
)

// Device finds a device by its name.
func (l *Lab) Device(name string) (Device, bool) {
	if l.byName == nil {
		l.byName = map[string]int{}
	}
	for ; l.indexed < len(l.Devices); l.indexed++ {
		if _, twice := l.byName[l.Devices[l.indexed].Name]; !twice {
			l.byName[l.Devices[l.indexed].Name] = l.indexed
		}
	}
	i, ok := l.byName[name]
	if !ok {
		return Device{}, false
	}
	return l.Devices[i], true
}

// maxNotes is how many notes are written; the others are counted.
const maxNotes = 50

// note says what of the document is left out.
func (l *Lab) note(line int, format string, args ...any) {
	if len(l.Notes) == maxNotes {
		l.moreNotes++
		return
	}
	l.Notes = append(l.Notes, fmt.Sprintf("line %d: ", line)+fmt.Sprintf(format, args...))
}

// endNotes says how many more notes there are.
func (l *Lab) endNotes() {
	if l.moreNotes > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("and %d more", l.moreNotes))
		l.moreNotes = 0
	}
}

// entries is how many links, VLANs and ports of VLANs there are.
func (l *Lab) entries() int {
	n := len(l.Links) + len(l.VLANs)
	for _, v := range l.VLANs {
		n += len(v.Ports)
	}
	return n
}

// addMissingDevices adds the devices that only links and VLANs name.
func (l *Lab) addMissingDevices() {
	known := map[string]bool{}
	for _, d := range l.Devices {
		known[d.Name] = true
	}
	add := func(e End, line int) {
		if !known[e.Device] {
			known[e.Device] = true
			l.Devices = append(l.Devices, Device{
				Name:    e.Device,
				Implied: true,
				Line:    line,
			})
		}
	}
	for _, x := range l.Links {
		add(x.A, x.Line)
		add(x.B, x.Line)
	}
	for _, v := range l.VLANs {
		for _, p := range v.Ports {
			add(p, v.Line)
		}
	}
}

// check finds what contradicts itself, whatever the form.
func (l *Lab) check(f *faults) {
	l.checkDevices(f)
	l.checkLinks(f)
	l.checkVLANs(f)
}

func (l *Lab) checkDevices(f *faults) {
	named := map[string]int{}
	for _, d := range l.Devices {
		if first, twice := named[d.Name]; twice {
			f.at(d.Line, "device %s is there already, in line %d", d.Name, first)
		}
		named[d.Name] = d.Line
	}
}

func (l *Lab) checkLinks(f *faults) {
	used := map[End]Link{}
	for _, x := range l.Links {
		if x.A == x.B {
			f.at(x.Line, "the link leads from %s to itself", x.A)
			continue
		}
		for _, e := range []End{x.A, x.B} {
			if e.Port == "" {
				continue
			}
			if first, twice := used[e]; twice {
				f.at(x.Line, "%s has a cable already: %s (line %d)", e, first, first.Line)
			}
			used[e] = x
		}
	}
}

func (l *Lab) checkVLANs(f *faults) {
	ids := map[int]int{}
	for _, v := range l.VLANs {
		if v.ID < 1 || v.ID > 4094 {
			f.at(v.Line, "VLAN %d: an id is 1 to 4094", v.ID)
		}
		if first, twice := ids[v.ID]; twice {
			f.at(v.Line, "VLAN %d is there already, in line %d", v.ID, first)
		}
		ids[v.ID] = v.Line
	}
}

// sortDevices puts the devices in the order of their names.
func (l *Lab) sortDevices() {
	slices.SortStableFunc(l.Devices, func(a, b Device) int {
		return cmp.Compare(a.Name, b.Name)
	})
	l.byName = nil
	l.indexed = 0
}

// parseEnd reads DEVICE:PORT. A device's name has no colon, a port's may have.
func parseEnd(text string) (End, error) {
	device, port, _ := strings.Cut(strings.TrimSpace(text), ":")
	e := End{
		Device: strings.TrimSpace(device),
		Port:   strings.TrimSpace(port),
	}
	if e.Device == "" {
		return End{}, fmt.Errorf("%q names no device: write DEVICE:PORT", shorten(text))
	}
	return e, nil
}
