package intent

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"ctl.internal/sdk/fault"
)

// maxEntries bounds the devices of a document, and its links, VLANs and ports of VLANs together.
const maxEntries = 100_000

// Read reads a document; an empty form is found by what the document has. The error has the faults with their lines.
func Read(text []byte, form Form) (*Lab, Form, error) {
	if len(text) > MaxSize {
		return nil, "", fault.New(fault.TooBig, "the document is larger than %d bytes", MaxSize)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, "", fault.New(fault.Invalid, "the document is empty")
	}
	if form == "" && isCableHeader(firstLine(text)) {
		form = NetBox
	}
	f := &faults{}
	lab := &Lab{}
	if form == NetBox {
		lab.readNetBox(text, f)
	} else {
		root, err := parseYAML(text)
		if err != nil {
			return nil, form, fault.List{err}
		}
		if form == "" {
			form = detectForm(root)
		}
		if err := lab.readYAML(root, form, f); err != nil {
			return nil, "", err
		}
	}
	if len(f.list) == 0 {
		lab.addMissingDevices()
		lab.check(f)
	}
	if len(f.list) > 0 {
		return nil, form, f.all()
	}
	if n := lab.entries(); n > maxEntries || len(lab.Devices) > maxEntries {
		return nil, form, fault.New(fault.TooBig, "the document has %d devices, and %d links, VLANs and ports of VLANs: "+
			"at most %d of each are compared", len(lab.Devices), n, maxEntries)
	}
	lab.endNotes()
	return lab, form, nil
}

// readYAML reads a document of one of the forms that are YAML.
func (l *Lab) readYAML(root *yaml.Node, form Form, f *faults) error {
	switch form {
	case Own:
		l.readOwn(root, f)
	case Containerlab:
		l.readContainerlab(root, f)
	case Netlab:
		l.readNetlab(root, f)
	case "":
		return fault.New(fault.Invalid, "the document is no lab that is known: lab.yaml has devices and links, containerlab "+
			"has topology, netlab has nodes and links, NetBox's list of cables has a column side_a_device")
	default:
		return fault.New(fault.Invalid, "there is no form %q to read: it is one of lab, containerlab, netlab, netbox", form)
	}
	return nil
}

// detectForm finds the form by the members that only it has.
func detectForm(root *yaml.Node) Form {
	has := map[string]bool{}
	if root.Kind == yaml.MappingNode {
		for i := 0; i < len(root.Content); i += 2 {
			has[root.Content[i].Value] = true
		}
	}
	switch {
	case has["topology"]:
		return Containerlab
	case has["nodes"]:
		return Netlab
	case has["devices"], has["links"], has["vlans"]:
		return Own
	}
	return ""
}

// firstLine is the first line that is not empty.
func firstLine(text []byte) string {
	first, _, _ := bytes.Cut(bytes.TrimLeft(text, "\r\n"), []byte("\n"))
	return strings.TrimSpace(string(first))
}
