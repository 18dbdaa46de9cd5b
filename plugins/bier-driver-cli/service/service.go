package service

import (
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"time"

	"ctl.internal/plugins/bier-driver-cli/device"
	"ctl.internal/plugins/bier-driver-cli/template"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
)

// settings is etc/bier-driver-cli.yaml; form and defaults are in plugin.yaml.
type settings struct {
	Dialect  string             `json:"dialect"`
	Prompt   string             `json:"prompt"`
	Refused  string             `json:"refused"`
	Commands commands           `json:"commands"`
	Lines    template.Templates `json:"templates"`
	Connect  string             `json:"connect"`
	Line     string             `json:"line"`
	Poll     string             `json:"poll"`
}

type commands struct {
	Prepare   []string `json:"prepare"`
	Show      string   `json:"show"`
	Configure string   `json:"configure"`
	End       string   `json:"end"`
	Save      string   `json:"save"`
}

// New is the plugin.
func New(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	s, err := Read(env.Config)
	if err != nil {
		return nil, err
	}
	return &sdk.Plugin{BierDriver: device.New(s, slog.Default())}, nil
}

// Read makes the driver's settings of the plugin's.
func Read(config []byte) (device.Settings, error) {
	var s settings
	if err := json.Unmarshal(config, &s); err != nil {
		return device.Settings{}, fault.Wrap(fault.Invalid, err, "the settings cannot be read: %s", err)
	}
	out := device.Settings{Dialect: s.Dialect, Prepare: s.Commands.Prepare, Show: s.Commands.Show, Configure: s.Commands.Configure, End: s.Commands.End, Save: s.Commands.Save}
	var bad fault.List
	expression := func(path, text string) *regexp.Regexp {
		e, err := regexp.Compile(text)
		if err != nil || text == "" {
			bad = append(bad, fault.At(fault.Invalid, path, "%q is no regular expression", text))
		}
		return e
	}
	out.Prompt, out.Refused = expression("prompt", s.Prompt), expression("refused", s.Refused)
	for path, v := range map[string]struct {
		text string
		to   *time.Duration
	}{"connect": {s.Connect, &out.Connect}, "line": {s.Line, &out.Line}, "poll": {s.Poll, &out.Poll}} {
		d, err := time.ParseDuration(v.text)
		if err != nil || d < 10*time.Millisecond || d > 24*time.Hour {
			bad = append(bad, fault.At(fault.Invalid, path, "%q is no duration between 10ms and 24h", v.text))
		}
		*v.to = d
	}
	for path, text := range map[string]string{"commands/show": s.Commands.Show, "commands/configure": s.Commands.Configure, "commands/end": s.Commands.End} {
		if text == "" {
			bad = append(bad, fault.At(fault.Invalid, path, "the driver cannot do without"))
		}
	}
	m, err := template.Compile(s.Lines)
	if err != nil {
		for _, f := range fault.All(err) {
			bad = append(bad, fault.At(f.Kind, "templates/"+f.Path, "%s", f.Text))
		}
	}
	out.Model = m
	return out, bad.Err()
}
