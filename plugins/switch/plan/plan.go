// Package plan is what switches shall have: VLANs with their names, ports with their VLANs, descriptions and states. It
// reads plans (YAML, JSON, CSV) and finds the changes that make a switch as planned. It does no I/O.
package plan

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// The bounds of a plan.
const (
	maxDocument = 1 << 20 // octets
	maxSwitches = 5000
	maxVLAN     = 4094
)

// Plan is what shall be.
type Plan struct {
	Name     string   `yaml:"name"`
	VLANs    []VLAN   `yaml:"vlans"`
	Switches []Switch `yaml:"switches"`
}

// VLAN is a VLAN and its name, on each switch that has it by the plan.
type VLAN struct {
	ID   uint32 `yaml:"id"`
	Name string `yaml:"name"`
}

// Switch is what one switch shall have.
type Switch struct {
	Switch string   `yaml:"switch"` // name, MAC address, node-id or IP address
	VLANs  []uint32 `yaml:"vlans"`  // besides those of the ports
	Ports  []Port   `yaml:"ports"`
}

// Port is what a port shall be; nil and empty: as it is.
type Port struct {
	Port        string    `yaml:"port"` // name or number
	Untagged    *uint32   `yaml:"untagged"`
	Tagged      *[]uint32 `yaml:"tagged"`
	Description *string   `yaml:"description"`
	State       string    `yaml:"state"` // up or down
}

// The states of a port.
const (
	Up   = "up"
	Down = "down"
)

// NameOf is the name of a VLAN; empty: the plan gives it none.
func (p *Plan) NameOf(id uint32) string {
	for _, v := range p.VLANs {
		if v.ID == id {
			return v.Name
		}
	}
	return ""
}

// Parse reads a plan: YAML or JSON, or CSV if its first line names columns, of which one is "switch".
func Parse(text []byte) (*Plan, error) {
	if len(text) > maxDocument {
		return nil, invalid("the plan has %d octets; %d are the most", len(text), maxDocument)
	}
	p, err := &Plan{}, error(nil)
	if first, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n")); isHeader(string(first)) {
		p, err = parseCSV(text)
	} else {
		err = parseYAML(text, p)
	}
	if err != nil {
		return nil, err
	}
	return p, p.check()
}

func invalid(format string, args ...any) error {
	return fault.At(fault.Invalid, "document", format, args...)
}

func parseYAML(text []byte, p *Plan) error {
	var whole yaml.Node
	if err := yaml.Unmarshal(text, &whole); err == nil {
		if n := findFraction(&whole); n != nil {
			return invalid("line %d: %s is no whole number; write text that looks like one in quotes", n.Line, n.Value)
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	err := d.Decode(p)
	switch {
	case errors.Is(err, io.EOF):
		return invalid("the plan is empty")
	case err != nil:
		return invalid("the plan cannot be read: %v", err)
	case d.Decode(&yaml.Node{}) != io.EOF:
		return invalid("there is more than one document; write one plan")
	}
	return nil
}

// findFraction finds a number that is not whole: the decoder would cut it off.
func findFraction(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!float" {
		return n
	}
	for _, c := range n.Content {
		if found := findFraction(c); found != nil {
			return found
		}
	}
	return nil
}

// The columns of CSV.
const (
	columnSwitch      = "switch"
	columnPort        = "port"
	columnUntagged    = "untagged"
	columnTagged      = "tagged"
	columnDescription = "description"
	columnState       = "state"
	columnVLAN        = "vlan"
	columnName        = "name"
)

func columns() []string {
	return []string{columnSwitch, columnPort, columnUntagged, columnTagged, columnDescription, columnState,
		columnVLAN, columnName}
}

// isHeader reports whether a line names columns.
func isHeader(line string) bool {
	names := strings.Split(strings.ToLower(strings.TrimPrefix(line, "\ufeff")), ",")
	return slices.ContainsFunc(names, func(n string) bool { return strings.Trim(n, " \"\r") == columnSwitch })
}

// parseCSV reads one line for each port, and for each VLAN: one with a vlan makes it, with its name, at the switch of the
// line, or says its name for all switches.
func parseCSV(text []byte) (*Plan, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(bytes.TrimSpace(text), []byte("\ufeff"))))
	r.TrimLeadingSpace, r.Comment = true, '#'
	header, err := r.Read()
	if err != nil {
		return nil, invalid("the plan cannot be read: %v", err)
	}
	for i, name := range header {
		header[i] = strings.ToLower(strings.TrimSpace(name))
		if !slices.Contains(columns(), header[i]) {
			return nil, invalid("the column %.40q is not known; there are %v", name, columns())
		}
	}
	p := &Plan{}
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return nil, invalid("the plan cannot be read: %v", err)
		}
		line, _ := r.FieldPos(0)
		if err := p.addLine(header, fields); err != nil {
			return nil, invalid("line %d: %v", line, err)
		}
	}
}

// addLine adds a line of CSV. An empty field says nothing; - is none.
func (p *Plan) addLine(header, fields []string) error {
	line := map[string]string{}
	for i, text := range fields {
		line[header[i]] = strings.TrimSpace(text)
	}
	var sw *Switch
	if line[columnSwitch] != "" {
		sw = p.switchNamed(line[columnSwitch])
	}
	if line[columnVLAN] != "" {
		id, err := number(line[columnVLAN])
		if err != nil {
			return err
		}
		if line[columnName] != "" {
			p.VLANs = append(p.VLANs, VLAN{id, line[columnName]})
		}
		if sw != nil {
			sw.VLANs = append(sw.VLANs, id)
		}
	}
	if line[columnPort] == "" {
		return nil
	}
	if sw == nil {
		return fmt.Errorf("the port %.40q has no switch", line[columnPort])
	}
	port, err := portOf(line)
	sw.Ports = append(sw.Ports, port)
	return err
}

const none = "-"

func portOf(line map[string]string) (Port, error) {
	port := Port{Port: line[columnPort], State: line[columnState]}
	if text := line[columnUntagged]; text != "" {
		id, err := number(text)
		if err != nil {
			return port, err
		}
		port.Untagged = &id
	}
	if text := line[columnTagged]; text != "" {
		list := []uint32{}
		for item := range strings.FieldsFuncSeq(strings.Trim(text, none), isSeparator) {
			id, err := number(item)
			if err != nil {
				return port, err
			}
			list = append(list, id)
		}
		port.Tagged = &list
	}
	if text := line[columnDescription]; text != "" {
		if text == none {
			text = ""
		}
		port.Description = &text
	}
	return port, nil
}

func isSeparator(r rune) bool { return strings.ContainsRune(" ;,", r) }

func number(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%.20q is not the number of a VLAN", text)
	}
	return uint32(n), nil
}

func (p *Plan) switchNamed(name string) *Switch {
	for i := range p.Switches {
		if p.Switches[i].Switch == name {
			return &p.Switches[i]
		}
	}
	p.Switches = append(p.Switches, Switch{Switch: name})
	return &p.Switches[len(p.Switches)-1]
}

// check finds all that is wrong with a plan by itself.
func (p *Plan) check() error {
	var l fault.List
	bad := func(format string, args ...any) { l = append(l, fault.At(fault.Invalid, "document", format, args...)) }
	if n := len(p.Switches); n == 0 || n > maxSwitches {
		bad("the plan has %d switches; write 1 to %d below switches", n, maxSwitches)
	}
	names := map[uint32]string{}
	for _, v := range p.VLANs {
		if before, ok := names[v.ID]; ok && before != v.Name {
			bad("VLAN %d has two names, %q and %q", v.ID, before, v.Name)
		}
		names[v.ID] = v.Name
		if !isVLAN(v.ID) {
			bad("%d is not a VLAN, 1 to %d", v.ID, maxVLAN)
		}
		if len(v.Name) > 32 || !switchdriver.Printable(v.Name) {
			bad("%.80q is not a name of up to 32 printable ASCII characters", v.Name)
		}
	}
	seen := map[string]bool{}
	for _, s := range p.Switches {
		if s.Switch == "" || seen[strings.ToLower(s.Switch)] {
			bad("the switch %.40q has no name, or is in the plan twice", s.Switch)
		}
		seen[strings.ToLower(s.Switch)] = true
		s.check(bad)
	}
	return l.Err()
}

func isVLAN(id uint32) bool { return id >= 1 && id <= maxVLAN }

func (s *Switch) check(bad func(format string, args ...any)) {
	for _, id := range s.VLANs {
		if !isVLAN(id) {
			bad("switch %s: %d is not a VLAN, 1 to %d", s.Switch, id, maxVLAN)
		}
	}
	for _, p := range s.Ports {
		var ids []uint32
		if p.Untagged != nil {
			ids = append(ids, *p.Untagged)
		}
		if p.Tagged != nil {
			ids = append(ids, *p.Tagged...)
		}
		slices.Sort(ids)
		where := fmt.Sprintf("switch %s port %s", s.Switch, p.Port)
		if len(slices.Compact(slices.Clone(ids))) != len(ids) {
			bad("%s: a VLAN is there twice", where)
		}
		for _, id := range ids {
			if !isVLAN(id) {
				bad("%s: %d is not a VLAN, 1 to %d", where, id, maxVLAN)
			}
		}
		switch {
		case p.Port == "":
			bad("switch %s: a port has no name", s.Switch)
		case p.State != "" && p.State != Up && p.State != Down:
			bad("%s: the state %.20q is neither up nor down", where, p.State)
		case p.Description != nil && (len(*p.Description) > switchdriver.MaxDescription || !switchdriver.Printable(*p.Description)):
			bad("%s: %.80q is not a description of up to %d printable ASCII characters", where, *p.Description,
				switchdriver.MaxDescription)
		}
	}
}
