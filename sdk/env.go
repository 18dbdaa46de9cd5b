package sdk

import (
	"bytes"
	"encoding/json"
	"log/slog"

	"github.com/hashicorp/go-hclog"

	"ctl.internal/internal/wire"
	"ctl.internal/sdk/fault"
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
func (e *Env) HCLog() hclog.Logger { return wire.HCLog(slog.Default(), slog.LevelError) }

// Warn tells the operator something about the settings that works but should be
// known; shown when the plugin starts and by plugin:info. Call it within New.
func (e *Env) Warn(text string) { e.warnings = append(e.warnings, text) }
