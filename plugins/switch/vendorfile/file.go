package vendorfile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/internal/nearest"
	"ctl.internal/internal/switchcli"
	"ctl.internal/plugins/switch/mibdriver"
)

// File is a vendor-specific configuration.
type File struct {
	Path     string
	Models   map[string]*Model
	Problems []Problem
}

// Problem is something wrong with the file. A model or a function that has one is not
// used: what it describes is done in the default way. Of an element that is not known
// only that element is not used.
type Problem struct {
	Path string
	Line int
	Text string
}

// String returns path:line: text.
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Text)
}

// Model is how a model of switch is handled.
type Model struct {
	Name       string
	Line       int
	Ports      int // number of physical ports; 0: not given
	ListDigits int // length of PortList values in hexadecimal digits; 0: not given
	Login      switchcli.Dialogue
	Channel    string // of the login: "telnet", "ssh", empty: not given
	Success    string // what the switch says to a command that it took; empty: not given
	Errors     []string
	Functions  []*Function
}

// Function is one function of a model.
type Function struct {
	Name     string
	Line     int
	Channel  string // "snmp", "telnet", "ssh"
	Layer    string // "mac", "ip", "ipv6", empty: any
	Permit   string // what ${action}$ is
	Deny     string
	SETs     mibdriver.Sequence // of the channel SNMP
	Commands []Command          // of the others
	Rollback []Command          // take back what an earlier command did
}

// Command is one line.
type Command struct {
	Line     int
	Template Template
}

// Function returns the function of a name that is for a layer; nil for none.
func (m *Model) Function(name, layer string) *Function {
	for _, f := range m.Functions {
		if f.Name == name && (f.Layer == "" || f.Layer == layer) {
			return f
		}
	}
	return nil
}

// Parse reads a file. What cannot be used is among the problems, in the order of lines.
func Parse(path string, text []byte) *File {
	f := &File{Path: path, Models: map[string]*Model{}}
	root, err := parseTree(text)
	if err != nil {
		f.addProblem(err)
		return f
	}
	if root.name != "VsConfig" {
		f.addProblem(lineErrorAt(root.line, "the root element is <%s>, not <VsConfig>", root.name))
		return f
	}
	d := &decoder{f: f}
	d.checkChildren(root, "SwitchConfig")
	for _, e := range root.children {
		if e.name != "SwitchConfig" {
			continue
		}
		before := d.faults
		m := d.decodeModel(e)
		if old := f.Models[m.Name]; old != nil {
			d.reportProblem(
				e,
				"the model %q is already described in line %d, which is used",
				m.Name,
				old.Line,
			)
		}
		usable := d.faults == before
		d.decodeFunctions(e, m) // all faults are reported at once
		if usable {
			f.Models[m.Name] = m
		}
	}
	slices.SortStableFunc(f.Problems, func(a, b Problem) int {
		return cmp.Compare(a.Line, b.Line)
	})
	return f
}

func (f *File) addProblem(err error) {
	p := Problem{Path: f.Path, Line: 1, Text: err.Error()}
	var l *lineError
	if errors.As(err, &l) {
		p.Line, p.Text = l.line, l.text
	}
	f.Problems = append(f.Problems, p)
}

// decoder turns elements into a File.
type decoder struct {
	f      *File
	faults int // problems that keep what they are in from being used
}

func (d *decoder) reportProblem(e *element, format string, args ...any) {
	d.faults++
	d.f.addProblem(lineErrorAt(e.line, format, args...))
}

// checkChildren reports every child that has no place, which is left out, and text where there should be children.
func (d *decoder) checkChildren(e *element, names ...string) {
	before := d.faults
	d.requireOnly(e, names...)
	if e.text == "" {
		d.faults = before
	}
}

// requireOnly is known where a missing part would change the meaning of the whole: commands, and prompts of a login.
func (d *decoder) requireOnly(e *element, names ...string) {
	if e.text != "" {
		d.reportProblem(e, "<%s> has text beside its elements: %.40q", e.name, e.text)
	}
	for _, c := range e.children {
		if !slices.Contains(names, c.name) {
			d.reportProblem(
				c,
				"<%s> is not allowed in <%s>, which has %s%s",
				c.name,
				e.name,
				strings.Join(names, ", "),
				nearest.Hint(c.name, names),
			)
		}
	}
}

// leafChild returns the text of a child that may stand once; nil: it is not there.
func (d *decoder) leafChild(e *element, name string) *element {
	var found *element
	for _, c := range e.children {
		if c.name != name {
			continue
		}
		if found != nil {
			d.reportProblem(c, "<%s> is twice in <%s>", name, e.name)
			continue
		}
		if found = c; len(c.children) > 0 &&
			name != "login" &&
			!strings.HasSuffix(name, "_in_order") {
			d.reportProblem(c, "<%s> has elements where text is expected", name)
		}
	}
	return found
}

func (d *decoder) leafText(e *element, name string) string {
	if c := d.leafChild(e, name); c != nil {
		return c.text
	}
	return ""
}

func (d *decoder) requiredText(e *element, name string) string {
	t := d.leafText(e, name)
	if t == "" {
		d.reportProblem(e, "<%s> has no <%s>", e.name, name)
	}
	return t
}

func (d *decoder) leafNumber(e *element, name string, most int) int {
	c := d.leafChild(e, name)
	if c == nil || c.text == "" {
		return 0
	}
	n, err := strconv.Atoi(c.text)
	if err != nil || n < 1 || n > most {
		d.reportProblem(c, "<%s> is %.20q, not a number from 1 to %d", name, c.text, most)
	}
	return n
}

func (d *decoder) oneOf(e *element, name string, values ...string) string {
	t := d.leafText(e, name)
	if t != "" && !slices.Contains(values, t) {
		d.reportProblem(
			d.leafChild(e, name),
			"<%s> is %.20q, not one of %s",
			name,
			t,
			strings.Join(values, ", "),
		)
	}
	return t
}

// The greatest number of ports, and of digits of a list of them.
const (
	maxPorts  = 65535
	maxDigits = 2 * (maxPorts + 7) / 8
)

func (d *decoder) decodeModel(e *element) *Model {
	d.checkChildren(
		e,
		"model",
		"port_number",
		"vlan_port_list_value_hex_string_length",
		"login",
		"FunctionConfig",
	)
	m := &Model{
		Line:       e.line,
		Name:       d.requiredText(e, "model"),
		Ports:      d.leafNumber(e, "port_number", maxPorts),
		ListDigits: d.leafNumber(e, "vlan_port_list_value_hex_string_length", maxDigits),
	}
	if m.ListDigits%2 != 0 {
		d.reportProblem(
			e,
			"vlan_port_list_value_hex_string_length is %d: an octet has two digits",
			m.ListDigits,
		)
	}
	if m.Ports > 0 && m.ListDigits > 0 && m.ListDigits*4 < m.Ports {
		d.reportProblem(
			e,
			"%d hexadecimal digits are not enough for %d ports",
			m.ListDigits,
			m.Ports,
		)
	}
	if l := d.leafChild(e, "login"); l != nil {
		d.decodeLogin(l, m)
	}
	return m
}

// decodeFunctions reads the functions; one that has a problem is left out.
func (d *decoder) decodeFunctions(e *element, m *Model) {
	type key struct{ name, layer string }
	seen := map[key]int{}
	for _, c := range e.children {
		if c.name != "FunctionConfig" {
			continue
		}
		before := d.faults
		f := d.decodeFunction(c)
		if line := seen[key{f.Name, f.Layer}]; line != 0 {
			d.reportProblem(c, "the function %s is already described in line %d", f.Name, line)
		}
		seen[key{f.Name, f.Layer}] = c.line
		if d.faults == before {
			m.Functions = append(m.Functions, f)
		}
	}
}

func (d *decoder) decodeLogin(e *element, m *Model) {
	d.checkChildren(e, "channel", "prompt_in_order", "success_string", "error_string")
	m.Channel = d.oneOf(e, "channel", switchcli.Telnet, switchcli.SSH)
	m.Success = d.leafText(e, "success_string")
	for _, c := range e.children {
		if c.name == "error_string" && c.text != "" {
			m.Errors = append(m.Errors, c.text)
		}
	}
	list := d.leafChild(e, "prompt_in_order")
	if list == nil {
		return
	}
	d.requireOnly(list, "prompt")
	steps := map[int]switchcli.Step{}
	for _, p := range list.children {
		if p.name != "prompt" {
			continue
		}
		d.requireOnly(p, "order", "prompt_string", "send_string")
		order := d.leafNumber(p, "order", 1000)
		if _, twice := steps[order]; order == 0 || twice {
			d.reportProblem(p, "<prompt> needs a unique <order>, 1 or higher")
		}
		s := switchcli.Step{
			Prompt: d.requiredText(p, "prompt_string"),
			Send:   d.leafText(p, "send_string"),
		}
		if _, err := parseTemplate(s.Send, []string{"user", "username", "password"}); err != nil {
			d.reportProblem(p, "send_string: %v", err)
		}
		steps[order] = s
	}
	for _, order := range slices.Sorted(maps.Keys(steps)) {
		m.Login.Login = append(m.Login.Login, steps[order])
	}
}
