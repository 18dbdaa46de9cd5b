package intent

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"

	"ctl.internal/sdk/fault"
)

// isCableHeader reports whether a line is the header of a list of cables: as NetBox imports it, or as it did before
// version 3.3.
func isCableHeader(line string) bool {
	line = strings.ToLower(line)
	return strings.Contains(line, "side_a_device") || strings.Contains(line, "termination_a_device")
}

// readNetBox reads a list of cables. Columns that say nothing of devices and ports are left.
func (l *Lab) readNetBox(text []byte, f *faults) {
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = true
	header, err := r.Read()
	if err != nil {
		f.add(fault.New(fault.Malformed, "%v", err))
		return
	}
	columns := map[string]int{}
	for i, name := range header {
		columns[strings.ToLower(strings.TrimSpace(name))] = i
	}
	line, _ := r.FieldPos(0)
	if !checkHeader(header, columns, line, f) {
		return
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			f.add(fault.New(fault.Malformed, "%v", err))
			return
		}
		line, _ := r.FieldPos(0)
		l.addCable(cableRow{row, columns}, line, f)
	}
}

// checkHeader reports whether a list has the columns of its devices, and says how its columns are separated otherwise.
func checkHeader(header []string, columns map[string]int, line int, f *faults) bool {
	whole := strings.Join(header, ",")
	for separator, name := range map[string]string{";": "semicolons", "\t": "tabs"} {
		if len(header) == 1 && strings.Contains(whole, separator) {
			f.at(line, "the columns are separated by %s: separate them by commas", name)
			return false
		}
	}
	for _, side := range []string{"a", "b"} {
		_, now := columns["side_"+side+"_device"]
		_, before := columns["termination_"+side+"_device"]
		if !now && !before {
			f.at(line, "the list of cables has no column side_%s_device: its columns are %s", side, whole)
			return false
		}
	}
	return true
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

// linkTypes are the kinds of ends of cables between ports of devices; the empty one where a list does not say it.
var linkTypes = map[string]bool{
	"":          true,
	"interface": true,
	"frontport": true,
	"rearport":  true,
}

// addCable adds the cable of a row. One that is not there yet or any more, or is no link, is a note.
func (l *Lab) addCable(c cableRow, line int, f *faults) {
	status := strings.ToLower(c.cell("status"))
	if status == "planned" || status == "decommissioning" {
		l.note(line, "the cable is left out: its status is %s", status)
		return
	}
	for _, name := range []string{
		c.cell("side_a_type", "termination_a_type"),
		c.cell("side_b_type", "termination_b_type"),
	} {
		if !linkTypes[strings.TrimPrefix(strings.ToLower(name), "dcim.")] {
			l.note(line, "the cable is left out: it ends at a %s, which is no port of a network", name)
			return
		}
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
		f.at(line, "a cable has a device at both sides (side_a_device, side_b_device)")
		return
	}
	l.Links = append(l.Links, link)
}
