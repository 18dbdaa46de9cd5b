package offline

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"ctl.internal/host/internal/console/exit"
	"ctl.internal/host/internal/console/settings"
	"ctl.internal/host/internal/console/tables"
	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Run runs config:validate, config:show, features:verify or snapshot:* on the files of a home
// and returns its exit code.
func Run(ctx context.Context, dir string, in *commands.Invocation) (int, error) {
	err := run(ctx, home.Dir(dir), in)
	return int(exit.Of(err)), err
}

func run(ctx context.Context, dir home.Dir, in *commands.Invocation) error {
	if c, ok := commands.Find(snapshotCommands(dir), in.Name); ok {
		return c.Run(ctx, in)
	}
	if _, err := os.Stat(string(dir)); errors.Is(err, fs.ErrPermission) {
		return fault.New(fault.Denied, "you may not look into the home %s; it belongs to the user who runs the controller", dir)
	} else if err != nil {
		return fault.New(fault.NotFound, "there is no home %s; name it with --home or CTL_HOME, ctld makes one at its first start", dir)
	}
	table := append(tables.ConfigCommands(files{dir}), verifyCommand(dir))
	c, ok := commands.Find(table, in.Name)
	if !ok {
		return fault.New(fault.NotFound, "there is no command %s", in.Name)
	}
	return c.Run(ctx, in)
}

// files are the settings of a home that no controller need run in.
type files struct{ dir home.Dir }

// Validate implements tables.Config.
func (f files) Validate(ctx context.Context) []home.Problem {
	return append(settings.Validate(f.dir, os.Environ()), settings.Plugins(ctx, f.dir, locator(f.dir, ""))...)
}

// Effective implements tables.Config.
func (f files) Effective() []home.Effective {
	loaded, _ := home.Load(f.dir, os.Environ(), nil)
	return loaded.Effective()
}

// locator looks for plugins in the directories given, else where ctld does.
func locator(dir home.Dir, given string) feature.Locator {
	if given != "" {
		return feature.Locator{Dirs: filepath.SplitList(given)}
	}
	return feature.Locator{Dirs: []string{besideProgram(), dir.Plugins()}}
}

// besideProgram is where make build and install.sh put the plugins.
func besideProgram() string {
	exe, err := os.Executable()
	if err != nil {
		return "plugins"
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	return filepath.Join(filepath.Dir(exe), "plugins")
}
