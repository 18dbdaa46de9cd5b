// Package ctlclient is the program ctl: an SSH client of the controller's local
// console, interactive, for one line or for a file of lines, and the operator's
// commands that need no running controller.
package ctlclient

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"ctl.internal/internal/console"
)

// options are the flags before the command.
type options struct {
	std       Streams
	home      string
	format    string
	file      string
	batch     bool
	keepGoing bool
	line      string // that is run, when it is one
}

func newRoot(std Streams) *cobra.Command {
	o := &options{std: std}
	root := &cobra.Command{
		Use:   "ctl [flags] [COMMAND]",
		Short: "console of the network-lab controller",
		Long: "Without a command ctl is the interactive shell of the controller that runs in the home.\n" +
			"With one it runs it there and ends with its exit code.\n\n" +
			"One argument is a line of that shell (ctl 'feature:list | grep bier; plugin:list'); several are\n" +
			"the words of one command (ctl feature:install ctl-switch-all). What begins with one of the\n" +
			"words below is done by ctl itself; everything else, and everything with a colon, goes to the\n" +
			"controller: \"ctl config validate\" reads files, \"ctl config:validate\" asks the controller, and\n\"ctl shell:help\" lists what the controller can do.\n\n" +
			"Exit codes:\n" + console.Codes(),
		Example:           "  ctl\n  ctl feature:install ctl-switch-all\n  ctl --format json 'plugin:list'\n  ctl -f setup.ctl\n  ctl 'log:tail | grep -i error'",
		Args:              cobra.ArbitraryArgs,
		Version:           versionText(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		ValidArgsFunction: o.completeLine,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.runCommand(cmd, args)
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.PersistentFlags().StringVar(
		&o.home,
		"home",
		"",
		"home directory of the controller (CTL_HOME, else that of the installation, else ./ctl-home)",
	)
	f := root.Flags()
	f.SetInterspersed(false)
	f.StringVar(&o.format, "format", "", "form of the output of every command: text or json")
	f.StringVarP(&o.file, "file", "f", "", "run the lines of a file, until one fails")
	f.BoolVarP(&o.batch, "batch", "b", false, "run the lines of standard input, until one fails")
	f.BoolVarP(
		&o.keepGoing,
		"keep-going",
		"k",
		false,
		"with -f or -b: do not stop at a line that fails",
	)
	root.AddCommand(operatorCommands(o)...)
	root.SetHelpCommand(o.helpCommand(root))
	access := newGroupCommand("access", "ask the controller what a user may do, and why")
	access.AddCommand(&cobra.Command{
		Use:   "explain USER METHOD PATH",
		Short: "show which line, realm, role and policy decide a request",
		Args:  cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.oneLine(
				cmd.Context(),
				console.Join(append([]string{"access:explain"}, args...)),
			)
		},
	})
	root.AddCommand(access)
	return root
}

// helpCommand explains ctl's own commands itself and has the controller explain its.
func (o *options) helpCommand(root *cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "explain a command of ctl, or of the controller",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormat(o.format); err != nil {
				return err
			}
			own, rest, err := root.Find(args)
			if o.format != "json" &&
				(len(args) == 0 || err == nil && own != root && len(rest) == 0) {
				return own.Help()
			}
			return o.oneLine(cmd.Context(), console.Join(append([]string{"help"}, args...)))
		},
	}
	c.Flags().StringVar(
		&o.format,
		"format",
		"",
		"text or json; as JSON it is what the controller can do",
	)
	return c
}

func checkFormat(format string) error {
	if format != "" && format != "text" && format != "json" {
		return coded{console.Usage, fmt.Errorf("--format must be text or json, not %q", format)}
	}
	return nil
}

func (o *options) runCommand(cmd *cobra.Command, args []string) error {
	if err := checkFormat(o.format); err != nil {
		return err
	}
	if (o.file != "" || o.batch) && len(args) > 0 || o.file != "" && o.batch {
		return coded{console.Usage, errors.New("give one of a command, -f FILE and -b")}
	}
	switch {
	case len(args) == 1:
		return o.oneLine(cmd.Context(), args[0])
	case len(args) > 1:
		return o.oneLine(cmd.Context(), console.Join(args))
	case o.file != "":
		f, err := os.Open(o.file)
		if err != nil {
			return coded{console.NotFound, err}
		}
		defer f.Close()
		return o.runLines(cmd.Context(), f, o.file)
	case o.batch || o.std.TTY == nil:
		return o.runLines(cmd.Context(), o.std.In, "stdin")
	}
	return o.runInteractive(cmd.Context())
}

// homeDir is the home as an absolute path: flag, environment, default.
func (o *options) homeDir() (string, error) {
	home := cmp.Or(o.home, console.DefaultHome())
	return filepath.Abs(home)
}
