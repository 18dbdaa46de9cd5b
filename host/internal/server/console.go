package server

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"ctl.internal/host/internal/console/engine"
	"ctl.internal/host/internal/console/files"
	"ctl.internal/host/internal/console/history"
	"ctl.internal/host/internal/console/offline"
	"ctl.internal/host/internal/console/settings"
	"ctl.internal/host/internal/console/sshserver"
	"ctl.internal/host/internal/console/tables"
	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/logs"
	"ctl.internal/host/internal/plugin"
	"ctl.internal/host/internal/snapshot"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// openConsole opens the shell: the local socket always, the SSH port if set.
func (s *Server) openConsole(ctx context.Context) error {
	log := s.registry.Logger("org.ctl.console")
	version, commit, _ := strings.Cut(Version(), " ")
	missing := func(command string) []string {
		for name, table := range map[string]func() []commands.Command{
			certificateTable: s.certs.keystoreCommands,
			"encryption":     s.secrets.Commands,
		} {
			if _, ok := commands.Find(table(), command); ok {
				return s.features.ForCommand(command, name)
			}
		}
		return s.features.ForCommand(command)
	}
	audit := s.consoleAudit()
	s.shell = engine.New(engine.Config{
		Sources: []engine.Source{
			engine.Static(tables.FeatureCommands(s.features)),
			engine.Static(tables.PluginCommands(pluginTable{s.plugins, s})),
			engine.Static(tables.LogCommands(s.registry)),
			engine.Static(tables.AuditCommands(s.auditDir(), s.auditHeads)),
			engine.Static(s.cluster.Commands(s.joinToken)),
			engine.Static(tables.ConfigCommands(s.configTable())),
			engine.Static(s.aaa.RealmCommands()), engine.Static(s.aaa.OwnCommands()),
			engine.Static(tables.SnapshotCommands(s.writeSnapshot)),
			engine.Static(tables.SystemCommands(tables.System{
				Version:      version,
				Commit:       commit,
				Home:         string(s.home),
				Started:      s.began,
				Addresses:    s.listenAddresses,
				Shutdown:     s.options.shutdown,
				NotReady:     s.notReady,
				StoreParts:   s.storeParts,
				UnknownNames: s.unknownNames,
			})), engine.Static(tables.NowCommands(s.nowTable())), engine.Static(s.restCommands()),
			tables.FromHost("users", s.aaa.Commands, s.cliOn), tables.FromHost(
				certificateTable,
				s.certs.keystoreCommands,
				s.cliOn,
			),
			tables.FromHost("encryption", s.secrets.Commands, s.cliOn), tables.FromPlugins(
				s.plugins,
				s.cliOn,
				s.permitsCommand,
			),
			s.declaredCommands,
		},
		Missing:      missing,
		Log:          log,
		NewRequestID: s.ids.nextID,
		Audit:        audit,
		Refuse:       s.refuseCommand,
	})
	own := engine.New(engine.Config{
		Sources:      []engine.Source{engine.Static(s.aaa.OwnCommands())},
		Log:          log,
		NewRequestID: s.ids.nextID,
		Audit:        audit,
	})
	var err error
	s.console, err = sshserver.New(sshserver.Config{
		Shell:       s.shell,
		Own:         own,
		Histories:   history.New(s.home.Data("history"), s.loaded.Console.History),
		HostKeyFile: s.home.Data("ssh_host_key"),
		InitScript:  s.home.Etc("shell.init.script"),
		Greeting:    "ctl " + version + ": help lists the commands, Tab completes, Ctrl-D leaves.",
		Log:         log,
		Login:       s.aaa.Console(),
		Files:       files.New(string(s.home), s.loaded.Console.Directories),
		Idle:        s.loaded.Console.IdleTimeout,
	})
	if err != nil {
		return err
	}
	if err := s.console.ListenLocal(s.home.Run("console.sock")); err != nil {
		return err
	}
	if a := s.loaded.Listeners.SSH; !a.IsOff() {
		if s.sshAddress, err = s.console.ListenTCP(string(a)); err != nil {
			s.console.Close()
			return err
		}
		err := home.WriteFile(s.home.Run("ssh.addr"), []byte(s.sshAddress.String()+"\n"), 0o600)
		if err != nil {
			return err
		}
		log.Info("listening", "listener", "ssh", "address", s.sshAddress.String())
	}
	s.runInBackground(ctx, "console", s.console.Serve)
	return nil
}

// consoleAudit writes down each line of the console, into the audit unless it changes nothing and passed.
func (s *Server) consoleAudit() func(context.Context, engine.Audited) {
	log := s.registry.Logger("org.ctl.console.audit").Handler()
	return func(ctx context.Context, a engine.Audited) {
		rec := a.Record()
		_ = log.Handle(ctx, rec) // an error of the log itself cannot be reported
		if a.Code == 0 && (a.Helps || a.Reads && !givesSecrets(a.Line)) {
			return
		}
		one := logs.RecordOf(rec)
		if a.Code == 0 && ofAccess(a.Line) {
			one.Class = logs.ClassAccess
		}
		s.writeAudit(one, false)
	}
}

// unknownNames are those that requests asked for; none before requests are served.
func (s *Server) unknownNames() []string {
	if s.browsers == nil {
		return []string{}
	}
	return s.browsers.unknownNames()
}

// accessScopes are the scopes of commands that say who, and what, may do what.
var accessScopes = []string{"aaa:", "access:", "feature:", "plugin:", "config:"}

// ofAccess reports whether a line has such a command.
func ofAccess(line string) bool {
	return !strings.Contains(line, "aaa:change-own-pwd") &&
		slices.ContainsFunc(accessScopes, func(s string) bool {
			return strings.Contains(line, s)
		})
}

// givesSecrets reports whether a line that changes nothing writes secrets out.
func givesSecrets(line string) bool {
	return strings.Contains(line, "snapshot:save") || strings.Contains(line, "--secrets")
}

// unheld are commands that are never refused because the audit cannot be written.
var unheld = []string{"feature:uninstall", "access:unblock", "system:shutdown"}

// refuseCommand refuses what must be in the audit while that cannot be written.
func (s *Server) refuseCommand(name string) error {
	if s.audit.Failed() == nil ||
		slices.Contains(unheld, name) ||
		s.loaded.Audit.Required == "none" {
		return nil
	}
	if s.loaded.Audit.Required == "all" ||
		strings.HasPrefix(name, "aaa:") ||
		strings.HasPrefix(name, "access:") {
		return fault.New(fault.Unavailable, "%s", unwritable)
	}
	return nil
}

func (s *Server) listenAddresses() map[string]string {
	out := map[string]string{"console": s.home.Run("console.sock")}
	for _, l := range s.listeners {
		out[l.name] = l.address()
	}
	if s.sshAddress != nil {
		out["ssh"] = s.sshAddress.String()
	}
	return out
}

// cliOn reports whether an installed feature switches a command on.
func (s *Server) cliOn(plugin, command string) bool {
	return s.features.Active().CLI(plugin, command)
}

// writeSnapshot writes all data of the controller.
func (s *Server) writeSnapshot(
	ctx context.Context,
	w io.Writer,
	progress func(done, total int64),
) error {
	return snapshot.Save(
		ctx,
		snapshot.Source{
			Dir:     s.home,
			Store:   s.raw,
			Version: Version(),
			Node:    s.nodeName(),
		},
		w,
		progress,
	)
}

// pluginTable is the supervisor with a check that knows settings and schema too.
type pluginTable struct {
	*plugin.Manager
	s *Server
}

func (t pluginTable) Check(_ context.Context, name string) ([]string, error) {
	i, err := t.Info(name)
	if err != nil {
		return nil, err
	}
	var found []string
	if !i.State.Serving() {
		found = append(found, fmt.Sprintf("it is %s: %s", i.State, i.Reason))
	}
	if err := t.Verify(name); err != nil {
		found = append(found, err.Error())
	}
	if i.Manifest != nil {
		if _, err := t.s.pluginSettings(name, i.Manifest.ConfigSchema); err != nil {
			found = append(found, err.Error())
		}
	}
	if why := t.s.catalog.refusalReason(name); why != "" {
		found = append(found, "its YANG modules are refused: "+why)
	}
	return append(found, i.Warnings...), nil
}

func (t pluginTable) Decide(
	ctx context.Context,
	name, by string,
	granted bool,
	grants []grant.Grant,
) error {
	if err := t.s.features.Decide(ctx, name, by, granted, grants); err != nil {
		return err
	}
	t.s.noteGrantDecision(name, by, granted, grants)
	return nil
}

// configTable shows the settings to the console.
func (s *Server) configTable() tables.Config {
	return tables.Config{
		Home:      s.home,
		Effective: s.loaded.Effective,
		Validate: func(ctx context.Context) []home.Problem {
			return settings.All(ctx, s.home, os.Environ(), offline.Locator(s.home, ""))
		},
	}
}
