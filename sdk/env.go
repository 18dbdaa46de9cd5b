package sdk

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"

	"ctl.internal/internal/wire"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// DecodeConfig decodes the plugin's settings into v, strictly: a member that v has
// no field for is a fault.Unknown. Empty settings leave v as it is.
func (e *Env) DecodeConfig(v any) error {
	if len(e.Config) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(e.Config))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fault.Wrap(fault.Invalid, err, "the settings of the plugin do not fit: %v", err)
	}
	return nil
}

// HCLog returns a logger for libraries that log with go-hclog. What it logs goes where log/slog does: into the
// controller's log, under plugin.NAME.
func (e *Env) HCLog() hclog.Logger {
	return wire.HCLog(slog.Default(), slog.LevelError)
}

// Warn reports to the operator a setting that works but should be
// known; shown when the plugin starts and by plugin:info. Call it within New.
func (e *Env) Warn(text string) {
	e.warnings = append(e.warnings, text)
}

// Duration is a time in settings, in Go's form: "1m30s". The plugin's schema should have
// a pattern for it, so that a mistake is found where it was written.
type Duration struct{ time.Duration }

// UnmarshalJSON reads the form of time.ParseDuration.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	v, err := time.ParseDuration(s)
	d.Duration = v
	return err
}

// Between is a fault.Invalid that names the setting when d is out of bounds, else nil.
func (d Duration) Between(setting string, least, most time.Duration) error {
	if d.Duration < least || d.Duration > most {
		return fault.At(fault.Invalid, setting, "%s is not between %s and %s", d, least, most)
	}
	return nil
}

// Home is the controller's home, which relative paths of settings and commands start from. The host keeps
// a plugin's data in data/plugins/NAME below it; elsewhere the data folder itself is the home.
func (e *Env) Home() string {
	if h := os.Getenv("CTL_HOME"); h != "" {
		return h
	}
	plugins := filepath.Dir(filepath.Clean(e.DataDir))
	data := filepath.Dir(plugins)
	if filepath.Base(plugins) == "plugins" && filepath.Base(data) == "data" {
		return filepath.Dir(data)
	}
	return e.DataDir
}

// Below puts relative paths below the controller's home.
func (e *Env) Below(paths ...string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = commands.Path(e.Home(), p)
	}
	return out
}

// NodeName is how this node is called in what the plugin writes for other nodes.
func (e *Env) NodeName() string {
	if n := os.Getenv(host.EnvNode); n != "" {
		return n
	}
	if n, err := os.Hostname(); err == nil {
		return n
	}
	return "unknown"
}
