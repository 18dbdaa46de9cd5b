// Package offline runs the commands of ctl that need no running controller: ctl starts ctld for them, which
// links what they need. The tables of the commands that a running controller has, too, are in package tables.
package offline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"ctl.internal/host/internal/console/settings"
	"ctl.internal/host/internal/console/tables"
	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/home"
	"ctl.internal/internal/console"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Main runs a command that is given as the JSON of console.Offline on the files of a home, and returns its
// exit code.
func Main(ctx context.Context, dir home.Dir, command string, stdout, stderr io.Writer) int {
	signal.Reset(syscall.SIGPIPE) // ctl config show | head
	status := &console.StatusLine{Out: stderr}
	var in console.Offline
	err := json.Unmarshal([]byte(command), &in)
	if err == nil {
		err = runOffline(ctx, dir, &commands.Invocation{
			Name:     in.Name,
			Format:   in.Format,
			Options:  in.Options,
			Args:     in.Args,
			Stdin:    commands.NoInput,
			Stdout:   stdout,
			Stderr:   status,
			Terminal: terminal{status},
		})
	}
	status.Clear()
	if err != nil {
		fmt.Fprintf(stderr, "error: %v\n", err)
	}
	return int(console.CodeOf(err))
}

func runOffline(ctx context.Context, dir home.Dir, in *commands.Invocation) error {
	table := append(snapshotCommands(dir), checkCommand())
	if c, ok := commands.Find(table, in.Name); ok {
		return c.Run(ctx, in)
	}
	if _, err := os.Stat(string(dir)); errors.Is(err, fs.ErrPermission) {
		return fault.New(
			fault.Denied,
			"you have no access to the home %s; it belongs to the user who runs the controller",
			dir,
		)
	} else if err != nil {
		return fault.New(
			fault.NotFound,
			"there is no home %s; name it with --home or CTL_HOME; ctld creates one at its first start",
			dir,
		)
	}
	table = append(tables.ConfigCommands(offlineConfig(dir)), verifyCommand(dir))
	c, ok := commands.Find(table, in.Name)
	if !ok {
		return fault.New(fault.NotFound, "there is no command %s", in.Name)
	}
	return c.Run(ctx, in)
}

// terminal shows progress and answers no question.
type terminal struct{ status *console.StatusLine }

func (terminal) Prompt(context.Context, string, bool) (string, error) {
	return "", errors.New("this command cannot ask questions")
}

func (t terminal) Progress(p commands.Progress) {
	t.status.Show(console.Progress{
		Text:  p.Text,
		Done:  uint64(max(p.Done, 0)),
		Total: uint64(max(p.Total, 0)),
	})
}

// offlineConfig are the settings of a home that no controller need run in.
func offlineConfig(dir home.Dir) tables.Config {
	return tables.Config{Home: dir,
		Validate: func(ctx context.Context) []home.Problem {
			return settings.All(ctx, dir, os.Environ(), Locator(dir, ""))
		},
		Effective: func() []home.Effective {
			loaded, _ := home.Load(dir, os.Environ(), nil)
			return loaded.Effective()
		}}
}

// Locator looks for plugins in the directories given, else beside ctld and in the home.
func Locator(dir home.Dir, given string) feature.Locator {
	if given != "" {
		return feature.Locator{Dirs: filepath.SplitList(given)}
	}
	beside, err := console.ProgramDir() // where make build and install.sh put the plugins
	if err != nil {
		beside = "."
	}
	return feature.Locator{Dirs: []string{filepath.Join(beside, "plugins"), dir.Plugins()}}
}
