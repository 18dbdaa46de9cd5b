package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ctl.internal/plugins/switch/inventory"
	"ctl.internal/sdk/commands"
)

func (s *Shell) readDB() commands.Command {
	return commands.Command{
		Name: "switch:ReadDB", Summary: "Load the switch list from a CSV file",
		Help: "Replaces the switch list by the file's and discovers the network. Lines that cannot be used are shown\n" +
			"with their numbers; the others are loaded. The first line is the title line:\n" +
			"  MAC,IP,SNMP_Community,CLI_Username,CLI_Password,Model\n" +
			"and may name further columns: Port, Version, V3_User, V3_Auth_Protocol, V3_Auth_Password,\n" +
			"V3_Priv_Protocol, V3_Priv_Password, Read_Community, Write_Community, Driver, CLI_Transport, CLI_Port.\n" +
			"Version none is a switch that is not asked by SNMP: its driver, or the vendor-specific configuration,\n" +
			"serves it; naming a Driver and no community means the same. A community or password may be a text of\n" +
			"aaa:seal-secret.\n" +
			"A relative path is below the controller's home. The file is read on the node that you ask, and again\n" +
			"whenever it changes there.\n\n" +
			"Example: switch:ReadDB etc/switch_swdb.csv",
		Arguments: []commands.Argument{{Name: "path", Help: "the file", Type: commands.File, Required: true, Complete: s.completePath}},
		Run:       s.runReadDB,
	}
}

func (s *Shell) path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(s.Home, p)
}

func (s *Shell) runReadDB(ctx context.Context, in *commands.Invocation) error {
	l, err := s.Database.File(ctx, s.path(in.Arg("path")))
	if err != nil {
		if len(l.Problems) > 0 && l.Switches == 0 { // nothing of it could be used
			return errors.Join(in.Emit(report(l), func() string { return told(l) }), err)
		}
		return err
	}
	return in.Emit(report(l), func() string { return told(l) + l.String() + "\n" })
}

type problem struct {
	Line   int    `json:"line"`
	Loaded bool   `json:"loaded"`
	Text   string `json:"text"`
}

type loaded struct {
	Path     string    `json:"path"`
	Switches int       `json:"switches"`
	Problems []problem `json:"problems"`
}

func report(l inventory.Loaded) loaded {
	out := loaded{Path: l.Path, Switches: l.Switches, Problems: []problem{}}
	for _, p := range l.Problems {
		out.Problems = append(out.Problems, problem{p.Line, p.Loaded, p.Text})
	}
	return out
}

// toldProblems is how many lines with problems the text shows; JSON has all.
const toldProblems = 100

func told(l inventory.Loaded) string {
	var b strings.Builder
	for i, p := range l.Problems {
		if i == toldProblems {
			fmt.Fprintf(&b, "… and %d more lines with problems\n", len(l.Problems)-i)
			break
		}
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}

// maxCompletions bounds what a directory of any size offers.
const maxCompletions = 200

// completePath lists the CSV files and directories that begin with prefix.
func (s *Shell) completePath(_ context.Context, prefix string) []string {
	dir, base := filepath.Split(prefix)
	files, err := os.ReadDir(s.path(dir))
	if err != nil {
		return nil
	}
	var out []string
	for _, f := range files {
		switch name := f.Name(); {
		case !strings.HasPrefix(name, base) || len(out) == maxCompletions:
		case f.IsDir():
			out = append(out, dir+name+"/")
		case strings.HasSuffix(name, ".csv"):
			out = append(out, dir+name)
		}
	}
	return out
}
