package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest/simline"
)

// mutant is one fault in the source of a driver: old becomes new, in which MUTANT holds
// only in the process of this mutant. So all mutants of a driver are one program.
type mutant struct{ name, file, old, new, want string }

// goMutants are of the driver that ctl plugin new writes.
var goMutants = []mutant{
	{"does not read back", "session.go", "if err == nil && !same(got, want) {", "if err == nil && !same(got, want) && !(MUTANT) {", "it must read back what the switch shows"},
	{"does not take back", "session.go", "\tother, err := s.again()", "\tif MUTANT {\n\t\treturn nil\n\t}\n\tother, err := s.again()", "neither whole nor taken back"},
	{"takes back in the session that ended", "session.go", "\tother, err := s.again()",
		"\tif MUTANT {\n\t\ts.again = func() (*session, error) { return s, nil }\n\t}\n\tother, err := s.again()", "a switch that hangs up (command 2 of the change): the change is neither whole nor taken back"},
	{"shows the password", "session.go", `	if _, err := s.ask("login %s %s", cli.GetUser(), cli.GetPassword()); err != nil {`,
		`	if _, err := s.ask("login %s %s", cli.GetUser(), cli.GetPassword()); MUTANT && err != nil {` + "\n\t\treturn nil, fmt.Errorf(\"login %s %s: %w\", cli.GetUser(), cli.GetPassword(), err)\n\t} else if err != nil {",
		"the text shows a login"},
	{"makes port names up", "session.go", "\t\tout = append(out, p)", "\t\tif MUTANT {\n\t\t\tp.Name = fmt.Sprint(\"port \", p.Number)\n\t\t}\n\t\tout = append(out, p)",
		`ReadPorts answers the name "port 1", the switch calls it "lan1"`},
	{"ignores cancel", "driver.go", "\tctx, cancel := context.WithTimeout(ctx, d.timeout)", "\tif MUTANT {\n\t\tctx = context.WithoutCancel(ctx)\n\t}\n\tctx, cancel := context.WithTimeout(ctx, d.timeout)",
		"goes on in the plugin: the "},
	{"has no deadline", "driver.go", "\tctx, cancel := context.WithTimeout(ctx, d.timeout)", "\tif MUTANT {\n\t\td = &driver{port: d.port, timeout: time.Hour}\n\t}\n\tctx, cancel := context.WithTimeout(ctx, d.timeout)",
		"does not end by itself"},
	{"makes two changes at a time", "driver.go", "\tdone, err := d.turns.Take(ctx, sw)", "\tif MUTANT {\n\t\td = &driver{port: d.port}\n\t}\n\tdone, err := d.turns.Take(ctx, sw)",
		"two changes at one switch at the same time"},
	{"takes ports that are not there", "driver.go", "switchdriver.CheckVLAN(v, has); err != nil", "switchdriver.CheckVLAN(v, has); err != nil && !(MUTANT)",
		"refused VLANs sent"},
	{"leaves ports untagged twice", "vlans.go", "if other != w {", "if other != w && !(MUTANT) {", "want 3002 only"},
	{"blames itself for the switch", "driver.go", "\treturn fault.Device(kind,", "\tif MUTANT {\n\t\treturn fault.New(kind, \"switch %s: %v\", switchdriver.Label(sw), err)\n\t}\n\treturn fault.Device(kind,",
		"counts as the driver's own"},
	{"takes half a table for the whole", "session.go", "\treturn nil, errors.New(\"the switch hung up\")", "\tif MUTANT {\n\t\treturn lines, nil\n\t}\n\treturn nil, errors.New(\"the switch hung up\")",
		"at a switch that hangs up: the driver answers as if the table were whole"},
	{"keeps its sessions", "session.go", "\ts.stop()\n", "\ts.stop()\n\tif MUTANT {\n\t\treturn\n\t}\n", "the session stays open"},
	{"saves when it reads", "session.go", "\tlines, err := s.ask(\"show vlans\")", "\tif MUTANT {\n\t\t_, _ = s.ask(\"save\")\n\t}\n\tlines, err := s.ask(\"show vlans\")",
		`ReadVlans changes the switch: it sends ["save"]`},
}

// pythonMutants are of the driver in Python.
var pythonMutants = []mutant{
	{"does not read back", "driver.py", "            now = self.vlans()\n", "            now = want if MUTANT else self.vlans()\n", "it must read back what the switch shows"},
	{"does not take back", "driver.py", "            self.take_back(lambda other: other.send(other.vlans(), before), e)\n", "            MUTANT or self.take_back(lambda other: other.send(other.vlans(), before), e)\n", "neither whole nor taken back"},
	{"shows the password", "driver.py", `            raise Fault(DOWNSTREAM, "switch %s refuses the login in`, `            raise Fault(DOWNSTREAM, "login " + sw.cli.password, device=True) if MUTANT else Fault(DOWNSTREAM, "switch %s refuses the login in`,
		"the text shows a login"},
	{"mixes link states up", "driver.py", "oper_status=status[m[3]]", "oper_status=3 - status[m[3]] if MUTANT else status[m[3]]", "the switch has 1 and 1 (1 up, 2 down)"},
	{"numbers ports from 0", "driver.py", "number=int(m[1])", "number=int(m[1]) - (1 if MUTANT else 0)", "the switch has port 4, but ReadPorts does not"},
	{"ignores cancel", "driver.py", "if not context.add_callback(self.cut):", "if not (MUTANT) and not context.add_callback(self.cut):", "goes on in the plugin: the "},
	{"answers what it read before", "driver.py", "        return pb.ReadPortsResponse(ports=self.session(request, context, Session.ports))",
		"        if not hasattr(self, 'old') or not MUTANT:\n            self.old = self.session(request, context, Session.ports)\n        return pb.ReadPortsResponse(ports=self.old)", "after a link went down: ReadPorts answers"},
	{"announces too much", "driver.py", `"DeleteVlan", "ReadPorts"]`, `"DeleteVlan", "ReadPorts"] + (["ReadFdb"] if MUTANT else [])`, "ReadFdb is announced, but a call with good values fails"},
	{"lets line ends through", "driver.py", `not re.fullmatch(r"[ -~]*", v.name)`, `not (MUTANT) and not re.fullmatch(r"[ -~]*", v.name)`, "a VLAN with a name with a"},
	{"mixes kinds of faults up", "driver.py", "raise Fault(NOT_FOUND,", "raise Fault(INVALID if MUTANT else NOT_FOUND,", "want [not-found]"},
	{"takes silence for an empty table", "driver.py", "        except socket.timeout:\n", "        except socket.timeout:\n            if MUTANT:\n                return []\n", "of a silent switch: is done"},
}

// mutate writes the sources of dir, with all mutants in them, to another folder.
func mutate(t *testing.T, dir, to string, all []mutant, holds func(name string) string) (files map[string]string) {
	t.Helper()
	texts := map[string]string{}
	for _, m := range all {
		if texts[m.file] == "" {
			b, err := os.ReadFile(filepath.Join(dir, m.file))
			if err != nil {
				t.Fatal(err)
			}
			texts[m.file] = string(b)
		}
		if !strings.Contains(texts[m.file], m.old) {
			t.Fatalf("%s has no %q any more: write the mutant %q again", m.file, m.old, m.name)
		}
		texts[m.file] = strings.ReplaceAll(texts[m.file], m.old, strings.ReplaceAll(m.new, "MUTANT", holds(m.name)))
	}
	files = map[string]string{}
	for name, text := range texts {
		files[name] = filepath.Join(to, name)
		if err := os.WriteFile(files[name], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// fileName is the name of a mutant where it is a folder.
func fileName(name string) string { return strings.ReplaceAll(name, " ", "-") }

// buildGo builds the mutants; a mutant is the program in a folder of its name.
func buildGo(t *testing.T, bin string) {
	dir, err := filepath.Abs("../../../examples/switchdriver-go")
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	overlay := map[string]string{filepath.Join(dir, "mutant.go"): filepath.Join(work, "mutant.go")}
	source := "package main\n\nimport (\n\t\"os\"\n\t\"path/filepath\"\n)\n\nvar mutant = filepath.Base(filepath.Dir(os.Args[0]))\n"
	if err := os.WriteFile(filepath.Join(work, "mutant.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, at := range mutate(t, dir, work, goMutants, func(n string) string { return `mutant == "` + fileName(n) + `"` }) {
		overlay[filepath.Join(dir, name)] = at
	}
	b, err := json.Marshal(map[string]any{"Replace": overlay})
	if err == nil {
		err = os.WriteFile(filepath.Join(work, "overlay.json"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(within(t), "go", "build", "-overlay", filepath.Join(work, "overlay.json"), "-o", bin, dir).CombinedOutput(); err != nil {
		t.Fatalf("the mutants in Go: %v\n%s", err, out)
	}
}

func buildPython(t *testing.T, bin string) {
	const dir = "../../../examples/switchdriver-python"
	work := t.TempDir()
	mutate(t, dir, work, pythonMutants, func(n string) string {
		return `(__import__("os").path.basename(__import__("os").path.dirname(sys.argv[0])) == "` + fileName(n) + `")`
	})
	for _, f := range []string{"plugin.json", "config.json"} {
		b, err := os.ReadFile(filepath.Join(dir, f))
		if err == nil {
			err = os.WriteFile(filepath.Join(work, f), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(within(t), filepath.Join(dir, "build.sh"), bin, work, "driver").CombinedOutput()
	var code *exec.ExitError
	if errors.As(err, &code) && code.ExitCode() == 3 {
		t.Skipf("SKIPPED, NOT TESTED: the peer python3 with grpc, for the mutants in Python: %s (test/peers/install.sh installs it as root)", out)
	}
	if err != nil {
		t.Fatalf("the mutants in Python: %v\n%s", err, out)
	}
}

// What TestOfMutant is called with: the program, and the JSON of its settings.
const envMutant, envSettings = "CTL_TEST_MUTANT", "CTL_TEST_SETTINGS"

// TestOfMutant is the test of a driver, as its author would write it, in a process of
// its own.
func TestOfMutant(t *testing.T) {
	bin := os.Getenv(envMutant)
	if bin == "" {
		t.Skip("SKIPPED, NOT TESTED: the peer, a driver with a planted fault, is not named; TestMutantsAreFound runs this test with each")
	}
	var settings map[string]any
	if err := json.Unmarshal([]byte(os.Getenv(envSettings)), &settings); err != nil {
		t.Fatal(err)
	}
	simline.RunBinary(t, bin, settings, 15*time.Second)
}

// Every fault in a driver is found, by a sentence that says what is wrong.
func TestMutantsAreFound(t *testing.T) {
	for language, l := range map[string]struct {
		build    func(*testing.T, string)
		settings string
		mutants  []mutant
	}{
		"go":     {buildGo, `{"timeout": "5s"}`, goMutants},
		"python": {buildPython, `{"timeout": 5}`, pythonMutants},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			bin := filepath.Join(dir, "driver")
			l.build(t, bin)
			var all sync.WaitGroup
			atOnce := make(chan struct{}, 4) // they wait more than they work
			for _, m := range l.mutants {
				all.Go(func() {
					atOnce <- struct{}{}
					defer func() { <-atOnce }()
					hunt(t, m, bin, filepath.Join(dir, fileName(m.name)), l.settings)
				})
			}
			all.Wait()
		})
	}
}

func hunt(t *testing.T, m mutant, bin, dir, settings string) {
	at := filepath.Join(dir, "driver")
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		err = os.Link(bin, at)
	}
	if err != nil {
		t.Error(err)
		return
	}
	c := exec.CommandContext(within(t), os.Args[0], "-test.run=^TestOfMutant$", "-test.failfast")
	c.Env = append(os.Environ(), envMutant+"="+at, envSettings+"="+settings)
	out, err := c.CombinedOutput()
	if err == nil || !strings.Contains(string(out), m.want) {
		t.Errorf("a driver that %s is not found (%v): want %q in\n%s", m.name, err, m.want, out)
	}
}

// within bounds a process of the test.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
