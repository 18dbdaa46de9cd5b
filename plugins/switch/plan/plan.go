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

// The bounds of a plan, and of the faults of it that are reported.
const (
	maxDocument = 1 << 20 // octets
	maxSwitches = 5000
	maxVLAN     = 4094
	maxName     = 255 // octets, of a switch, a port or a member
	maxMembers  = 20  // of a mapping: the decoder compares each with each
	maxFaults   = 100
)

// Plan is what shall be.
type Plan struct {
	Name     string   `yaml:"name"`
	VLANs    []VLAN   `yaml:"vlans"`
	Switches []Switch `yaml:"switches"`

	names map[uint32]string // of the VLANs
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
func (p *Plan) NameOf(id uint32) string { return p.names[id] }

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
		if err := checkNode(&whole, ""); err != nil {
			return err
		}
		if err := checkSize(&whole); err != nil {
			return err
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	err := d.Decode(p)
	switch {
	case errors.Is(err, io.EOF):
		return invalid("the plan is empty")
	case err != nil:
		return unreadable(err)
	case d.Decode(&yaml.Node{}) != io.EOF:
		return invalid("there is more than one document; write one plan")
	}
	return nil
}

// unreadable is why the decoder cannot read a plan. It has a fault for each node, of which there may be many.
func unreadable(err error) error {
	var all *yaml.TypeError
	if errors.As(err, &all) && len(all.Errors) > maxFaults {
		err = &yaml.TypeError{Errors: append(all.Errors[:maxFaults:maxFaults], "and more")}
	}
	return invalid("the plan cannot be read: %.10000s", err.Error())
}

// checkSize refuses too many switches before they are decoded.
func checkSize(document *yaml.Node) error {
	for _, top := range document.Content {
		for i := 1; i < len(top.Content); i += 2 {
			if n := len(top.Content[i].Content); top.Content[i-1].Value == "switches" && n > maxSwitches {
				return tooManySwitches(n)
			}
		}
	}
	return nil
}

func tooManySwitches(n int) error {
	return invalid("the plan has %d switches; write 1 to %d below switches", n, maxSwitches)
}

// checkNode finds what the decoder must not get: numbers that it would read as others, as it cuts fractions off and takes
// 010 for 8, and mappings that it would read for long. key is the member that the node is below.
func checkNode(n *yaml.Node, key string) error {
	switch {
	case n.Kind == yaml.AliasNode && n.Alias.Kind == yaml.ScalarNode:
		return checkNode(n.Alias, key)
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!float":
		return invalid("line %d: %.40s is no whole number; write text that looks like one in quotes", n.Line, n.Value)
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!int" && isNumber(key) && !isDecimal(n.Value):
		return invalid("line %d: %.40s is no decimal number; write the number of a VLAN without leading zeros", n.Line, n.Value)
	case n.Kind == yaml.MappingNode && len(n.Content) > 2*maxMembers:
		return invalid("line %d: there are %d members; no mapping of a plan has so many", n.Line, len(n.Content)/2)
	}
	for i, c := range n.Content {
		switch {
		case n.Kind == yaml.MappingNode && i%2 == 1:
			key = n.Content[i-1].Value
		case n.Kind == yaml.MappingNode && len(c.Value) > maxName:
			return invalid("line %d: there is no member %.40q…", c.Line, c.Value)
		}
		if err := checkNode(c, key); err != nil {
			return err
		}
	}
	return nil
}

// isNumber reports whether a member has numbers of VLANs.
func isNumber(key string) bool {
	return slices.Contains([]string{"id", "vlans", "untagged", "tagged"}, key)
}

// isDecimal reports whether a whole number is written as people read it.
func isDecimal(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return digits == "0" || !strings.HasPrefix(digits, "0") && strings.Trim(digits, "0123456789") == ""
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
		switch {
		case !slices.Contains(columns(), header[i]):
			return nil, invalid("the column %.40q is not known; there are %v", name, columns())
		case slices.Contains(header[:i], header[i]):
			return nil, invalid("the column %s is there twice; write each column once", header[i])
		}
	}
	l := lines{at: map[string]int{}}
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return &l.plan, nil
		}
		if err != nil {
			return nil, invalid("the plan cannot be read: %v", err)
		}
		line, _ := r.FieldPos(0)
		if err := l.add(header, fields); err != nil {
			return nil, invalid("line %d: %v", line, err)
		}
	}
}

// lines make a plan of CSV.
type lines struct {
	plan Plan
	at   map[string]int // where the switch of a name is
}

// add adds a line. An empty field says nothing; - is none.
func (l *lines) add(header, fields []string) error {
	line := map[string]string{}
	for i, text := range fields {
		line[header[i]] = strings.TrimSpace(text)
	}
	var sw *Switch
	if line[columnSwitch] != "" {
		sw = l.switchNamed(line[columnSwitch])
	}
	if len(l.plan.Switches) > maxSwitches {
		return fmt.Errorf("there are more than %d switches", maxSwitches)
	}
	if line[columnName] != "" && line[columnVLAN] == "" {
		return fmt.Errorf("the name %.40q has no vlan; write the number of the VLAN of that name", line[columnName])
	}
	if line[columnVLAN] != "" {
		id, err := number(line[columnVLAN])
		if err != nil {
			return err
		}
		if line[columnName] != "" {
			l.plan.VLANs = append(l.plan.VLANs, VLAN{id, line[columnName]})
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

func (l *lines) switchNamed(name string) *Switch {
	i, known := l.at[name]
	if !known {
		i = len(l.plan.Switches)
		l.at[name] = i
		l.plan.Switches = append(l.plan.Switches, Switch{Switch: name})
	}
	return &l.plan.Switches[i]
}

// faults are what is wrong with a plan, up to maxFaults.
type faults struct{ list fault.List }

func (f *faults) add(format string, args ...any) {
	switch {
	case len(f.list) < maxFaults:
		f.list = append(f.list, fault.At(fault.Invalid, "document", format, args...))
	case len(f.list) == maxFaults:
		f.list = append(f.list, fault.At(fault.Invalid, "document", "there is more; %d faults are shown", maxFaults))
	}
}

// isFull reports whether no more faults are shown.
func (f *faults) isFull() bool { return len(f.list) > maxFaults }

// check finds what is wrong with a plan by itself.
func (p *Plan) check() error {
	var f faults
	if n := len(p.Switches); n == 0 || n > maxSwitches {
		return tooManySwitches(n)
	}
	p.names = map[uint32]string{}
	for _, v := range p.VLANs {
		if before, ok := p.names[v.ID]; ok && before != v.Name {
			f.add("VLAN %d has two names, %.40q and %.40q", v.ID, before, v.Name)
		} else {
			p.names[v.ID] = v.Name
		}
		if !isVLAN(v.ID) {
			f.add("%d is not a VLAN, 1 to %d", v.ID, maxVLAN)
		}
		if len(v.Name) > 32 || !switchdriver.Printable(v.Name) {
			f.add("%.40q is not a name of up to 32 printable ASCII characters", v.Name)
		}
	}
	seen := map[string]bool{}
	for _, s := range p.Switches {
		if f.isFull() {
			break
		}
		if len(s.Switch) > maxName {
			f.add("the switch %.40q… has a name of %d octets; %d are the most", s.Switch, len(s.Switch), maxName)
			continue
		}
		if s.Switch == "" || seen[strings.ToLower(s.Switch)] {
			f.add("the switch %.40q has no name, or is in the plan twice", s.Switch)
		}
		seen[strings.ToLower(s.Switch)] = true
		s.check(&f)
	}
	return f.list.Err()
}

func isVLAN(id uint32) bool { return id >= 1 && id <= maxVLAN }

func (s *Switch) check(f *faults) {
	for _, id := range s.VLANs {
		if !isVLAN(id) {
			f.add("switch %.40q: %d is not a VLAN, 1 to %d", s.Switch, id, maxVLAN)
		}
	}
	for _, p := range s.Ports {
		switch {
		case f.isFull():
			return
		case p.Port == "":
			f.add("switch %.40q: a port has no name", s.Switch)
		case len(p.Port) > maxName:
			f.add("switch %.40q: the port %.40q… has a name of %d octets; %d are the most", s.Switch, p.Port, len(p.Port),
				maxName)
		default:
			p.check(func(format string, args ...any) {
				f.add("switch %.40q port %.40q: "+format, append([]any{s.Switch, p.Port}, args...)...)
			})
		}
	}
}

func (p *Port) check(bad func(format string, args ...any)) {
	var ids []uint32
	if p.Untagged != nil {
		ids = append(ids, *p.Untagged)
	}
	if p.Tagged != nil {
		ids = append(ids, *p.Tagged...)
	}
	slices.Sort(ids)
	if len(slices.Compact(slices.Clone(ids))) != len(ids) {
		bad("a VLAN is there twice")
	}
	for _, id := range ids {
		if !isVLAN(id) {
			bad("%d is not a VLAN, 1 to %d", id, maxVLAN)
		}
	}
	if p.State != "" && p.State != Up && p.State != Down {
		bad("the state %.20q is neither up nor down", p.State)
	}
	if d := p.Description; d != nil && (len(*d) > switchdriver.MaxDescription || !switchdriver.Printable(*d)) {
		bad("%.40q is not a description of up to %d printable ASCII characters", *d, switchdriver.MaxDescription)
	}
}
