package compare

import (
	"strings"
	"unicode"

	"ctl.internal/plugins/lab/intent"
)

// Describe is the network as a lab: what is there is what shall be. Inferred links are left out, and devices that
// report nothing have no address. What is written leads back to the same devices and ports when it is compared.
func Describe(f *Found, name string) *intent.Lab {
	d := describer{
		lab:    &intent.Lab{Name: name},
		labels: map[*Node]string{},
		used:   map[intent.End]bool{},
	}
	d.addDevices(f)
	for _, c := range collectCables(f) {
		if !c.inferred {
			d.addCable(c)
		}
	}
	return d.lab
}

type describer struct {
	lab    *intent.Lab
	labels map[*Node]string
	used   map[intent.End]bool // ports that have a link already
}

func (d *describer) addDevices(f *Found) {
	index := newIndex(f)
	taken := map[string]bool{}
	for _, n := range sortedNodes(f) {
		for _, label := range []string{writtenName(n.Name), writtenName(n.ID), fullID(n)} {
			if taken[label] || !isWritable(label) {
				continue
			}
			if is, _ := index.find(label, n.Address); is != n {
				continue
			}
			taken[label] = true
			d.labels[n] = label
			d.lab.Devices = append(d.lab.Devices, intent.Device{
				Name:    label,
				Address: n.Address,
			})
			break
		}
	}
}

// addCable adds the links of a cable. A port is named once: of the cables that a hub leads to, the others have any.
func (d *describer) addCable(c *cable) {
	link := intent.Link{
		A: d.end(c.a),
		B: d.end(c.b),
	}
	if link.A.Device == "" || link.B.Device == "" || link.A == link.B {
		return
	}
	count := 1
	if link.A.Port == "" && link.B.Port == "" {
		count = c.capacity()
	}
	for range count {
		d.lab.Links = append(d.lab.Links, link)
	}
	d.used[link.A] = true
	d.used[link.B] = true
}

// end is a port as a document has it: by its name, else by its id, else any.
func (d *describer) end(p port) intent.End {
	e := intent.End{Device: d.labels[p.node]}
	for _, text := range []string{p.node.portName(p.id), p.id} {
		if id, wrong := p.node.resolvePort(text); wrong != "" || id != p.id || !isWritable(text) {
			continue
		}
		named := intent.End{
			Device: e.Device,
			Port:   text,
		}
		if !d.used[named] {
			return named
		}
		break
	}
	return e
}

// isWritable reports whether a name is read from a document as it is written into it.
func isWritable(name string) bool {
	return name != "" && name == strings.TrimSpace(name) && !strings.Contains(name, " -- ") &&
		!strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar })
}
