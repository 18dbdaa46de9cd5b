// Package intent is a lab as somebody says it shall be: devices, the cables between their ports, and VLANs. It reads
// and writes the forms that people have: lab.yaml, which is ours, containerlab, netlab, and NetBox's list of cables.
package intent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ctl.internal/sdk/fault"
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
}

// Device is a switch or another device. Its name is that which it reports (sysName), or its id here.
type Device struct {
	Name     string
	Address  string // management address; empty when it does not matter
	Optional bool   // whether it may be absent
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
	i := slices.IndexFunc(l.Devices, func(d Device) bool { return d.Name == name })
	if i < 0 {
		return Device{}, false
	}
	return l.Devices[i], true
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
				Name: e.Device,
				Line: line,
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
func (l *Lab) check() fault.List {
	var faults fault.List
	say := func(line int, format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		if line > 0 {
			text = fmt.Sprintf("line %d: %s", line, text)
		}
		faults = append(faults, fault.New(fault.Invalid, "%s", text))
	}
	named := map[string]int{}
	for _, d := range l.Devices {
		if first, twice := named[d.Name]; twice {
			say(d.Line, "device %s is there already, in line %d", d.Name, first)
		}
		named[d.Name] = d.Line
	}
	used := map[End]Link{}
	for _, x := range l.Links {
		if x.A == x.B {
			say(x.Line, "the link leads from %s to itself", x.A)
			continue
		}
		for _, e := range []End{x.A, x.B} {
			if e.Port == "" {
				continue
			}
			if first, twice := used[e]; twice {
				say(x.Line, "%s has a cable already: %s (line %d)", e, first, first.Line)
			}
			used[e] = x
		}
	}
	ids := map[int]int{}
	for _, v := range l.VLANs {
		if v.ID < 1 || v.ID > 4094 {
			say(v.Line, "VLAN %d: an id is 1 to 4094", v.ID)
		}
		if first, twice := ids[v.ID]; twice {
			say(v.Line, "VLAN %d is there already, in line %d", v.ID, first)
		}
		ids[v.ID] = v.Line
	}
	return faults
}

// sortDevices puts the devices in the order of their names.
func (l *Lab) sortDevices() {
	slices.SortStableFunc(l.Devices, func(a, b Device) int {
		return cmp.Compare(a.Name, b.Name)
	})
}

// parseEnd reads DEVICE:PORT. A device's name has no colon, a port's may have.
func parseEnd(text string) (End, error) {
	device, port, _ := strings.Cut(strings.TrimSpace(text), ":")
	e := End{
		Device: strings.TrimSpace(device),
		Port:   strings.TrimSpace(port),
	}
	if e.Device == "" {
		return End{}, fmt.Errorf("%q names no device: write DEVICE:PORT", text)
	}
	return e, nil
}
