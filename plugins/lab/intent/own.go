package intent

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readOwn reads lab.yaml; lab.schema.json describes it.
func (l *Lab) readOwn(root *yaml.Node, f *faults) {
	file := f.object(root, "the document", "name", "devices", "links", "vlans")
	l.Name = f.text(file["name"], "name")
	for _, m := range f.members(file["devices"], "devices") {
		l.Devices = append(l.Devices, ownDevice(m, f))
	}
	named := len(l.Devices) > 0
	l.sortDevices()
	for _, n := range f.items(file["links"], "links") {
		if link, ok := ownLink(n, f); ok {
			l.Links = append(l.Links, link)
		}
	}
	for _, n := range f.items(file["vlans"], "vlans") {
		l.VLANs = append(l.VLANs, ownVLAN(n, f))
	}
	if named {
		l.checkNamed(f)
	}
}

func ownDevice(m member, f *faults) Device {
	members := f.object(m.value, m.key, "address", "optional")
	d := Device{
		Name:    m.key,
		Address: f.text(members["address"], "address"),
		Line:    m.line,
	}
	f.scalar(members["optional"], "optional", "true or false", &d.Optional)
	return d
}

// ownLink reads "DEVICE:PORT -- DEVICE:PORT", or a mapping.
func ownLink(n *yaml.Node, f *faults) (Link, bool) {
	link := Link{Line: n.Line}
	var a, b, speed string
	if n.Kind == yaml.ScalarNode {
		var ok bool
		if a, b, ok = strings.Cut(n.Value, " -- "); !ok {
			f.at(n.Line, "%q is no link: write DEVICE:PORT -- DEVICE:PORT", shorten(n.Value))
			return link, false
		}
	} else {
		members := f.object(n, "a link", "a", "b", "speed", "optional")
		a = f.text(members["a"], "a")
		b = f.text(members["b"], "b")
		speed = f.text(members["speed"], "speed")
		f.scalar(members["optional"], "optional", "true or false", &link.Optional)
	}
	var err error
	if link.A, err = parseEnd(a); err == nil {
		link.B, err = parseEnd(b)
	}
	if err == nil {
		link.Kbps, err = parseSpeed(speed)
	}
	if err != nil {
		f.at(n.Line, "%v", err)
	}
	return link, err == nil
}

// maxShown is how many bytes of a value a fault shows.
const maxShown = 100

func shorten(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}

func ownVLAN(n *yaml.Node, f *faults) VLAN {
	members := f.object(n, "a VLAN", "id", "name", "ports")
	v := VLAN{
		Name: f.text(members["name"], "name"),
		Line: n.Line,
	}
	f.scalar(members["id"], "id", "a number", &v.ID)
	for _, p := range f.items(members["ports"], "ports") {
		e, err := parseEnd(f.text(p, "a port"))
		if err == nil && e.Port == "" {
			err = fmt.Errorf("%q names no port: write DEVICE:PORT", shorten(p.Value))
		}
		if err != nil {
			f.at(n.Line, "VLAN %d: %v", v.ID, err)
			continue
		}
		v.Ports = append(v.Ports, e)
	}
	return v
}

// checkNamed finds links and VLANs at devices that the list of devices does not have: where it is written, it is whole,
// so a misspelt name is a fault and no further device.
func (l *Lab) checkNamed(f *faults) {
	check := func(e End, line int) {
		if _, known := l.Device(e.Device); !known {
			f.at(line, "%s is not among the devices", shorten(e.Device))
		}
	}
	for _, x := range l.Links {
		check(x.A, x.Line)
		check(x.B, x.Line)
	}
	for _, v := range l.VLANs {
		for _, p := range v.Ports {
			check(p, v.Line)
		}
	}
}

var speedForm = regexp.MustCompile(`^(\d{1,6}(?:\.\d)?)\s*([KMGT])(?:bit/s|bps)?$`)

// parseSpeed reads "1G", "2.5G" or "100M" as kilobits per second.
func parseSpeed(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	parts := speedForm.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return 0, fmt.Errorf("speed %q: write 100M, 1G, 2.5G", shorten(text))
	}
	number, err := strconv.ParseFloat(parts[1], 64)
	if err != nil {
		return 0, err
	}
	factor := map[string]float64{
		"K": 1,
		"M": 1e3,
		"G": 1e6,
		"T": 1e9,
	}[parts[2]]
	return uint64(number * factor), nil
}

// FormatSpeed is the short form of a speed.
func FormatSpeed(kbps uint64) string {
	for _, unit := range []struct {
		kbps   uint64
		letter string
	}{{1e9, "T"}, {1e6, "G"}, {1e3, "M"}} {
		if kbps >= unit.kbps {
			return strconv.FormatFloat(float64(kbps)/float64(unit.kbps), 'f', -1, 64) + unit.letter
		}
	}
	return strconv.FormatUint(kbps, 10) + "K"
}
