package tables

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ctl.internal/host/internal/home"
	"ctl.internal/internal/console"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

const (
	originDefault = "default" // origin of a setting that has its default value
	hostFile      = "ctl"     // the settings file that is meant when none is named
)

// Config reads the settings of a home.
type Config struct {
	Home home.Dir
	// Validate checks the files of etc/ as they are now, as a start would.
	Validate func(ctx context.Context) []home.Problem
	// Effective lists the settings the controller runs with.
	Effective func() []home.Effective
}

// ConfigCommands are config:*.
func ConfigCommands(c Config) []commands.Command {
	keys := eachName(c.Effective, func(s home.Effective) (string, bool) {
		return s.Key, true
	})
	key := commands.Argument{
		Name:     "key",
		Help:     "the setting, dotted",
		Required: true,
		Complete: keys,
	}
	file := commands.Option{
		Name:     "pid",
		Short:    "p",
		Aliases:  []string{"file"},
		Default:  hostFile,
		Help:     "the file in etc/ without .yaml: ctl, or the name of a plugin",
		Complete: newNameCompleter(c.listFileNames),
	}
	return []commands.Command{
		{
			Name:    "config:validate",
			Summary: "check the files of etc/ as they are now",
			Safe:    true,
			Help:    "Nothing is changed. ctl config validate does the same without a running controller.",
			Run: func(ctx context.Context, in *commands.Invocation) error {
				return emitProblems(in, c.Validate(ctx))
			},
		},
		{
			Name:    "config:list",
			Summary: "list what the files of etc/ set",
			Safe:    true,
			Run:     c.listSettings,
			Help:    "config:list switch\nSecrets are masked. Settings that no file names have their defaults: config:show --effective.",
			Arguments: []commands.Argument{{
				Name: "filter",
				Help: "only files and keys that contain this",
			}},
		},
		{
			Name:      "config:get",
			Summary:   "show one setting",
			Safe:      true,
			Run:       c.getSetting,
			Help:      "config:get limits.body\nconfig:get --pid switch traps.listen\nWhat no file sets is shown with its default, for ctl.",
			Options:   []commands.Option{file},
			Arguments: []commands.Argument{key},
		},
		{
			Name:    "config:set",
			Summary: "change one setting in a file of etc/",
			Run:     c.setSetting,
			Help: "config:set limits.body 16MiB\nconfig:set --pid switch discovery.interval 5m\nThe file is checked as config:validate does; one that is refused stays as it was. Comments stay.\n" +
				"Settings that widen what can be done from another machine (console.directories, audit, tls.key, …) are set on the machine of the controller only.\n" +
				"ctl.yaml is read at the start of the controller, the file of a plugin by plugin:reload.",
			Options: []commands.Option{file},
			Arguments: []commands.Argument{key, {
				Name:     "value",
				Help:     "as in YAML",
				Required: true,
			}},
		},
		{
			Name:    "config:show",
			Summary: "show the settings",
			Safe:    true,
			Run:     c.showEffective,
			Help:    "config:show --effective\nconfig:show --effective limits",
			Options: []commands.Option{boolOption(
				"effective",
				"e",
				"all settings, also those with their default value",
			)},
			Arguments: []commands.Argument{{
				Name:     "key",
				Help:     "only settings whose key begins with this",
				Complete: keys,
			}},
		},
	}
}

// listFileNames are those of etc/ with settings, by name.
func (c Config) listFileNames() []string {
	files, _ := filepath.Glob(c.Home.Etc("*.yaml")) // the pattern is well-formed
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".yaml")
	}
	return files
}

func (c Config) showEffective(_ context.Context, in *commands.Invocation) error {
	out := &commands.Table{
		Empty: "all settings have their defaults",
		Columns: []commands.Column{{
			Title: "Setting",
			Key:   "key",
		}, {
			Title: "Value",
			Key:   "value",
		}, {Title: "From", Key: "origin"}},
	}
	for _, s := range c.Effective() {
		if strings.HasPrefix(s.Key, in.Arg("key")) &&
			(in.Flag("effective") || s.Origin != originDefault) {
			out.Add(s.Key, s.Value, s.Origin)
		}
	}
	return in.Emit(out, nil)
}

func (c Config) listSettings(_ context.Context, in *commands.Invocation) error {
	out := &commands.Table{
		Empty: "the files set nothing",
		Columns: []commands.Column{{
			Title: "File",
			Key:   "file",
		}, {
			Title: "Setting",
			Key:   "key",
		}, {Title: "Value", Key: "value"}},
	}
	for _, name := range c.listFileNames() {
		all, err := c.Home.Settings(name)
		if err != nil {
			return fault.Wrap(fault.Invalid, err, "%v", err)
		}
		for _, s := range all {
			if strings.Contains(name+":"+s.Key, in.Arg("filter")) {
				out.Add(name, s.Key, s.Value)
			}
		}
	}
	return in.Emit(out, nil)
}

func (c Config) getSetting(_ context.Context, in *commands.Invocation) error {
	key, name := in.Arg("key"), in.Option("pid")
	all, err := c.Home.Settings(name)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "%v", err)
	}
	if name == hostFile {
		all = append(all, c.Effective()...)
	}
	i := slices.IndexFunc(all, func(s home.Effective) bool { return s.Key == key })
	if i < 0 {
		return fault.New(
			fault.NotFound,
			"etc/%s.yaml does not set %s; config:list %s shows its settings",
			name,
			key,
			name,
		)
	}
	return in.Emit(map[string]string{
		"key":   key,
		"value": all[i].Value,
	}, func() string { return all[i].Value + "\n" })
}

func (c Config) setSetting(ctx context.Context, in *commands.Invocation) error {
	name := in.Option("pid")
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return fault.New(fault.Invalid, "%q is not the name of a file in etc/", name)
	}
	key := in.Arg("key")
	if name == hostFile && in.Caller.Address != "" && touchesLocalSetting(key) {
		return fault.New(
			fault.Denied,
			"%s decides what an administrator may do from another machine, so it is set only on the machine of the controller: ctl 'config:set %s …' there",
			key,
			key,
		)
	}
	before := fatalProblems(c.Validate(ctx))
	undo, err := c.Home.Set(name, in.Arg("key"), in.Arg("value"))
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "%v", err)
	}
	for _, p := range fatalProblems(c.Validate(ctx)) {
		if !slices.Contains(before, p) {
			return errors.Join(fault.New(fault.Invalid, "%s", p), undo())
		}
	}
	next := "plugin:reload " + name
	if name == hostFile {
		next = "a restart of the controller"
	}
	fmt.Fprintf(in.Stdout, "etc/%s.yaml is changed; it holds after %s\n", name, next)
	return nil
}

// localSettings are those that widen what an administrator may do from another machine, or hide it.
var localSettings = []string{"console.directories", "audit", "supervisor.isolation", "tls.certificate", "tls.key", "listeners.admin", "listeners.names",
	"listeners.proxies", "aaa.throttle", "aaa.trustedOrigins", "notify"}

// touchesLocalSetting reports whether a setting is one of localSettings, a part of one, or holds one.
func touchesLocalSetting(key string) bool {
	return slices.ContainsFunc(localSettings, func(local string) bool {
		return key == local ||
			strings.HasPrefix(key, local+".") ||
			strings.HasPrefix(local, key+".")
	})
}

// fatalProblems are the problems that would stop a start, as text without line numbers, which a change moves.
func fatalProblems(all []home.Problem) []string {
	var out []string
	for _, p := range all {
		if p.Line = 0; !p.Warning {
			out = append(out, p.String())
		}
	}
	return out
}

// emitProblems shows what was found and fails when something would stop a start.
func emitProblems(in *commands.Invocation, found []home.Problem) error {
	faults := len(fatalProblems(found))
	err := in.Emit(append([]home.Problem{}, found...), func() string {
		var b strings.Builder
		for _, p := range found {
			line := p.String()
			if p.Warning {
				line = "warning: " + line
			}
			b.WriteString(console.Printable(line) + "\n")
		}
		if faults == 0 {
			b.WriteString("the settings are valid\n")
		}
		return b.String()
	})
	if err == nil && faults > 0 {
		err = fault.New(
			fault.Invalid,
			"the controller, or a plugin, would not start with these settings (faults: %d)",
			faults,
		)
	}
	return err
}
