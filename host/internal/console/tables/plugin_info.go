package tables

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/plugin"
	"ctl.internal/sdk/commands"
)

// pluginData is what plugin:info --format json writes.
type pluginData struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Summary      string            `json:"summary"`
	State        string            `json:"state"`
	Health       string            `json:"health"`
	Reason       string            `json:"reason,omitempty"`
	Details      map[string]string `json:"details,omitempty"`
	Since        time.Time         `json:"since"`
	PID          int               `json:"pid"`
	Restarts     int               `json:"restarts"`
	LastError    string            `json:"lastError,omitempty"`
	Capabilities []string          `json:"capabilities"`
	Modules      []string          `json:"modules"`
	Commands     []string          `json:"commands"`
	Routes       []string          `json:"routes"`
	Facets       []string          `json:"facets"`
	Origin       string            `json:"origin"` // the catalogue, and who signed it
	Path         string            `json:"path"`
	SHA256       string            `json:"sha256"`
	DataDir      string            `json:"dataDir"`
	Schema       json.RawMessage   `json:"schema,omitempty"` // JSON Schema of its settings
	Requests     []grantData       `json:"requests"`
	Denied       uint64            `json:"denied"` // tries of what it was not granted
	Waiting      int               `json:"waiting"`
	StoreBytes   int64             `json:"storeBytes"`
	StoreKeys    int64             `json:"storeKeys"`
	Metrics      string            `json:"metrics,omitempty"` // why its metrics are left out
	IsolatedBy   []string          `json:"isolatedBy"`
	NotAvailable []string          `json:"notAvailable"` // parts of the isolation, with the reason
	Warnings     []string          `json:"warnings,omitempty"`
	Log          []string          `json:"log,omitempty"` // newest last
	Calls        uint64            `json:"calls"`
	Errors       uint64            `json:"errors"`
	Repeated     uint64            `json:"repeated"`
	InFlight     int64             `json:"inFlight"`
	Debugger     bool              `json:"debugger,omitempty"`
}

func newPluginData(p plugin.Info) pluginData {
	m := p.Manifest
	none := []string{} // [] in JSON, not null
	d := pluginData{Modules: none, Commands: none, Routes: none, Name: p.Name, Version: p.Version, Summary: m.GetSummary(), State: p.State.String(), Health: health(p), Reason: p.Reason,
		Details: p.Health, Since: p.Since, PID: p.PID, Restarts: p.Restarts, LastError: p.LastError, Capabilities: append([]string{}, m.GetCapabilities()...), Facets: append([]string{}, p.Facets...),
		Origin: p.Origin, Path: p.Path, SHA256: p.SHA256, DataDir: p.DataDir, Warnings: p.Warnings, Log: p.Tail, Calls: p.Calls, Errors: p.Errors,
		Repeated: p.Repeated, InFlight: p.InFlight, Debugger: p.Debugger}
	d.Waiting, d.StoreBytes, d.StoreKeys, d.Metrics = p.Waiting, p.StoreBytes, p.StoreKeys, p.Metrics
	d.IsolatedBy, d.NotAvailable = append([]string{}, p.Isolation.By...), append([]string{}, p.Isolation.Missing...)
	d.Requests, d.Denied = grants(p), p.Denied
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

func (t plugins) info(_ context.Context, in *commands.Invocation) error {
	p, err := t.Info(in.Arg("name"))
	if err != nil {
		return err
	}
	d := newPluginData(p)
	return in.Emit(d, d.text)
}

func (d pluginData) text() string {
	process := ""
	if d.PID != 0 {
		process = fmt.Sprint(d.PID)
	}
	if d.Debugger {
		process += " (a debugger's)"
	}
	var details []string
	for _, k := range slices.Sorted(maps.Keys(d.Details)) {
		details = append(details, k+": "+d.Details[k])
	}
	var requests []string
	for _, g := range d.Requests {
		requests = append(requests, g.text())
	}
	if d.Denied > 0 {
		requests = append(requests, fmt.Sprintf("%d calls were refused because they were not granted", d.Denied))
	}
	lines := func(l []string) string { return strings.Join(l, "\n") }
	return card([]field{
		{"Plugin", strings.TrimSpace(d.Name + " " + d.Version)}, {"Summary", d.Summary}, {"State", d.State}, {"Health", d.Health}, {"Reason", d.Reason},
		{"Details", lines(details)}, {"Since", when(d.Since)}, {"Process", process}, {"Restarts", fmt.Sprint(d.Restarts)}, {"Last error", d.LastError},
		{"Calls", fmt.Sprintf("%d, %d failed, %d repeated, %d now, %d waiting", d.Calls, d.Errors, d.Repeated, d.InFlight, d.Waiting)},
		{"Store", fmt.Sprintf("%d bytes in %d keys", d.StoreBytes, d.StoreKeys)}, {"Metrics", d.Metrics},
		{"Capabilities", lines(d.Capabilities)}, {"Modules", lines(d.Modules)}, {"Commands", lines(d.Commands)}, {"Paths", lines(d.Routes)},
		{"Grants", lines(requests)}, {"Isolated by", lines(d.IsolatedBy)}, {"Not available here", lines(d.NotAvailable)}, {"Facets", strings.Join(d.Facets, ", ")}, {"Origin", d.Origin}, {"File", d.Path}, {"SHA-256", d.SHA256}, {"Data", d.DataDir},
		{"Schema", indented(d.Schema)}, {"Warnings", lines(d.Warnings)}, {"Log", lines(d.Log)},
	})
}

func indented(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	b, err := json.MarshalIndent(raw, "", "  ")
	if err != nil {
		return ""
	}
	return string(b)
}
