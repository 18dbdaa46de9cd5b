package tables

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/console/engine"
	"ctl.internal/internal/console"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
)

var update = flag.Bool("update", false, "write the golden files again")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func session(table []commands.Command) *engine.Session {
	s := engine.New(engine.Config{Sources: []engine.Source{engine.Static(table)}}).
		Session(caller.Caller{User: "admin"}, nil, "")
	s.Files = anyFile{}
	return s
}

// transcript runs lines and shows each with its output, errors and code.
func transcript(s *engine.Session, answer string, lines ...string) string {
	var out bytes.Buffer
	for _, l := range lines {
		out.WriteString("> " + l + "\n")
		code := s.Run(context.Background(), l, engine.IO{Stdout: &out, Stderr: &out, Terminal: sitter(answer)})
		if code != console.OK {
			out.WriteString("= " + code.Meaning() + "\n")
		}
	}
	return out.String()
}

// sitter answers every question with itself.
type sitter string

func (s sitter) Prompt(context.Context, string, bool) (string, error) { return string(s), nil }
func (sitter) Progress(commands.Progress)                             {}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("differs from %s (write it again with -update):\n%s", file, got)
	}
}

// Every command explains itself and its parameters, and names nothing twice.
func TestTablesAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, table := range [][]commands.Command{FeatureCommands(&fakeFeatures{}), PluginCommands(fakePlugins{}), LogCommands(newLogs()), ConfigCommands(fakeConfig()), SystemCommands(System{})} {
		for _, c := range table {
			if seen[c.Name] || c.Summary == "" || c.Run == nil || strings.Contains(c.Summary, "\n") {
				t.Errorf("%s stands twice or is not whole", c.Name)
			}
			seen[c.Name] = true
			params := map[string]bool{}
			for _, o := range c.Options {
				if o.Help == "" || params["-"+o.Name] || o.Short != "" && params["-"+o.Short] {
					t.Errorf("%s: option %s", c.Name, o.Name)
				}
				params["-"+o.Name], params["-"+o.Short] = true, true
			}
			for i, a := range c.Arguments {
				if a.Help == "" || params[a.Name] || a.Repeated && i != len(c.Arguments)-1 {
					t.Errorf("%s: argument %s", c.Name, a.Name)
				}
				params[a.Name] = true
			}
		}
	}
}

// anyFile lets commands open what they are given.
type anyFile struct{}

func (anyFile) Open(_ context.Context, path string, _ bool) (string, func(context.Context, error) error, error) {
	return path, nil, nil
}
func (anyFile) Complete(string) ([]string, bool) { return nil, false }
