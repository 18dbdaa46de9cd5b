package device

import (
	"context"
	"log/slog"
	"regexp"
	"slices"
	"time"

	"ctl.internal/internal/netconf"
	"ctl.internal/plugins/bier-driver-cli/template"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
)

// Settings is etc/bier-driver-cli.yaml; form and defaults are in plugin.yaml.
type Settings struct {
	Dialect  string `json:"dialect"`
	Prompt   string `json:"prompt"`
	Refused  string `json:"refused"`
	Commands struct {
		Prepare   []string `json:"prepare"`   // typed after login
		Show      string   `json:"show"`      // shows the running configuration
		Configure string   `json:"configure"` // into configuration mode
		End       string   `json:"end"`       // out of it
		Save      string   `json:"save"`      // makes it survive a restart; empty: not done
	} `json:"commands"`
	Lines   template.Templates `json:"templates"`
	Lacks   []string           `json:"lacks"`
	Inspect Inspection         `json:"inspect"`
	Connect sdk.Duration       `json:"connect"`
	Logins  int                `json:"logins"` // routers that are logged in to at the same time
	Line    sdk.Duration       `json:"line"`
	Poll    sdk.Duration       `json:"poll"` // between looks at a watched router
}

// Start makes the plugin for the host.
func Start(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	d, err := New(env, slog.Default())
	if err != nil {
		return nil, err
	}
	return &sdk.Plugin{BierDriver: d}, nil
}

// New returns a driver with the plugin's settings. Nothing runs until it is called.
func New(env *sdk.Env, log *slog.Logger) (*Driver, error) {
	d := &Driver{log: log, nodes: map[string]*node{}}
	if err := env.DecodeConfig(&d.set); err != nil {
		return nil, err
	}
	d.logins = netconf.NewLogins(d.set.Logins)
	const least, most = 10 * time.Millisecond, 24 * time.Hour
	bad := slices.Concat(fault.All(d.set.Connect.Between("connect", least, most)), fault.All(d.set.Line.Between("line", least, most)),
		fault.All(d.set.Poll.Between("poll", least, most)))
	expression := func(path, text string) *regexp.Regexp {
		e, err := regexp.Compile(text)
		if err != nil {
			bad = append(
				bad,
				fault.At(fault.Invalid, path, "%q is not a regular expression: %v", text, err),
			)
		}
		return e
	}
	d.prompt, d.refuse = expression("prompt", d.set.Prompt), expression("refused", d.set.Refused)
	d.inspect = d.set.Inspect.compileExpressions(func(path, text string, groups int) *regexp.Regexp {
		if text == "" {
			return regexp.MustCompile(`[^\x00-\x{10FFFF}]`) // matches nothing
		}
		e := expression("inspect/"+path, text)
		if e != nil && e.NumSubexp() != groups {
			bad = append(
				bad,
				fault.At(
					fault.Invalid,
					"inspect/"+path,
					"%q has %d groups, not %d",
					text,
					e.NumSubexp(),
					groups,
				),
			)
		}
		return e
	})
	var err error
	if d.model, err = template.Compile(d.set.Lines); err != nil {
		for _, f := range fault.All(err) {
			bad = append(bad, fault.At(f.Kind, "templates/"+f.Path, "%s", f.Text))
		}
	}
	return d, bad.Err()
}
