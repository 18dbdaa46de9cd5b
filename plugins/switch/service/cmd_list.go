package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

func (s *Service) cmdReadDB() commands.Command {
	return commands.Command{
		Name:    "switch:ReadDB",
		Summary: "Load the switch list from a CSV file",
		Help: "Replaces the switch list by the file's and discovers the network. Lines that cannot be used are shown\n" +
			"with their numbers; the others are loaded. The first line is the title line:\n" +
			"  MAC,IP,SNMP_Community,CLI_Username,CLI_Password,Model\n" +
			"and may name further columns: Port, Version, V3_User, V3_Auth_Protocol, V3_Auth_Password,\n" +
			"V3_Priv_Protocol, V3_Priv_Password, Read_Community, Write_Community, Driver, CLI_Transport, CLI_Port,\n" +
			"V3_Context, V3_Bridge_Context, Answers_From.\n" +
			"Version none is a switch that is not asked by SNMP: its driver, or the vendor-specific configuration,\n" +
			"serves it; naming a Driver and no community means the same. A community or password may be a text of\n" +
			"aaa:seal-secret.\n" +
			"A relative path is below the controller's home. The file is read on the node that you ask, and again\n" +
			"whenever it changes there.\n\n" +
			"Example: switch:ReadDB etc/switch_swdb.csv",
		Arguments: []commands.Argument{{
			Name:     "path",
			Help:     "the file",
			Type:     commands.File,
			Required: true,
			Complete: commands.Files(s.base, ".csv"),
		}},
		Run: s.runReadDB,
	}
}

func (s *Service) resolvePath(name string) string {
	return commands.Path(s.base, name)
}

func (s *Service) runReadDB(ctx context.Context, in *commands.Invocation) error {
	l, err := s.database.File(ctx, s.resolvePath(in.Arg("path")))
	if err != nil {
		if len(l.Problems) > 0 && l.Switches == 0 { // nothing of it could be used
			rest := l // the error names the first already
			first := slices.IndexFunc(l.Problems, func(p switchlist.Problem) bool {
				return !p.Loaded
			})
			rest.Problems = slices.Delete(slices.Clone(l.Problems), max(first, 0), max(first, 0)+1)
			return errors.Join(
				in.Emit(reportOfList(l), func() string { return problemLines(rest) }),
				err,
			)
		}
		return err
	}
	return in.Emit(reportOfList(l), func() string {
		return problemLines(l) + l.String() + "\n"
	})
}

// reportOfList is a list as it is shown: without problems there is an empty array of them.
func reportOfList(l switchlist.Loaded) switchlist.Loaded {
	l.Problems = append([]switchlist.Problem{}, l.Problems...)
	return l
}

// maxProblemLines is how many lines with problems the text shows; JSON has all.
const maxProblemLines = 100

func problemLines(l switchlist.Loaded) string {
	var b strings.Builder
	for i, p := range l.Problems {
		if i == maxProblemLines {
			fmt.Fprintf(&b, "… and %d more lines with problems\n", len(l.Problems)-i)
			break
		}
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}

// maxCompletions bounds what a list of any size offers.
const maxCompletions = 200

func (s *Service) cmdImportDB() commands.Command {
	return commands.Command{
		Name:    "switch:ImportDB",
		Summary: "Read a CSV file into the stored switch list, secrets sealed",
		Help: "Replaces the switch list by the file's and keeps it in the controller, its communities and passwords\n" +
			"sealed: the file is not needed afterwards. Secrets that the file lacks are taken from the list in force, so\n" +
			"that a list from switch:ExportDB can be changed and read again. switch:ReadDB and switch-db:reload-db go\n" +
			"back to a file.\n\nExample: switch:ImportDB etc/switch_swdb.csv",
		Arguments: []commands.Argument{{
			Name:     "path",
			Help:     "the file",
			Type:     commands.File,
			Required: true,
			Complete: commands.Files(s.base, ".csv"),
		}},
		Options: []commands.Option{{
			Name: "skip",
			Help: "leave lines out that cannot be used",
			Type: commands.Bool,
		}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			l, err := s.database.Import(ctx, s.resolvePath(in.Arg("path")), in.Flag("skip"))
			if l.Path == "" {
				return err
			}
			return errors.Join(in.Emit(reportOfList(l), func() string {
				if err != nil {
					return problemLines(l)
				}
				return problemLines(l) + l.String() + "\n"
			}), err)
		},
	}
}

func (s *Service) cmdExportDB() commands.Command {
	return commands.Command{
		Name:    "switch:ExportDB",
		Summary: "Write the switch list as CSV, without secrets unless asked",
		Help: "Shows the switch list, or writes it to a new file that only the controller's user can read. With --secrets\n" +
			"communities and passwords are in it, in clear; then a file is required, so that no terminal shows them.\n\n" +
			"Example: switch:ExportDB --secrets etc/backup.csv",
		Arguments: []commands.Argument{{
			Name: "path",
			Help: "the new file",
			Type: commands.NewFile,
		}},
		Options: []commands.Option{{
			Name: "secrets",
			Help: "with communities and passwords",
			Type: commands.Bool,
		}},
		Run: s.runExportDB,
	}
}

func (s *Service) runExportDB(_ context.Context, in *commands.Invocation) error {
	path, secrets := in.Arg("path"), in.Flag("secrets")
	if secrets && path == "" {
		return fault.New(fault.Invalid, "secrets are written only to a file: give a file name")
	}
	var b bytes.Buffer
	if err := switchlist.Write(&b, s.inventory.Entries(), secrets); err != nil {
		return err
	}
	if path == "" {
		in.Printf("%s", b.String())
		return nil
	}
	f, err := os.OpenFile(s.resolvePath(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		kind := fault.Invalid
		if errors.Is(err, fs.ErrExist) {
			kind = fault.Exists
		}
		return fault.Wrap(kind, err, "the list could not be written: %v", commands.FileError(err))
	}
	_, err = f.Write(b.Bytes())
	if err = errors.Join(err, f.Close()); err != nil {
		return fault.Wrap(fault.Unavailable, err, "the list was not written completely: %v", err)
	}
	in.Printf("%d switches written to %s\n", len(s.inventory.Entries()), s.resolvePath(path))
	return nil
}

func (s *Service) cmdPrintDB() commands.Command {
	return commands.Command{
		Name:    "switch:PrintDB",
		Summary: "Show the switch list",
		Safe:    true,
		Help: "Shows the switches of the list, how they are controlled and when they last answered. Communities and\n" +
			"passwords are never shown.",
		Run: s.runPrintDB,
	}
}

func (s *Service) runPrintDB(_ context.Context, in *commands.Invocation) error {
	t := commands.Table{
		Empty: "The switch list is empty.",
		Columns: []commands.Column{
			{
				Title: "MAC_address (sid)",
				Key:   "mac-address",
			}, {Title: "IP_address", Key: "ip-address"},
			{
				Title: "SNMP",
				Key:   "snmp-version",
			}, {Title: "SNMP_community", Key: "snmp-community"},
			{
				Title: "CLI_username",
				Key:   "cli-username",
			}, {Title: "CLI_password", Key: "cli-password"},
			{
				Title: "Model_name",
				Key:   "model",
				Max:   32,
			}, {
				Title: "Driver",
				Key:   "driver",
			}, {Title: "State", Key: "state", Max: 60},
		},
	}
	for _, e := range s.inventory.Entries() {
		t.Add(fmt.Sprintf("00:00:%s (%d)", e.MAC, uint64(e.MAC)), e.Place(),
			formatVersion(e), maskSecret(e.ReadCommunity), e.CLIUser, maskSecret(e.CLIPassword), e.Model, s.driverOf(e), s.switchState(e))
	}
	return in.Emit(t, nil)
}

// maskSecret shows that there is a secret, not even how long it is.
func maskSecret(secret string) string {
	if secret == "" {
		return ""
	}
	return "********"
}

func formatVersion(e switchlist.Entry) string {
	if e.Version == "" {
		return "2c or 1"
	}
	return e.Version
}

// driverOf names what controls a switch: its own drivers, the standard one for the rest.
func (s *Service) driverOf(e switchlist.Entry) any {
	var names []string
	for _, c := range s.drivers.Choices(e.Switch()) {
		names = append(names, c.Name)
	}
	if len(names) > 1 {
		names = names[:len(names)-1]
	}
	if e.Driver != "" && !slices.Contains(names, e.Driver) {
		names = []string{e.Driver + " (not there)"}
	}
	return commands.List(", ", names)
}

func (s *Service) switchState(e switchlist.Entry) string {
	o, err := s.survey.Observation(e.MAC), s.survey.Failure(e.MAC)
	switch {
	case o == nil && err == nil:
		return "not asked yet"
	case o == nil:
		return err.Error()
	case err != nil:
		return fmt.Sprintf("silent; last answered %s ago", ageOf(o.Observed))
	}
	if m := s.survey.Impostor(e.MAC); m != 0 {
		return fmt.Sprintf(
			"not changed: it says that it is %s; answered %s ago",
			m,
			ageOf(o.Observed),
		)
	}
	if len(o.Cut) > 0 {
		return fmt.Sprintf(
			"partial: %s; answered %s ago",
			strings.Join(o.CutTables(), ", "),
			ageOf(o.Observed),
		)
	}
	return fmt.Sprintf("answered %s ago", ageOf(o.Observed))
}

func ageOf(t time.Time) time.Duration {
	return time.Since(t).Round(time.Second)
}
