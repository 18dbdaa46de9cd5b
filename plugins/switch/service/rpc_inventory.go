package service

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/switchdriver"
)

// inventoryRPCs registers the RPCs of module switch-inventory.
func (s *Service) inventoryRPCs(m operations.Mux) {
	registerHandler(m, "switch-inventory:get-inventory", s.getInventory)
}

// maxInventory bounds the components of all switches in an answer.
const maxInventory = 50_000

type inventoryIn struct {
	Switch  string `json:"switch"`
	Serials bool   `json:"serials"`
	chassis bool   // also those without a serial number
}

// wants reports whether a component is shown.
func (in *inventoryIn) wants(c *driver.Component) bool {
	return !in.Serials || c.Serial != "" || in.chassis && c.Class == classChassis
}

// componentLine is a part of a switch.
type componentLine struct {
	ofSwitch
	Index       uint32      `json:"index"`
	ContainedIn uint32      `json:"contained-in,omitempty"`
	Class       string      `json:"class"`
	Name        string      `json:"name,omitempty"`
	Descr       string      `json:"description,omitempty"`
	Vendor      string      `json:"vendor,omitempty"`
	Model       string      `json:"model,omitempty"`
	Serial      string      `json:"serial,omitempty"`
	Hardware    string      `json:"hardware,omitempty"`
	Firmware    string      `json:"firmware,omitempty"`
	Software    string      `json:"software,omitempty"`
	Replaceable bool        `json:"replaceable"`
	Value       json.Number `json:"value,omitempty"`
	Unit        string      `json:"unit,omitempty"`
	Status      string      `json:"status,omitempty"`
}

type inventoryOut struct {
	Entries []componentLine `json:"entry"`
	Partial []string        `json:"partial,omitempty"`
}

// getInventory reads the inventory of a switch, or of all.
func (s *Service) getInventory(ctx context.Context, in inventoryIn) (*inventoryOut, error) {
	out := &inventoryOut{Entries: []componentLine{}}
	partial, err := s.askEach(ctx, in.Switch, func(ctx context.Context, sw *switchdriver.Switch, mu *sync.Mutex) error {
		list, err := s.standard.ReadInventory(ctx, sw)
		if err != nil {
			return err
		}
		of := s.switchIdentity(mib.MAC(sw.NodeId))
		var lines []componentLine
		for _, c := range list {
			if in.wants(&c) {
				lines = append(lines, lineOf(of, c))
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if in.Switch != "" {
			out.Entries = lines
			return nil
		}
		return out.add(lines, maxInventory)
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(out.Entries, func(a, b componentLine) int {
		return cmp.Or(strings.Compare(a.Switch, b.Switch), strings.Compare(a.Node, b.Node))
	})
	out.Partial = partial
	return out, nil
}

// add adds the components of a switch, if there are not more than most then.
func (o *inventoryOut) add(lines []componentLine, most int) error {
	if len(o.Entries)+len(lines) > most {
		return fault.New(
			fault.Unavailable,
			"its %d components are not shown, because an answer has at most %d; ask for this switch alone, or for serials",
			len(lines),
			most,
		)
	}
	o.Entries = append(o.Entries, lines...)
	return nil
}

// classChassis is the number of a chassis in entPhysicalClass.
const classChassis = 3

// classes are those of entPhysicalClass, from 1 on.
func classes() []string {
	return []string{"other", "unknown", "chassis", "backplane", "container", "power-supply", "fan", "sensor", "module",
		"port", "stack", "cpu", "energy-object", "battery", "storage-drive"}
}

// units are those of entPhySensorType, from 1 on.
func units() []string {
	return []string{"", "", "V", "V", "A", "W", "Hz", "°C", "%", "rpm", "m³/min", ""}
}

func lineOf(of ofSwitch, c driver.Component) componentLine {
	line := componentLine{
		ofSwitch:    of,
		Index:       c.Index,
		ContainedIn: c.ContainedIn,
		Class:       "unknown",
		Name:        c.Name,
		Descr:       c.Descr,
		Vendor:      c.Vendor,
		Model:       c.Model,
		Serial:      c.Serial,
		Hardware:    c.Hardware,
		Firmware:    c.Firmware,
		Software:    c.Software,
		Replaceable: c.Replaceable,
	}
	if n := int(c.Class); n >= 1 && n <= len(classes()) {
		line.Class = classes()[n-1]
	}
	if c.Sensor != nil {
		line.addSensor(c.Sensor)
	}
	return line
}

// maxSensor is the largest value that decimal64 with six digits after the point shows.
const maxSensor = 9e12

func (l *componentLine) addSensor(s *driver.Sensor) {
	if n := int(s.Type); n >= 1 && n <= len(units()) {
		l.Unit = units()[n-1]
	}
	switch s.Status {
	case 1:
		l.Status = "ok"
		if math.Abs(s.Value) <= maxSensor {
			l.Value = json.Number(strconv.FormatFloat(math.Round(s.Value*1e6)/1e6, 'f', -1, 64))
		}
	case 2:
		l.Status = "unavailable"
	case 3:
		l.Status = "failed"
	}
}

// netBoxModules and netBoxDevices are the forms of CSV that NetBox imports.
const (
	netBoxDevices = "devices"
	netBoxModules = "modules"
)

func (s *Service) cmdInventory() commands.Command {
	return commands.Command{
		Name:    "switch:inventory",
		Summary: "Show what a switch, or all, are made of: serials, models, firmware, optics, sensors",
		Help: "As the switches report it (ENTITY-MIB), read now; of all switches, only components with a serial number.\n" +
			"--netbox prints CSV that NetBox imports: devices, or modules (their bays are named as the switch names them).\n\n" +
			"Example: switch:inventory sw1\n         switch:inventory --netbox devices",
		Arguments: s.switchArg(false),
		Options: []commands.Option{{
			Name: "netbox",
			Help: "CSV for NetBox: devices or modules",
		}},
		Safe: true,
		Run:  s.runInventory,
	}
}

func (s *Service) runInventory(ctx context.Context, in *commands.Invocation) error {
	form := in.Option("netbox")
	if form != "" && form != netBoxDevices && form != netBoxModules {
		return fault.At(fault.Invalid, "netbox", "%.20q is neither devices nor modules", form)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*rpcTime)
	defer cancel()
	which := in.Arg("switch")
	out, err := s.getInventory(ctx, inventoryIn{
		Switch:  which,
		Serials: which == "" || form != "",
		chassis: form != "",
	})
	if err != nil {
		return err
	}
	if form != "" {
		text, err := out.formatNetBox(form)
		in.Printf("%s", text)
		return err
	}
	return in.Emit(out.table(), nil)
}

func (o *inventoryOut) table() commands.Table {
	t := commands.Table{
		Empty: "The switches report no inventory." + cutNote(o.Partial),
		Columns: []commands.Column{
			{Title: "Switch", Key: "switch", Max: 32},
			{Title: "Class", Key: "class"},
			{Title: "Name", Key: "name", Max: 32},
			{Title: "Model", Key: "model", Max: 32},
			{Title: "Serial", Key: "serial", Max: 32},
			{Title: "Hardware", Key: "hardware", Max: 16},
			{Title: "Firmware", Key: "firmware", Max: 24},
			{Title: "Software", Key: "software", Max: 24},
			{Title: "Value", Key: "value"},
			{Title: "Description", Key: "description", Max: 48},
		},
	}
	for _, e := range o.Entries {
		value := strings.TrimSpace(e.Value.String() + " " + e.Unit)
		if e.Value == "" {
			value = e.Status
		}
		t.Add(e.Switch, e.Class, e.Name, e.Model, e.Serial, e.Hardware, e.Firmware, e.Software, value, e.Descr)
	}
	return t
}

// formatNetBox is the inventory as NetBox imports it: the first chassis of a switch is the device, what is in it, with a
// serial number, a module.
func (o *inventoryOut) formatNetBox(form string) (string, error) {
	var b strings.Builder
	w := csv.NewWriter(&b)
	rows := [][]string{{"device", "module_bay", "module_type", "status", "serial"}}
	if form == netBoxDevices {
		rows = [][]string{{"name", "role", "manufacturer", "device_type", "serial", "site", "status"}}
	}
	device := map[string]bool{}
	for _, e := range o.Entries {
		chassis := e.Class == "chassis" && !device[e.Node]
		device[e.Node] = device[e.Node] || chassis
		model := cmp.Or(e.Model, e.Descr, e.Name)
		switch {
		case chassis && form == netBoxDevices:
			rows = append(rows, []string{e.Switch, "switch", e.Vendor, model, e.Serial, "", "active"})
		case !chassis && form == netBoxModules && e.Serial != "":
			rows = append(rows, []string{e.Switch, cmp.Or(e.Name, e.Descr), model, "active", e.Serial})
		}
	}
	for _, row := range rows {
		for i, text := range row {
			row[i] = commands.CSVCell(text)
		}
	}
	err := w.WriteAll(rows)
	return b.String(), err
}
