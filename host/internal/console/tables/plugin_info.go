package tables

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctl.internal/host/internal/plugin"
	"ctl.internal/sdk/commands"
)

// pluginData is what plugin:info --format json writes.
type pluginData struct {
	plugin.Info
	Summary      string          `json:"summary"`
	Health       string          `json:"health"`
	Capabilities []string        `json:"capabilities"`
	Modules      []string        `json:"modules"`
	Commands     []string        `json:"commands"`
	Routes       []string        `json:"routes"`
	Schema       json.RawMessage `json:"schema,omitempty"` // JSON Schema of its settings
	Requests     []grantData     `json:"requests"`
	IsolatedBy   []string        `json:"isolatedBy"`
	NotAvailable []string        `json:"notAvailable"` // parts of the isolation, with the reason
}

func newPluginData(p plugin.Info) pluginData {
	m := p.Manifest
	none := []string{} // [] in JSON, not null
	p.Facets = append(none, p.Facets...)
	d := pluginData{
		Info:         p,
		Summary:      m.GetSummary(),
		Health:       healthText(p),
		Capabilities: append(none, m.GetCapabilities()...),
		Modules:      none,
		Commands:     none,
		Routes:       none,
		Requests:     grantRows(p),
		IsolatedBy:   append(none, p.Isolation.By...),
		NotAvailable: append(none, p.Isolation.Missing...),
	}
	if json.Valid(m.GetConfigSchema()) {
		d.Schema = m.GetConfigSchema()
	}
	for _, y := range m.GetYangModules() {
		d.Modules = append(d.Modules, y.GetName())
	}
	for _, c := range m.GetCommands() {
		d.Commands = append(d.Commands, c.GetName())
	}
	for _, r := range m.GetRoutes() {
		d.Routes = append(d.Routes, r.GetPath())
	}
	return d
}

func (t plugins) showInfo(_ context.Context, in *commands.Invocation) error {
	p, err := t.Info(in.Arg("name"))
	if err != nil {
		return err
	}
	d := newPluginData(p)
	return in.Emit(d, d.formatPlugin)
}

func (d pluginData) formatPlugin() string {
	process := ""
	if d.PID != 0 {
		process = fmt.Sprint(d.PID)
	}
	if d.Debugger {
		process += " (a debugger's)"
	}
	var details []string
	for _, k := range slices.Sorted(maps.Keys(d.Info.Health)) {
		details = append(details, k+": "+d.Info.Health[k])
	}
	var requests []string
	for _, g := range d.Requests {
		requests = append(requests, g.formatGrant())
	}
	if d.Denied > 0 {
		requests = append(
			requests,
			fmt.Sprintf("%d calls were refused because they were not granted", d.Denied),
		)
	}
	lines := func(l []string) string { return strings.Join(l, "\n") }
	return formatFields([]field{
		{"Plugin", strings.TrimSpace(d.Name + " " + d.Version)}, {"Summary", d.Summary}, {"State", d.State.String()}, {"Health", d.Health}, {"Reason", d.Reason},
		{"Details", lines(details)}, {"Since", formatTime(d.Since)}, {"Process", process}, {"Restarts", fmt.Sprint(d.Restarts)}, {"Last error", d.LastError},
		{"Calls", fmt.Sprintf(
			"%d, %d failed, %d repeated, %d now, %d waiting",
			d.Calls,
			d.Errors,
			d.Repeated,
			d.InFlight,
			d.Waiting,
		)},
		{"Store", fmt.Sprintf("%d bytes in %d keys", d.StoreBytes, d.StoreKeys)}, {"Metrics", d.Metrics},
		{"Capabilities", lines(d.Capabilities)}, {"Modules", lines(d.Modules)}, {"Commands", lines(d.Commands)}, {"Paths", lines(d.Routes)},
		{"Grants", lines(requests)}, {"Isolated by", lines(d.IsolatedBy)}, {"Not available here", lines(d.NotAvailable)}, {"Facets", strings.Join(d.Facets, ", ")}, {"Origin", d.Origin}, {"File", d.Path}, {"SHA-256", d.SHA256}, {"Data", d.DataDir},
		{"Schema", indentJSON(d.Schema)}, {"Warnings", lines(d.Warnings)}, {"Log", lines(d.Tail)},
	})
}

func indentJSON(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	b, err := json.MarshalIndent(raw, "", "  ")
	if err != nil {
		return ""
	}
	return string(b)
}
