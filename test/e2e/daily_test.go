package e2e

import (
	"archive/zip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/test/harness"
)

// ctl runs the client with its own words and returns what it printed, and its exit code.
func ctl(t *testing.T, home string, args ...string) (string, int) {
	t.Helper()
	out, err := exec.CommandContext(within(t), filepath.Join(bin, "ctl"), append([]string{"--home", home}, args...)...).CombinedOutput()
	var e *exec.ExitError
	if err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	}
	code := 0
	if e != nil {
		code = e.ExitCode()
	}
	return string(out), code
}

// What files say is made so, once; a check changes nothing and says by its exit code whether something would change.
func TestDesiredStateInFiles(t *testing.T) {
	c := harness.Start(t, bin, nil)
	dir := t.TempDir()
	for name, text := range map[string]string{"1.yaml": `
features: [ctl-bier-all, ctl-switch-all]
topologies:
- topology-id: lab
  bier-domain:
  - domain-id: 1
    bier-sub-domain: [{sub-domain-id: 0}]
  bier-node:
  - node-id: r1
    bier-node-params:
      domain:
      - domain-id: 1
        bier-global:
          bfr-id: 1
          ipv4-bfr-prefix: 10.0.0.1/32
          bitstringlength: 256-bit
          sub-domain: [{sub-domain-id: 0, bfr-id: 1, igp-type: ISIS, bitstringlength: 256-bit}]
channels:
- topology-id: lab
  channel:
  - {name: news, domain-id: 1, sub-domain-id: 0, src-ip: 10.9.0.1, source-wildcard: 32, dst-group: 232.1.1.1, group-wildcard: 32}
- topology-id: other
  channel: []
switches:
- {node-mac: "02:00:00:00:00:01", node-ip: "127.0.0.1:9", community: geheim, model: generic}
`, "2.yaml": `
policies:
- resource: /restconf/modules/**
  permissions: [{role: admin, actions: [get]}]
---
data:
  /rests/data/network-topology:network-topology/topology=mine: {network-topology:topology: [{topology-id: mine}]}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fewer := filepath.Join(dir, "fewer") // no *.yaml, so not part of dir
	if err := os.WriteFile(fewer, []byte("topologies: []\nchannels: []\ndata: {/rests/data/network-topology:network-topology/topology=mine: }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		args string
		code int
		want string
	}{
		{"apply -f " + dir + " --check", 2, "+ feature ctl-bier-all"},
		{"get features", 0, "ctl-restconf"},
		{"apply -f " + dir, 0, "changes made"},
		{"apply -f " + dir, 0, "nothing to change"},
		{"apply -f " + dir + " --check", 0, "nothing to change"},
		{"get switches -o yaml", 0, "127.0.0.1:9"},
		{"get topologies lab -o json", 0, `"topology-id": "lab"`},
		{"get /rests/data/aaa:http-authorization -o yaml", 0, "resource: /restconf/modules/**"},
		{"get channels -o yaml", 0, "news"},
		{"apply -f " + fewer + " --check", 2, "- /rests/data/network-topology:network-topology/topology=mine"},
		{"apply -f " + fewer + " --prune --check", 2, `"name": "news"`},
		{"apply -f " + dir, 0, "nothing to change"}, // the checks changed nothing
		{"apply -f " + fewer + " --prune", 0, "changes made: 4"},
		{"apply -f " + fewer + " --prune", 0, "nothing to change"},
		{"get topologies lab", 3, "topologies has no lab"},
		{"get plugins absent", 3, "plugins has no absent"},
		{"get nonsense", 2, "expected one of channels, edges, features"},
		{"apply -f " + filepath.Join(dir, "absent"), 3, "no such file"},
		{"doctor", 0, "everything is in order"},
		{"bundle:list", 3, "try plugin:list"},
		{"config:set limits.body 16MiB", 0, "holds after a restart of the controller"},
		{"config:get limits.body", 0, "16MiB"},
		{"config:set limits.body nonsense", 2, "is not a size"},
		{"config:get limits.body", 0, "16MiB"},
		{"config:list limits", 0, "ctl  | limits.body | 16MiB"},
		{"shell:info", 0, "Started"},
		{"__complete plugin:info sw", 0, "switch\n"},
		{"__complete get pl", 0, "plugins\n"},
	} {
		out, code := ctl(t, c.Home, strings.Fields(step.args)...)
		if code != step.code || !strings.Contains(out, step.want) {
			t.Errorf("ctl %s: exit code %d, want %d and %q\n%s", step.args, code, step.code, step.want, out)
		}
	}
	if strings.Contains(c.Ctl("feature:list"), "│") {
		t.Error("a table in a pipe is drawn with lines")
	}
	wrong := filepath.Join(dir, "wrong")
	for text, want := range map[string]string{"feature: [x]": `there is no member "feature"`, "features: x": "features is a list of names", "a: [": "wrong: ",
		"topologies: [{bier-domain: []}]": "has no topology-id", "features: [ctl-absent]": "ctl-absent", "data: {/rests/data/x:y: {}}": "x"} {
		if err := os.WriteFile(wrong, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, code := ctl(t, c.Home, "apply", "-f", wrong); code == 0 || !strings.Contains(out, want) || !strings.Contains(out, "wrong") {
			t.Errorf("%s: exit code %d\n%s", text, code, out)
		}
	}
	dump(t, c)
}

// The file for a bug report has what the console shows, and none of the secrets.
func dump(t *testing.T, c *harness.Controller) {
	file := filepath.Join(t.TempDir(), "report.zip")
	if out, code := ctl(t, c.Home, "system:dump", file); code != 0 {
		t.Fatalf("system:dump: %s", out)
	}
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	all := ""
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		all += f.Name + "\n" + string(b)
	}
	for _, want := range []string{"plugin-info_switch.txt", "feature-list.txt", "log-display", "limits.body"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not in the report", want)
		}
	}
	if strings.Contains(all, "geheim") {
		t.Error("a secret is in the report")
	}
}

// What is wrong is named with what to do, also where no controller runs.
func TestDoctorFindsWhatIsWrong(t *testing.T) {
	c := harness.Start(t, bin, nil)
	c.Stop()
	if err := os.WriteFile(filepath.Join(c.Home, "etc", "ctl.yaml"), []byte("limits:\n  bdy: 1MiB\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, code := ctl(t, c.Home, "doctor")
	if code != 1 || !strings.Contains(out, "did you mean") || !strings.Contains(out, "start it with ctld --home") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
