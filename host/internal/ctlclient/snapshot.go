package ctlclient

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/console"
)

func (o *options) snapshotCommand() *cobra.Command {
	c := newGroupCommand(
		"snapshot",
		"save all data of the controller into a file, or make a home of one",
	)
	save := &cobra.Command{
		Use:   "save FILE",
		Short: "write a snapshot of the datastore, etc/ and the keystores",
		Args:  cobra.ExactArgs(1),
		Long: "A controller that runs goes on; the snapshot holds everything that was acknowledged before it began. Without one the\n" +
			"files of the home are read. FILE opens all secrets: it gets mode 0600, and should be kept as secret as the home.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.saveSnapshot(cmd, args[0])
		},
	}
	restore := &cobra.Command{
		Use:   "restore FILE",
		Short: "make the home what it was when a snapshot was saved",
		Args:  cobra.ExactArgs(1),
		Long: "The home is empty, or its controller is stopped. The whole file is checked first; what was in the home is kept beside, in\n" +
			"before-restore-TIME in the home. With datastore.engine: etcd the data goes into etcd, which must have none under the prefix.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.runOffline(
				cmd,
				console.Offline{
					Name:   "snapshot:restore",
					Format: "text",
					Args:   map[string][]string{"file": args},
				},
			)
		},
	}
	c.AddCommand(save, restore)
	return c
}

// saveSnapshot writes beside the file and puts it in place when it is whole.
func (o *options) saveSnapshot(cmd *cobra.Command, path string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".snapshot-*") // mode 0600
	if err != nil {
		return coded{console.Failed, err}
	}
	defer os.Remove(f.Name())
	err = o.snapshotTo(cmd, f)
	if err == nil {
		err = f.Sync()
	}
	size := int64(0)
	if info, serr := f.Stat(); serr == nil {
		size = info.Size()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		var c coded
		if errors.As(err, &c) {
			return c
		}
		return coded{console.Failed, err}
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return coded{console.Failed, err}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "saved %s (%d KiB)\n", path, (size+1023)>>10)
	return nil
}

// snapshotTo asks the controller, or reads the home when none runs.
func (o *options) snapshotTo(cmd *cobra.Command, f *os.File) error {
	l, err := o.dialConsole(cmd.Context())
	if hasCode(err, console.Unavailable) {
		return o.runOffline(
			cmd,
			console.Offline{
				Name:   "snapshot:save",
				Format: "text",
				Args:   map[string][]string{"file": {f.Name()}},
			},
		)
	}
	if err != nil {
		return err
	}
	return l.runSession(nil, f, func(s *ssh.Session) error {
		return s.Start("snapshot:save")
	})
}
