package intent

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"ctl.internal/sdk/fault"
)

// Write writes a lab in a form.
func Write(l *Lab, form Form) ([]byte, error) {
	switch form {
	case Own:
		return writeOwn(l)
	case Containerlab:
		return writeContainerlab(l)
	case Netlab:
		return writeNetlab(l)
	case NetBox:
		return writeNetBox(l)
	case Graphviz:
		return writeGraphviz(l), nil
	case Mermaid:
		return writeMermaid(l), nil
	}
	return nil, fault.New(fault.Invalid, "there is no form %q: it is one of lab, containerlab, netlab, netbox, graphviz, mermaid", form)
}

func encodeYAML(v any) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

func writeOwn(l *Lab) ([]byte, error) {
	type device struct {
		Address  string `yaml:"address,omitempty"`
		Optional bool   `yaml:"optional,omitempty"`
	}
	type link struct {
		A        string `yaml:"a"`
		B        string `yaml:"b"`
		Speed    string `yaml:"speed,omitempty"`
		Optional bool   `yaml:"optional,omitempty"`
	}
	type vlan struct {
		ID    int      `yaml:"id"`
		Name  string   `yaml:"name,omitempty"`
		Ports []string `yaml:"ports,flow"`
	}
	out := struct {
		Name    string            `yaml:"name,omitempty"`
		Devices map[string]device `yaml:"devices,omitempty"`
		Links   []any             `yaml:"links,omitempty"`
		VLANs   []vlan            `yaml:"vlans,omitempty"`
	}{
		Name:    l.Name,
		Devices: map[string]device{},
	}
	for _, d := range l.Devices {
		out.Devices[d.Name] = device{d.Address, d.Optional}
	}
	for _, x := range l.Links {
		if x.Kbps == 0 && !x.Optional {
			out.Links = append(out.Links, x.String())
			continue
		}
		row := link{
			A:        x.A.String(),
			B:        x.B.String(),
			Optional: x.Optional,
		}
		if x.Kbps > 0 {
			row.Speed = FormatSpeed(x.Kbps)
		}
		out.Links = append(out.Links, row)
	}
	for _, v := range l.VLANs {
		row := vlan{
			ID:   v.ID,
			Name: v.Name,
		}
		for _, p := range v.Ports {
			row.Ports = append(row.Ports, p.String())
		}
		out.VLANs = append(out.VLANs, row)
	}
	return encodeYAML(out)
}

func writeContainerlab(l *Lab) ([]byte, error) {
	type node struct {
		Kind    string `yaml:"kind"`
		Address string `yaml:"mgmt-ipv4,omitempty"`
	}
	type link struct {
		Endpoints []string `yaml:"endpoints,flow"`
	}
	var out struct {
		Name     string `yaml:"name"`
		Topology struct {
			Nodes map[string]node `yaml:"nodes"`
			Links []link          `yaml:"links"`
		} `yaml:"topology"`
	}
	out.Name = l.Name
	if out.Name == "" {
		out.Name = "lab"
	}
	out.Topology.Nodes = map[string]node{}
	for _, d := range l.Devices {
		out.Topology.Nodes[d.Name] = node{"linux", d.Address}
	}
	for _, x := range l.Links {
		out.Topology.Links = append(out.Topology.Links, link{[]string{x.A.String(), x.B.String()}})
	}
	return encodeYAML(out)
}

func writeNetlab(l *Lab) ([]byte, error) {
	type end struct {
		Node   string `yaml:"node"`
		IfName string `yaml:"ifname,omitempty"`
	}
	type link struct {
		Interfaces []end  `yaml:"interfaces"`
		Bandwidth  uint64 `yaml:"bandwidth,omitempty"`
	}
	out := struct {
		Name  string   `yaml:"name,omitempty"`
		Nodes []string `yaml:"nodes"`
		Links []link   `yaml:"links"`
	}{Name: l.Name}
	for _, d := range l.Devices {
		out.Nodes = append(out.Nodes, d.Name)
	}
	for _, x := range l.Links {
		out.Links = append(out.Links, link{
			Interfaces: []end{{x.A.Device, x.A.Port}, {x.B.Device, x.B.Port}},
			Bandwidth:  x.Kbps,
		})
	}
	return encodeYAML(out)
}

// cableColumns are those that NetBox imports cables with.
var cableColumns = []string{
	"side_a_device", "side_a_type", "side_a_name",
	"side_b_device", "side_b_type", "side_b_name",
	"status",
}

func writeNetBox(l *Lab) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{cableColumns}
	for _, x := range l.Links {
		rows = append(rows, []string{
			x.A.Device, "dcim.interface", x.A.Port,
			x.B.Device, "dcim.interface", x.B.Port,
			"connected",
		})
	}
	if err := w.WriteAll(rows); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func writeGraphviz(l *Lab) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "graph %q {\n  node [shape=box];\n", l.Name)
	for _, d := range l.Devices {
		fmt.Fprintf(&b, "  %q;\n", d.Name)
	}
	for _, x := range l.Links {
		fmt.Fprintf(&b, "  %q -- %q [taillabel=%q, headlabel=%q];\n", x.A.Device, x.B.Device, x.A.Port, x.B.Port)
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// writeMermaid names the nodes by numbers: what Mermaid takes as an id is narrower than the names of devices.
func writeMermaid(l *Lab) []byte {
	var b bytes.Buffer
	b.WriteString("graph LR\n")
	ids := map[string]string{}
	for i, d := range l.Devices {
		ids[d.Name] = fmt.Sprintf("n%d", i+1)
		fmt.Fprintf(&b, "  %s[\"%s\"]\n", ids[d.Name], escapeMermaid(d.Name))
	}
	for _, x := range l.Links {
		label := escapeMermaid(strings.Trim(x.A.Port+" – "+x.B.Port, " –"))
		fmt.Fprintf(&b, "  %s ---|\"%s\"| %s\n", ids[x.A.Device], label, ids[x.B.Device])
	}
	return b.Bytes()
}

func escapeMermaid(text string) string {
	return strings.NewReplacer(`"`, "#quot;", "|", "#124;").Replace(text)
}
