package labctl_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"ctl.internal/internal/lab/labctl"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lab runs ctl-lab until end is called; wait returns its error.
func lab(t *testing.T, stdin io.Reader, args ...string) (ready string, end func(), wait func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r, w := io.Pipe()
	cmd := labctl.Command()
	cmd.SetArgs(args)
	cmd.SetIn(stdin)
	cmd.SetOut(w)
	done := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		w.CloseWithError(err)
		done <- err
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("ctl-lab %v: %v", args, err)
	}
	return strings.TrimSpace(line), cancel, func() error { return <-done }
}

// say runs a client command.
func say(args ...string) (string, error) {
	var out bytes.Buffer
	cmd := labctl.Command()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	err := cmd.ExecuteContext(context.Background())
	return out.String(), err
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	list, sock := filepath.Join(dir, "switches.csv"), filepath.Join(dir, "sock")
	line, end, wait := lab(t, nil, "--topology", "ring:3,chain:2", "--csv", list, "--control", sock, "--model", "D-Link_DGS-3650,generic")
	if line != "ready 5 switches, 4 links" {
		t.Errorf("ready line %q", line)
	}
	text, err := os.ReadFile(list)
	if err != nil || strings.Count(string(text), "\n") != 6 {
		t.Errorf("switch list %q, %v", text, err)
	}
	for _, c := range []struct{ args, want, err string }{
		{"link sw1 sw2 down", "", ""},
		{"links", `{"a":"sw1","a-port":1,"b":"sw2","b-port":1,"up":false}`, ""},
		{"link sw1 sw2 sideways", "", "up or down"},
		{"link sw1 sw5 down", "", "no link between"},
		{"fault sw3 loss=20,delay=5ms", "", ""},
		{"switches", `"faults":"loss=20,delay=5ms"`, ""},
		{"fault all none", "", ""},
		{"switches", `"model":"D-Link_DGS-3650","faults":"none"`, ""},
		{"fault sw3 lame", "", "unknown"},
		{"fault sw9 none", "", "sw1 to sw5"},
		{"traps-to 127.0.0.1:9", "", ""},
		{"traps-to 192.0.2.1:162", "", "loopback"},
		{"traps-to udp:127.0.0.1:162", "", "v1, v2c, inform"},
		{"restart sw1", "", ""},
		{"traps-to v3inform:127.0.0.1:9", "", ""},
		{"trap sw1 1.3.6.1.6.3.1.1.5.1", "", ""},
		{"trap sw1 one", "", "arc 1"},
		{"traffic sw1 1 900000000 5", "", ""},
		{"traffic sw1 99 1 1", "", "ports 1 to"},
		{"traffic sw1 1 much 1", "", "bits \"much\""},
	} {
		out, err := say(append(strings.Fields(c.args), "--control", sock)...)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: error %v, want %q", c.args, err, c.err)
		}
		if !strings.Contains(out, c.want) {
			t.Errorf("%s: %s, want %s", c.args, out, c.want)
		}
	}
	end()
	if err := wait(); err != nil {
		t.Error(err)
	}
	if _, err := say("links", "--control", sock); err == nil {
		t.Error("the control socket answers after the end")
	}
}

func TestEndWithInput(t *testing.T) {
	r, w := io.Pipe()
	line, _, wait := lab(t, r, "--topology", "chain:2", "--snmp", "v3", "--json", "--until-eof")
	var ready struct{ Switches, Links int }
	if err := json.Unmarshal([]byte(line), &ready); err != nil || ready.Switches != 2 || ready.Links != 1 {
		t.Errorf("ready line %s, %v", line, err)
	}
	w.Close()
	if err := wait(); err != nil {
		t.Error(err)
	}
}

func TestRunRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"--topology star:3":            "the forms are",
		"--snmp v1":                    "v2c or v3",
		"--listen-net ::1":             "only IPv4",
		"--listen-net here":            "an address as 127.0.0.1",
		"--listen-net 10.0.0.1":        "loopback",
		"--trap-to 10.0.0.1:162":       "loopback",
		"--csv /nonexistent/x.csv":     "switch list",
		"--control /nonexistent/x":     "--control",
		"links":                        "say which ctl-lab",
		"links --control /nonexistent": "control socket",
		"extra":                        "unknown command",
	} {
		if _, err := say(strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ctl-lab %s: error %v, want one with %q", args, err, want)
		}
	}
}

// Two labs do not share a control socket, and one of an ended lab is replaced.
func TestControlSocket(t *testing.T) {
	sock := filepath.Join(t.TempDir(), "sock")
	_, end, wait := lab(t, nil, "--topology", "chain:2", "--control", sock)
	if _, err := say("--topology", "chain:2", "--control", sock); err == nil || !strings.Contains(err.Error(), "another ctl-lab") {
		t.Errorf("a second one: %v", err)
	}
	info, err := os.Stat(sock)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	end()
	if err := wait(); err != nil {
		t.Error(err)
	}
}

func TestCommandLinesNeedAddresses(t *testing.T) {
	for args, want := range map[string]string{
		"--topology chain:2 --cli-port 2323":                                          "--listen-net 127.1.0.0/16",
		"--topology chain:2 --listen-net 127.9.0.0/16 --cli-port 70000 --base-port 0": "1 to 65534",
	} {
		if _, err := say(strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
