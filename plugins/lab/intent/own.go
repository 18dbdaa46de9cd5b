package intent

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"ctl.internal/sdk/fault"
)

// ownFile is lab.yaml; lab.schema.json describes it.
type ownFile struct {
	Name    string               `yaml:"name"`
	Devices map[string]ownDevice `yaml:"devices"`
	Links   []ownLink            `yaml:"links"`
	VLANs   []ownVLAN            `yaml:"vlans"`
}

type ownDevice struct {
	Address  string `yaml:"address"`
	Optional bool   `yaml:"optional"`
	line     int
}

// ownLink is "DEVICE:PORT -- DEVICE:PORT", or its members.
type ownLink struct {
	A        string `yaml:"a"`
	B        string `yaml:"b"`
	Speed    string `yaml:"speed"`
	Optional bool   `yaml:"optional"`
	line     int
}

type ownVLAN struct {
	ID    int      `yaml:"id"`
	Name  string   `yaml:"name"`
	Ports []string `yaml:"ports"`
	line  int
}

// UnmarshalYAML keeps the line.
func (d *ownDevice) UnmarshalYAML(n *yaml.Node) error {
	type plain ownDevice
	if err := decodeKnown(n, (*plain)(d), "address", "optional"); err != nil {
		return err
	}
	d.line = n.Line
	return nil
}

// UnmarshalYAML takes both ways to write a link.
func (l *ownLink) UnmarshalYAML(n *yaml.Node) error {
	l.line = n.Line
	if n.Kind != yaml.ScalarNode {
		type plain ownLink
		return decodeKnown(n, (*plain)(l), "a", "b", "speed", "optional")
	}
	a, b, ok := strings.Cut(n.Value, " -- ")
	if !ok {
		return fmt.Errorf("line %d: %q is no link: write DEVICE:PORT -- DEVICE:PORT", n.Line, n.Value)
	}
	l.A, l.B = a, b
	return nil
}

// UnmarshalYAML keeps the line.
func (v *ownVLAN) UnmarshalYAML(n *yaml.Node) error {
	type plain ownVLAN
	if err := decodeKnown(n, (*plain)(v), "id", "name", "ports"); err != nil {
		return err
	}
	v.line = n.Line
	return nil
}

// decodeKnown decodes a mapping that has no other members than these: the decoder's own check ends at types that decode
// themselves.
func decodeKnown(n *yaml.Node, out any, members ...string) error {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i]
			if !slices.Contains(members, key.Value) {
				return fmt.Errorf("line %d: there is no member %q here: it is one of %s",
					key.Line, key.Value, strings.Join(members, ", "))
			}
		}
	}
	return n.Decode(out)
}

func readOwn(text []byte) (*Lab, fault.List) {
	var f ownFile
	if faults := decodeYAML(text, &f, true); faults != nil {
		return nil, faults
	}
	lab := &Lab{Name: f.Name}
	for name, d := range f.Devices {
		lab.Devices = append(lab.Devices, Device{
			Name:     name,
			Address:  d.Address,
			Optional: d.Optional,
			Line:     d.line,
		})
	}
	lab.sortDevices()
	var faults fault.List
	for _, x := range f.Links {
		link, err := x.link()
		if err != nil {
			faults = append(faults, lineFault(x.line, "%v", err))
			continue
		}
		lab.Links = append(lab.Links, link)
	}
	for _, v := range f.VLANs {
		vlan := VLAN{
			ID:   v.ID,
			Name: v.Name,
			Line: v.line,
		}
		for _, p := range v.Ports {
			e, err := parseEnd(p)
			if err == nil && e.Port == "" {
				err = fmt.Errorf("%q names no port: write DEVICE:PORT", p)
			}
			if err != nil {
				faults = append(faults, lineFault(v.line, "VLAN %d: %v", v.ID, err))
				continue
			}
			vlan.Ports = append(vlan.Ports, e)
		}
		lab.VLANs = append(lab.VLANs, vlan)
	}
	if len(f.Devices) > 0 {
		faults = append(faults, lab.checkNamed()...)
	}
	return lab, faults
}

// checkNamed finds links and VLANs at devices that the list of devices does not have: where it is written, it is whole,
// so a misspelt name is a fault and no further device.
func (l *Lab) checkNamed() fault.List {
	var faults fault.List
	check := func(e End, line int) {
		if _, known := l.Device(e.Device); !known {
			faults = append(faults, lineFault(line, "%s is not among the devices", e.Device))
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
	return faults
}

func (l ownLink) link() (Link, error) {
	a, err := parseEnd(l.A)
	if err != nil {
		return Link{}, err
	}
	b, err := parseEnd(l.B)
	if err != nil {
		return Link{}, err
	}
	speed, err := parseSpeed(l.Speed)
	if err != nil {
		return Link{}, err
	}
	return Link{
		A:        a,
		B:        b,
		Kbps:     speed,
		Optional: l.Optional,
		Line:     l.line,
	}, nil
}

var speedForm = regexp.MustCompile(`^(\d{1,6}(?:\.\d)?)\s*([KMGT])(?:bit/s|bps)?$`)

// parseSpeed reads "1G", "2.5G" or "100M" as kilobits per second.
func parseSpeed(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	parts := speedForm.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return 0, fmt.Errorf("speed %q: write 100M, 1G, 2.5G", text)
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

// formatSpeed is the short form of a speed.
func formatSpeed(kbps uint64) string {
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
