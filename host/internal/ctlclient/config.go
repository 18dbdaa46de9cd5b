package ctlclient

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"ctl.internal/sdk/commands"
)

func (o *options) configCommand() *cobra.Command {
	c := group("config", "check or show the settings in a home, without a controller")
	var format string
	c.PersistentFlags().StringVar(&format, "format", "text", "text or json")
	validate := &cobra.Command{
		Use: "validate", Short: "check the files of etc/ as a start of the controller would", Args: cobra.NoArgs,
		Long: "Reads etc/ctl.yaml with the environment, sec.ini, the catalogue of features and the settings of plugins, and tells\n" +
			"every fault with its place. Nothing is changed and no port is opened. The exit code is 2 when the controller would not start.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.offlineConfig(cmd, "config:validate", format, nil, nil)
		},
	}
	var effective bool
	show := &cobra.Command{
		Use: "show [KEY]", Short: "show the settings that a start of the controller would take", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.offlineConfig(cmd, "config:show", format, map[string]string{"effective": strconv.FormatBool(effective)}, args)
		},
	}
	show.Flags().BoolVarP(&effective, "effective", "e", false, "all settings, also those that nobody changed")
	c.AddCommand(validate, show)
	return c
}

// offlineConfig runs the controller's own command on the files of the home.
func (o *options) offlineConfig(cmd *cobra.Command, name, format string, opts map[string]string, args []string) error {
	return o.files(cmd, &commands.Invocation{Name: name, Format: format, Options: opts, Args: map[string][]string{"key": args}})
}

// files runs a command that works on the files of the home.
func (o *options) files(cmd *cobra.Command, in *commands.Invocation) error {
	dir, err := o.homeDir()
	if err != nil {
		return err
	}
	return o.local(cmd, in, func(ctx context.Context, in *commands.Invocation) (int, error) { return o.offline(ctx, dir, in) })
}

// local runs a command in this process.
func (o *options) local(cmd *cobra.Command, in *commands.Invocation, run func(context.Context, *commands.Invocation) (int, error)) error {
	if in.Format != "text" && in.Format != "json" {
		return coded{exitUsage, errors.New("--format is text or json, not " + strconv.Quote(in.Format))}
	}
	in.Stdin, in.Stdout, in.Stderr = commands.NoInput, cmd.OutOrStdout(), cmd.ErrOrStderr()
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	if code, err := run(ctx, in); err != nil {
		return coded{code, err}
	}
	return nil
}
