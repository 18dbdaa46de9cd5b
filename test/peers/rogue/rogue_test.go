//go:build peers

// Package rogue installs a hostile plugin in Go (sdk/plugintest/faulty) and one in Python beside a running controller, as root
// and as an ordinary user, and has each make the acts of acts_test.go. What became of them is the table in
// docs/plugin-isolation.md; -update writes it.
package rogue

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

var (
	bin    string
	update = flag.Bool("update", false, "write the table of outcomes")
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(harness.Main(m, "../../..", &bin, "ctl.internal/sdk/plugintest/faulty"))
}

// ordinary is the user id that the controller runs with in the columns "user". No account has it.
const ordinary = 64321

// columns of the table.
var columns = []string{"Go, root", "Go, user", "Python, root", "Python, user"}

// absent begins the outcome of an act against which this machine has nothing, or that was not made.
const absent = "not here: "

func TestHostileActsHarmOnlyTheirPlugin(t *testing.T) {
	table := outcomes{}
	file := filepath.Join(bin, "plugins", "faulty")
	goRogue, err := os.ReadFile(file)
	if err == nil {
		err = os.Rename(file, takenProgram(file)) // each home has its own
	}
	if err != nil {
		t.Fatal(err)
	}
	python, missing := pythonRogue(t)
	for _, user := range []string{"root", "user"} {
		t.Run(user, func(t *testing.T) {
			o := harness.Options{Bin: bin, Files: map[string]string{"ctl.yaml": "supervisor: {memory: 512MiB, stopGrace: 1s}\n"}}
			switch root := os.Geteuid() == 0; {
			case user == "root" && !root:
				table.skip(t, "root", absent+"the test is not root")
				return
			case user == "user" && root && closed(bin) != "":
				table.skip(t, "user", absent+"only root may enter "+closed(bin))
				return
			case user == "user" && root:
				if err := os.Chmod(bin, 0o755); err != nil {
					t.Fatal(err)
				}
				o.User = ordinary
				o.Environ = []string{"HOME=/nonexistent"}
			}
			c := harness.Run(t, o)
			c.Ctl("feature:install ctl-switch-all")
			rogues := []*rogue{{T: t, Controller: c, name: "faulty", column: "Go, " + user, program: goRogue,
				another: func(program []byte, words string) []byte {
					return fmt.Appendf(program[:len(program):len(program)], "%60s\nFAULTY %s", "", words)
				}}}
			if missing == "" {
				rogues = append(rogues, &rogue{T: t, Controller: c, name: "rogue", column: "Python, " + user, program: python, another: func(p []byte, words string) []byte { return editManifest(t, p, words) }})
			} else {
				table.skip(t, "Python, "+user, absent+missing)
			}
			for _, r := range rogues {
				r.install()
			}
			for i, r := range rogues {
				r.sibling = rogues[len(rogues)-1-i]
				r.measure()
				r.all(table)
			}
		})
	}
	table.compare(t, "../../../docs/plugin-isolation.md")
}

// rogue is a hostile plugin beside a controller.
type rogue struct {
	*testing.T
	*harness.Controller
	name, column string
	program      []byte
	another      func(program []byte, words string) []byte // release of it, that does what the words say
	sibling      *rogue                                    // itself, when it is alone
	has          map[string]bool                           // levels of the isolation
}

func (r *rogue) path() string { return filepath.Join(r.Home, "plugins", r.name) }

// place puts a program where the controller starts it from: as a new file, so that a running one is not written to.
func (r *rogue) place(program []byte) {
	r.Helper()
	dir := filepath.Dir(r.path())
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = os.WriteFile(r.path()+".new", program, 0o755)
	}
	if err == nil {
		err = os.Rename(r.path()+".new", r.path())
	}
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rogue) install() {
	r.Helper()
	r.place(r.program)
	if out, err := r.publish(r.program); err != nil {
		r.Fatalf("%v: %s", err, out)
	}
	r.Ctl("feature:install --grant " + r.name)
}

// publish adds a catalogue with the checksum of a program, and returns what the console says.
func (r *rogue) publish(program []byte) (string, error) {
	r.Helper()
	repo := filepath.Join(filepath.Dir(r.Home), r.name+".yaml")
	if err := os.WriteFile(repo, fmt.Appendf(nil, "name: %[1]s\nfeatures:\n- name: %[1]s\n  version: 1.0.0\n  depends: [ctl-restconf]\n"+
		"  plugins: [{name: %[1]s, sha256: %[2]x}]\n  facets: [{facet: rest, plugin: %[1]s}]\n", r.name, sha256.Sum256(program)), 0o644); err != nil {
		r.Fatal(err)
	}
	return r.TryCtl("feature:repo-add --unsigned " + repo)
}

// info is what the console says of a plugin.
type info struct {
	State        string   `json:"state"`
	Reason       string   `json:"reason"`
	PID          int      `json:"pid"`
	Metrics      string   `json:"metrics"`
	IsolatedBy   []string `json:"isolatedBy"`
	NotAvailable []string `json:"notAvailable"`
}

func (r *rogue) info(plugin string) (i info) {
	r.Helper()
	if err := json.Unmarshal([]byte(r.Ctl("plugin:info "+plugin+" --format json")), &i); err != nil {
		r.Fatal(err)
	}
	return i
}

// measure notes which levels of the isolation the controller says it has here.
func (r *rogue) measure() {
	i := r.info(r.name)
	r.has = map[string]bool{"": true}
	for level, words := range map[string]string{"files": "files: its own", "scope": "signals, memory", "tcp": "TCP ports by grant", "seccomp": "(seccomp)", "pids": "processes and threads", "memory": "CPU weight"} {
		r.has[level] = slices.ContainsFunc(i.IsolatedBy, func(s string) bool { return strings.Contains(s, words) })
	}
	for _, s := range i.NotAvailable {
		if !strings.HasPrefix(s, "anywhere:") { // what no machine has is no skip
			r.Logf("SKIPPED, NOT TESTED: the peer, a machine that isolates, lacks %s", s)
		}
	}
}

// ready waits until the rogue serves again.
func (r *rogue) ready() {
	r.Helper()
	harness.Within(r.T, r.name+" serves", func() bool { return r.info(r.name).State == "ready" })
}

// outcome is what a rogue says of an act.
type outcome struct {
	Taken   int    `json:"taken"`
	Refused string `json:"refused"`
	Text    string `json:"text"`
}

// try has the rogue make an act for a user.
func (r *rogue) try(user, name, target string, numbers ...uint64) (harness.Answer, outcome) {
	r.Helper()
	input := map[string]any{"name": name, "target": target}
	if len(numbers) > 0 {
		input["number"] = numbers
	}
	body, err := json.Marshal(map[string]any{"input": input})
	if err != nil {
		r.Fatal(err)
	}
	a := r.Do("POST", "/restconf/operations/"+r.name+":act", user, string(body))
	var answer struct {
		Output outcome `json:"output"`
	}
	if a.Status/100 == 2 && len(a.Body) > 0 {
		if err := json.Unmarshal([]byte(a.Body), &answer); err != nil {
			r.Fatalf("%s: %v: %s", name, err, a.Body)
		}
	}
	r.Logf("%-12s %-14s %.60s %v: %d, taken %d, refused: %.120s", r.column, name, target, numbers, a.Status, answer.Output.Taken, answer.Output.Refused)
	return a, answer.Output
}

// made is try for an act that must be answered.
func (r *rogue) made(name, target string, numbers ...uint64) outcome {
	r.Helper()
	a, out := r.try("admin:admin", name, target, numbers...)
	if a.Status/100 != 2 {
		r.Errorf("%s: %s %s: %d %s", r.column, name, target, a.Status, a.Body)
		out.Refused = "not answered"
	}
	return out
}

// metrics are those of the controller, which must be there whatever a plugin does.
func (r *rogue) metrics() string {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://"+r.Address("admin")+"/metrics", nil)
	if err != nil {
		r.Fatal(err)
	}
	a := r.Send(req)
	if a.Status != http.StatusOK {
		r.Fatalf("/metrics: %d %s", a.Status, a.Body)
	}
	return a.Body
}

// counted reports whether a counter of the controller is there and is not zero.
func (r *rogue) counted(series string) bool {
	m := r.metrics()
	return strings.Contains(m, series+" ") && !strings.Contains(m, series+" 0\n")
}

// others asks what the rogues have no part in: the controller, and another plugin.
func (r *rogue) others() error {
	for _, ask := range []func() (int, string, error){
		func() (int, string, error) {
			return r.Get("/rests/data/ietf-yang-library:modules-state?depth=1", "admin", "admin")
		},
		func() (int, string, error) { return r.Call("vlan:get-vlan-table", `{"input":{"node-id":"1"}}`) },
	} {
		if status, body, err := ask(); err != nil || status >= 500 {
			return fmt.Errorf("others: %d %.300s %w", status, body, err)
		}
	}
	return nil
}

// beside asks others all the time until the function that it returns is called.
func (r *rogue) beside() (end func()) {
	ctx, cancel := context.WithCancel(r.Context())
	var wg sync.WaitGroup
	asked := 0
	wg.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			if err := r.others(); err != nil {
				r.Error(err)
			}
			asked++
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
		r.Logf("%s: others were asked %d times meanwhile, and answered", r.column, 2*asked)
	}
}

// all makes all acts and notes what became of them.
func (r *rogue) all(table outcomes) {
	defer r.beside()()
	host := r.PID()
	for _, a := range acts {
		begin := time.Now()
		got := ""
		switch {
		case !r.has[a.needs]:
			got = absent + levels[a.needs]
		default:
			if got = a.make(r); got != a.want && !strings.HasPrefix(got, absent) {
				r.Errorf("%s: %s %s: %s, must be %s", r.column, a.number, a.what, got, a.want)
			}
		}
		if strings.HasPrefix(got, absent) {
			r.Logf("SKIPPED, NOT TESTED: the peer, a machine that isolates, is not here for act %s, %s: %s", a.number, a.what, got)
		}
		table.add(a, r.column, got)
		r.Logf("%s: %s %s: %s, after %v", r.column, a.number, a.what, got, time.Since(begin).Round(time.Millisecond))
		if err := r.others(); err != nil {
			r.Errorf("after %s %s: %v", a.number, a.what, err)
		}
		if r.PID() != host || r.info("switch").State != "ready" {
			r.Errorf("after %s %s another plugin is not ready", a.number, a.what)
		}
	}
	r.Ctl("audit:verify")
}

// closed is a directory above a path that others may not enter, empty if there is no such directory.
func closed(path string) string {
	for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
		if st, err := os.Stat(dir); err != nil || st.Mode().Perm()&1 == 0 {
			return dir
		}
	}
	return ""
}

// pythonRogue builds the plugin in Python; missing says why it cannot be.
func pythonRogue(t *testing.T) (program []byte, missing string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rogue")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "../../../examples/switchdriver-python/build.sh", file, ".", "rogue")
	cmd.Env = append(os.Environ(), "PYTHON=/usr/bin/python3 python3 /usr/local/bin/python3") // one that any user may run
	out, err := cmd.CombinedOutput()
	var code *exec.ExitError
	if errors.As(err, &code) && code.ExitCode() == 3 {
		t.Logf("SKIPPED, NOT TESTED: the peer python3 with grpc, for the hostile plugin in Python: %s (test/peers/install.sh installs it as root)", out)
		return nil, "python3 with grpc"
	}
	if err == nil {
		program, err = os.ReadFile(file)
	}
	if err != nil {
		t.Fatalf("build.sh: %v\n%s", err, out)
	}
	return program, ""
}

// editManifest makes another release of the plugin in Python.
func editManifest(t *testing.T, program []byte, words string) []byte {
	t.Helper()
	in, err := zip.NewReader(bytes.NewReader(program), int64(len(program)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	line, _, _ := bytes.Cut(program, []byte("\n"))
	out.Write(append(line[:len(line):len(line)], '\n'))
	w := zip.NewWriter(&out)
	w.SetOffset(int64(out.Len()))
	for _, f := range in.File {
		from, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name == "plugin.json" {
			switch words {
			case "more":
				text = bytes.Replace(text, []byte(`"requests": [`), []byte(`"requests": [{"kind": "certificate", "value": "trust", "why": "an upgrade"},`), 1)
			case "claims":
				text = bytes.Replace(text, []byte(`"path": "/rogue"`), []byte(`"path": "/restconf/data"`), 1)
			}
		}
		to, err := w.Create(f.Name)
		if err == nil {
			_, err = to.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// outcomes are the rows of the table by their heading, and in each the cells by column.
type outcomes map[string]map[string]string

func (o outcomes) add(a act, column, text string) {
	key := "| " + a.number + " | " + a.what + " |"
	if o[key] == nil {
		o[key] = map[string]string{}
	}
	o[key][column] = text
}

func (o outcomes) skip(t *testing.T, part, why string) {
	t.Logf("SKIPPED, NOT TESTED: the peer, column %s of the table, cannot be had: %s", part, why)
	for _, a := range acts {
		for _, c := range columns {
			if strings.Contains(c, part) {
				o.add(a, c, why)
			}
		}
	}
}

var tableOf = regexp.MustCompile(`(?m)^\| # \| Act \|.*\n(?:\|.*\n)+`)

// compare is of what both machines have, the one that wrote the table and this one.
func (o outcomes) compare(t *testing.T, file string) {
	t.Helper()
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	was := tableOf.Find(doc)
	if was == nil {
		t.Fatalf("%s has no table of acts", file)
	}
	now := "| # | Act | " + strings.Join(columns, " | ") + " |\n|---|---|" + strings.Repeat("---|", len(columns)) + "\n"
	for _, a := range acts {
		key := "| " + a.number + " | " + a.what + " |"
		now += key
		rest := ""
		for line := range strings.Lines(string(was)) {
			if after, ok := strings.CutPrefix(line, key); ok {
				rest = after
			}
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(rest), "|"), "|")
		for i, c := range columns {
			got := o[key][c]
			now += " " + got + " |"
			want := ""
			if i < len(cells) {
				want = strings.TrimSpace(cells[i])
			}
			if got != want && !strings.HasPrefix(got, absent) && !strings.HasPrefix(want, absent) && !*update {
				t.Errorf("%s %s: %q, and %s says %q: run this test with -update", key, c, got, file, want)
			}
		}
		now += "\n"
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(file, bytes.Replace(doc, was, []byte(now), 1), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
