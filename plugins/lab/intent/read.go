package intent

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"ctl.internal/sdk/fault"
)

// Read reads a document; an empty form is found by what the document has. The error has every fault with its line.
func Read(text []byte, form Form) (*Lab, Form, error) {
	if len(text) > MaxSize {
		return nil, "", fault.New(fault.TooBig, "the document is larger than %d bytes", MaxSize)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, "", fault.New(fault.Invalid, "the document is empty")
	}
	if form == "" {
		var err error
		if form, err = detectForm(text); err != nil {
			return nil, "", err
		}
	}
	read := map[Form]func([]byte) (*Lab, fault.List){
		Own:          readOwn,
		Containerlab: readContainerlab,
		Netlab:       readNetlab,
		NetBox:       readNetBox,
	}[form]
	if read == nil {
		return nil, "", fault.New(fault.Invalid, "there is no form %q to read: it is one of lab, containerlab, netlab, netbox", form)
	}
	lab, faults := read(text)
	if len(faults) == 0 {
		lab.addMissingDevices()
		faults = lab.check()
	}
	if len(faults) > 0 {
		return nil, form, faults
	}
	return lab, form, nil
}

// detectForm finds the form by the members that only it has.
func detectForm(text []byte) (Form, error) {
	first, _, _ := bytes.Cut(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\n"))
	if isCableHeader(string(first)) {
		return NetBox, nil
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return "", fault.New(fault.Malformed, "%s", explainYAML(err))
	}
	has := map[string]bool{}
	if len(root.Content) > 0 && root.Content[0].Kind == yaml.MappingNode {
		for i := 0; i < len(root.Content[0].Content); i += 2 {
			has[root.Content[0].Content[i].Value] = true
		}
	}
	switch {
	case has["topology"]:
		return Containerlab, nil
	case has["nodes"]:
		return Netlab, nil
	case has["devices"], has["links"], has["vlans"]:
		return Own, nil
	}
	return "", fault.New(fault.Invalid, "the document is no lab that is known: lab.yaml has devices and links, containerlab "+
		"has topology, netlab has nodes and links, NetBox's list of cables has a column side_a_device")
}

// explainYAML is what a fault of YAML says, without the name of the library.
func explainYAML(err error) string {
	return strings.TrimPrefix(err.Error(), "yaml: ")
}

// decodeYAML decodes a document; unknown members are faults where strict.
func decodeYAML(text []byte, out any, strict bool) fault.List {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(strict)
	err := d.Decode(out)
	if err == nil {
		return nil
	}
	var typed *yaml.TypeError
	if !errors.As(err, &typed) {
		return fault.List{fault.New(fault.Malformed, "%s", explainYAML(err))}
	}
	var faults fault.List
	for _, text := range typed.Errors {
		faults = append(faults, fault.New(fault.Malformed, "%s", text))
	}
	return faults
}

// lineFault is a fault at a line of the document.
func lineFault(line int, format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, "line %d: %s", line, fmt.Sprintf(format, args...))
}

// isCableHeader reports whether a line is the header of a list of cables: as NetBox imports it, or as it did before
// version 3.3.
func isCableHeader(line string) bool {
	return strings.Contains(line, "side_a_device") || strings.Contains(line, "termination_a_device")
}

// readNetBox reads a list of cables. Columns that say nothing of devices and ports are left.
func readNetBox(text []byte) (*Lab, fault.List) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = true
	header, err := r.Read()
	if err != nil {
		return nil, fault.List{fault.New(fault.Malformed, "%v", err)}
	}
	columns := map[string]int{}
	for i, name := range header {
		columns[strings.ToLower(strings.TrimSpace(name))] = i
	}
	lab := &Lab{}
	var faults fault.List
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return lab, faults
		}
		if err != nil {
			return nil, append(faults, fault.New(fault.Malformed, "%v", err))
		}
		line, _ := r.FieldPos(0)
		cable := cableRow{row, columns}
		link, f := cable.link(line)
		if f != nil {
			faults = append(faults, f)
			continue
		}
		if link.A.Device != "" {
			lab.Links = append(lab.Links, link)
		}
	}
}

// cableRow is a row of a list of cables.
type cableRow struct {
	cells   []string
	columns map[string]int
}

// cell is that of the first column that is there.
func (c cableRow) cell(names ...string) string {
	for _, name := range names {
		if i, ok := c.columns[name]; ok && i < len(c.cells) {
			return strings.TrimSpace(c.cells[i])
		}
	}
	return ""
}

// link is the cable of a row; the zero Link for one that is planned or taken away.
func (c cableRow) link(line int) (Link, *fault.Error) {
	status := strings.ToLower(c.cell("status"))
	if status == "planned" || status == "decommissioning" {
		return Link{}, nil
	}
	link := Link{
		A: End{
			Device: c.cell("side_a_device", "termination_a_device"),
			Port:   c.cell("side_a_name", "termination_a_name", "termination_a"),
		},
		B: End{
			Device: c.cell("side_b_device", "termination_b_device"),
			Port:   c.cell("side_b_name", "termination_b_name", "termination_b"),
		},
		Line: line,
	}
	if link.A.Device == "" || link.B.Device == "" {
		return Link{}, lineFault(line, "a cable has a device at both sides (side_a_device, side_b_device)")
	}
	return link, nil
}
