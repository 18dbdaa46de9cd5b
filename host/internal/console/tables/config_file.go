package tables

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// hostFile is the settings file that is meant when none is named.
const hostFile = "ctl"

func fileOption(c Config) commands.Option {
	return commands.Option{Name: "pid", Short: "p", Aliases: []string{"file"}, Default: hostFile,
		Help: "the file in etc/ without .yaml: ctl, or the name of a plugin", Complete: names(func() []string { return settingsFiles(c.Home()) })}
}

func settingsFiles(dir home.Dir) []string {
	files, _ := filepath.Glob(dir.Etc("*.yaml")) // the pattern is well-formed
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".yaml")
	}
	return files
}

func listCommand(c Config) commands.Command {
	return commands.Command{
		Name: "config:list", Summary: "list what the files of etc/ set", Safe: true,
		Help:      "config:list switch\nSecrets are masked. Settings that no file names have their defaults: config:show --effective.",
		Arguments: []commands.Argument{{Name: "filter", Help: "only files and keys that contain this"}},
		Run: func(_ context.Context, in *commands.Invocation) error {
			out := &commands.Table{Empty: "the files set nothing", Columns: []commands.Column{{Title: "File", Key: "file"}, {Title: "Setting", Key: "key"}, {Title: "Value", Key: "value"}}}
			for _, name := range settingsFiles(c.Home()) {
				all, err := c.Home().Settings(name)
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
		},
	}
}

func getCommand(c Config) commands.Command {
	return commands.Command{
		Name: "config:get", Summary: "show one setting", Safe: true,
		Help:      "config:get limits.body\nconfig:get --pid switch traps.listen\nWhat no file sets is shown with its default, for ctl.",
		Options:   []commands.Option{fileOption(c)},
		Arguments: []commands.Argument{{Name: "key", Help: "the setting, dotted", Required: true, Complete: names(func() []string { return keys(c.Effective()) })}},
		Run: func(_ context.Context, in *commands.Invocation) error {
			key, name := in.Arg("key"), in.Option("pid")
			all, err := c.Home().Settings(name)
			if err != nil {
				return fault.Wrap(fault.Invalid, err, "%v", err)
			}
			if name == hostFile {
				all = append(all, c.Effective()...)
			}
			i := slices.IndexFunc(all, func(s home.Effective) bool { return s.Key == key })
			if i < 0 {
				return fault.New(fault.NotFound, "etc/%s.yaml does not set %s; config:list %s shows what it sets", name, key, name)
			}
			return in.Emit(map[string]string{"key": key, "value": all[i].Value}, func() string { return all[i].Value + "\n" })
		},
	}
}

func setCommand(c Config) commands.Command {
	return commands.Command{
		Name: "config:set", Summary: "change one setting in a file of etc/",
		Help: "config:set limits.body 16MiB\nconfig:set --pid switch discovery.interval 5m\nThe file is checked as config:validate does; one that is refused stays as it was. Comments stay.\n" +
			"ctl.yaml is read at the start of the controller, the file of a plugin by plugin:reload.",
		Options: []commands.Option{fileOption(c)},
		Arguments: []commands.Argument{{Name: "key", Help: "the setting, dotted", Required: true, Complete: names(func() []string { return keys(c.Effective()) })},
			{Name: "value", Help: "as in YAML", Required: true}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			name := in.Option("pid")
			if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
				return fault.New(fault.Invalid, "%q is not the name of a file in etc/", name)
			}
			before := faults(c.Validate(ctx))
			undo, err := c.Home().Set(name, in.Arg("key"), in.Arg("value"))
			if err != nil {
				return fault.Wrap(fault.Invalid, err, "%v", err)
			}
			for _, p := range faults(c.Validate(ctx)) {
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
		},
	}
}

// faults are the problems that would stop a start, as text without line numbers, which a change moves.
func faults(all []home.Problem) []string {
	var out []string
	for _, p := range all {
		if p.Line = 0; !p.Warning {
			out = append(out, p.String())
		}
	}
	return out
}
