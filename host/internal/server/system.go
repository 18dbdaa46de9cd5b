package server

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/logs"
	"ctl.internal/host/internal/plugin"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

// systemModule is the YANG module of the controller itself.
const systemModule = "ctl-system"

// systemOperations are the RPCs of systemModule. The rules of etc/sec.ini and the policies are asked before, as for all
// RPCs; a file of rules that was written for other controllers does not name this module, so all but get-status
// ask for the role admin themselves, or for a role that names the operation.
func (s *Server) systemOperations() operations.Mux {
	all := operations.Mux{
		"install-feature":   operations.Func(s.installFeature),
		"uninstall-feature": operations.Func(s.uninstallFeature),
		"get-plugin":        operations.Func(s.getPlugin),
		"restart-plugin": onPlugin(func(ctx context.Context, name string) error {
			return s.plugins.Restart(ctx, name)
		}),
		"start-plugin": onPlugin(func(ctx context.Context, name string) error {
			return s.plugins.Start(ctx, name)
		}),
		"stop-plugin": onPlugin(func(ctx context.Context, name string) error {
			return s.plugins.Stop(ctx, name)
		}),
		"get-log":       operations.Func(s.getLog),
		"show":          operations.Func(s.showCommand),
		"get-snapshots": operations.Func(s.getSnapshots),
		"save-snapshot": operations.Func(s.saveSnapshot),
	}
	out := operations.Mux{
		systemModule + ":get-status":          operations.Func(s.getStatus),
		systemModule + ":get-troubles":        operations.Func(s.getTroubles),
		systemModule + ":acknowledge-trouble": operations.Func(s.acknowledgeTrouble),
		systemModule + ":silence-trouble":     operations.Func(s.silenceTrouble),
	}
	for name, h := range all {
		out[systemModule+":"+name] = s.forAdministrators(h)
	}
	return out
}

// forAdministrators refuses callers who neither have the role admin nor a role that names the operation.
func (s *Server) forAdministrators(h operations.Handler) operations.Handler {
	return operations.HandlerFunc(func(ctx context.Context, r *operations.Request) (any, error) {
		named := s.namedBy(r.Module, r.RPC, r.Input)
		if !s.aaa.Administers(ctx, operationPath(r.Module, r.RPC), r.Module, r.RPC, named) {
			return nil, fault.New(fault.Denied, "this needs the role admin, or one that names %s", r.RPC)
		}
		return h.Invoke(ctx, r)
	})
}

func onPlugin(f func(context.Context, string) error) operations.Handler {
	return operations.Func(func(ctx context.Context, in pluginName) (struct{}, error) {
		return struct{}{}, f(ctx, in.Name)
	})
}

type (
	pluginName struct {
		Name string `json:"name"`
	}
	systemStatus struct {
		Version string          `json:"version"`
		Started string          `json:"started"`
		Node    string          `json:"node"`
		Plugin  []pluginStatus  `json:"plugin,omitempty"`
		Feature []featureStatus `json:"feature,omitempty"`
	}
	pluginStatus struct {
		Name     string `json:"name"`
		Version  string `json:"version,omitempty"`
		State    string `json:"state"`
		Reason   string `json:"reason,omitempty"`
		Since    string `json:"since,omitempty"`
		Serving  bool   `json:"serving"`
		PID      int    `json:"pid,omitempty"`
		Restarts int    `json:"restarts"`
		Calls    uint64 `json:"calls,string"`
		Errors   uint64 `json:"errors,string"`
		Refused  uint64 `json:"refused,string"`
		InFlight int64  `json:"in-flight,string"`
	}
	featureStatus struct {
		Name        string   `json:"name"`
		Version     string   `json:"version"`
		Description string   `json:"description,omitempty"`
		State       string   `json:"state"`
		Required    bool     `json:"required"`
		Available   bool     `json:"available"`
		Note        string   `json:"note,omitempty"`
		Needs       []string `json:"needs,omitempty"`
		NeededBy    []string `json:"needed-by,omitempty"`
		Plugin      []string `json:"plugin,omitempty"`
	}
	featureNames struct {
		Name     []string `json:"name"`
		Simulate bool     `json:"simulate"`
		Grant    bool     `json:"grant"` // to install only
	}
	featureChanges struct {
		Change []string `json:"change,omitempty"`
	}
)

func formatInstant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func (s *Server) getStatus(context.Context, struct{}) (systemStatus, error) {
	version, _, _ := strings.Cut(Version(), " ")
	out := systemStatus{
		Version: version,
		Started: formatInstant(s.began),
		Node:    s.nodeName(),
	}
	for _, p := range s.plugins.List() {
		out.Plugin = append(out.Plugin, pluginStatus{
			Name:     p.Name,
			Version:  p.Version,
			State:    p.State.String(),
			Reason:   p.Reason,
			Since:    formatInstant(p.Since),
			Serving:  p.State.Serving(),
			PID:      p.PID,
			Restarts: p.Restarts,
			Calls:    p.Calls,
			Errors:   p.Errors,
			Refused:  p.Refused,
			InFlight: p.InFlight,
		})
	}
	for _, f := range s.features.List() {
		one := featureStatus{
			Name:        f.Name,
			Version:     f.Version,
			Description: f.Description,
			State:       f.State,
			Required:    f.Required,
			Available:   f.Available,
			Note:        f.Note,
			NeededBy:    f.NeededBy,
			Plugin:      f.Plugins,
		}
		for _, d := range f.Depends {
			one.Needs = append(one.Needs, d.Name)
		}
		out.Feature = append(out.Feature, one)
	}
	return out, nil
}

func (s *Server) installFeature(ctx context.Context, in featureNames) (featureChanges, error) {
	who, _ := caller.From(ctx)
	c, err := s.features.Install(ctx, in.Name, feature.InstallOptions{Simulate: in.Simulate,
		Agree: feature.Agreement{
			By:  who.User + "@" + who.Domain,
			All: in.Grant,
			To:  map[string][]grant.Grant{},
		}})
	var needed *grant.NeededError
	if errors.As(err, &needed) {
		err = fault.New(fault.Denied, "%s", needed.Error())
	}
	return changesOf(c), err
}

func (s *Server) uninstallFeature(ctx context.Context, in featureNames) (featureChanges, error) {
	c, err := s.features.Uninstall(ctx, in.Name, feature.UninstallOptions{Simulate: in.Simulate})
	return changesOf(c), err
}

func changesOf(c feature.Change) featureChanges {
	return featureChanges{append(append([]string{}, c.Lines()...), c.Stay...)}
}

// pluginDetails is what is known of a plugin besides its status.
type pluginDetails struct {
	Name       string       `json:"name"`
	Path       string       `json:"path,omitempty"`
	SHA256     string       `json:"sha256,omitempty"`
	Data       string       `json:"data-directory,omitempty"`
	Started    string       `json:"started,omitempty"`
	LastError  string       `json:"last-error,omitempty"`
	RestartAt  string       `json:"restart-at,omitempty"`
	Health     []healthNote `json:"health,omitempty"`
	Warning    []string     `json:"warning,omitempty"`
	Capability []string     `json:"capability,omitempty"`
	Uses       []string     `json:"uses,omitempty"`
	Line       []string     `json:"line,omitempty"`
}

type healthNote struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (s *Server) getPlugin(_ context.Context, in pluginName) (pluginDetails, error) {
	i, err := s.plugins.Info(in.Name)
	if err != nil {
		return pluginDetails{}, err
	}
	return detailsOf(i), nil
}

func detailsOf(i plugin.Info) pluginDetails {
	out := pluginDetails{
		Name:      i.Name,
		Path:      i.Path,
		SHA256:    i.SHA256,
		Data:      i.DataDir,
		Started:   formatInstant(i.Started),
		LastError: i.LastError,
		RestartAt: formatInstant(i.RestartAt),
		Warning:   i.Warnings,
	}
	for _, name := range slices.Sorted(maps.Keys(i.Health)) {
		out.Health = append(out.Health, healthNote{name, i.Health[name]})
	}
	for _, line := range i.Tail {
		out.Line = append(out.Line, logs.Printable(line))
	}
	if i.Manifest != nil {
		out.Capability, out.Uses = i.Manifest.Capabilities, i.Manifest.Uses
	}
	return out
}

type logEntry struct {
	Time    string `json:"time"`
	Level   string `json:"level"`
	Logger  string `json:"logger"`
	Message string `json:"message"`
	Record  string `json:"record,omitempty"`
}

type logEntries struct {
	Entry []logEntry `json:"entry,omitempty"`
}

func (s *Server) getLog(_ context.Context, in struct {
	Limit int `json:"limit"`
}) (logEntries, error) {
	var out logEntries
	for _, e := range s.registry.Recent(in.Limit) {
		out.Entry = append(
			out.Entry,
			logEntry{e.Time.UTC().Format(time.RFC3339Nano), logs.LevelName(e.Level), e.Logger, logs.Printable(e.Message), e.JSON},
		)
	}
	return out, nil
}

// showTime bounds one show.
const showTime = 30 * time.Second

type shownText struct {
	Content string `json:"content,omitempty"`
	Error   string `json:"error,omitempty"`
}

// showCommand runs a command of the console that changes nothing.
func (s *Server) showCommand(ctx context.Context, in struct {
	Command string `json:"command"`
}) (shownText, error) {
	ctx, cancel := context.WithTimeout(ctx, showTime)
	defer cancel()
	content, err := s.shell.Show(ctx, in.Command)
	if err == nil || content == "" {
		return shownText{Content: content}, err
	}
	return shownText{content, err.Error()}, nil
}
