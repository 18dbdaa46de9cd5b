package shell

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"

	"ctl.internal/plugins/switch/csvlist"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

func (s *Shell) importDB() commands.Command {
	return commands.Command{
		Name: "switch:ImportDB", Summary: "Read a CSV file into the stored switch list, secrets sealed",
		Help: "Replaces the switch list by the file's and keeps it in the controller, its communities and passwords\n" +
			"sealed: the file is not needed afterwards. Secrets that the file lacks are taken from the list in force, so\n" +
			"that a list from switch:ExportDB can be changed and read again. switch:ReadDB and switch-db:reload-db go\n" +
			"back to a file.\n\nExample: switch:ImportDB etc/switch_swdb.csv",
		Arguments: []commands.Argument{{Name: "path", Help: "the file", Type: commands.File, Required: true, Complete: s.completePath}},
		Options:   []commands.Option{{Name: "skip", Help: "leave lines out that cannot be used", Type: commands.Bool}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			l, err := s.Database.Import(ctx, s.path(in.Arg("path")), in.Flag("skip"))
			if l.Path == "" {
				return err
			}
			return errors.Join(in.Emit(report(l), func() string {
				if err != nil {
					return told(l)
				}
				return told(l) + l.String() + "\n"
			}), err)
		},
	}
}

func (s *Shell) exportDB() commands.Command {
	return commands.Command{
		Name: "switch:ExportDB", Summary: "Write the switch list as CSV, without secrets unless asked",
		Help: "Shows the switch list, or writes it to a new file that only the controller's user can read. With --secrets\n" +
			"communities and passwords are in it, in clear; then a file is required, so that no terminal shows them.\n\n" +
			"Example: switch:ExportDB --secrets etc/backup.csv",
		Arguments: []commands.Argument{{Name: "path", Help: "the new file", Type: commands.NewFile}},
		Options:   []commands.Option{{Name: "secrets", Help: "with communities and passwords", Type: commands.Bool}},
		Run:       s.runExportDB,
	}
}

func (s *Shell) runExportDB(_ context.Context, in *commands.Invocation) error {
	path, secrets := in.Arg("path"), in.Flag("secrets")
	if secrets && path == "" {
		return fault.New(fault.Invalid, "secrets are written to a file only: name one")
	}
	var b bytes.Buffer
	if err := csvlist.Write(&b, s.Inventory.Entries(), secrets); err != nil {
		return err
	}
	if path == "" {
		in.Printf("%s", b.String())
		return nil
	}
	f, err := os.OpenFile(s.path(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		kind := fault.Invalid
		if errors.Is(err, fs.ErrExist) {
			kind = fault.Exists
		}
		return fault.Wrap(kind, err, "the list is not written: %v", err)
	}
	_, err = f.Write(b.Bytes())
	if err = errors.Join(err, f.Close()); err != nil {
		return fault.Wrap(fault.Unavailable, err, "the list is not written whole: %v", err)
	}
	in.Printf("%d switches written to %s\n", len(s.Inventory.Entries()), s.path(path))
	return nil
}
