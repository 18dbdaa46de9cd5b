//go:build peers

package monitoring

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

// Each record of the audit arrives at a real rsyslogd as it is in the file, over each transport.
func TestTheAuditGoesToRsyslog(t *testing.T) {
	program, err := exec.LookPath("rsyslogd")
	if err != nil {
		program = "/usr/sbin/rsyslogd" // which is not in everybody's PATH
		if _, err := os.Stat(program); err != nil {
			t.Skip("SKIPPED, NOT TESTED: the peer rsyslogd is not installed (test/peers/install.sh)")
		}
	}
	dir := reserve.Dir(t, "syslog")
	udp, tcp := reserve.Port(t, "udp", "127.0.0.1"), reserve.Port(t, "tcp", "127.0.0.1")
	socket, got, settings := filepath.Join(dir, "log"), filepath.Join(dir, "got"), filepath.Join(dir, "rsyslog.conf")
	if err := os.WriteFile(settings, fmt.Appendf(nil, `global(workDirectory=%[1]q maxMessageSize="64k")
module(load="imudp")
module(load="imtcp")
module(load="imuxsock" SysSock.Use="off")
template(name="all" type="string" string="%%inputname%%|%%protocol-version%%|%%pri%%|%%app-name%%|%%procid%%|%%msgid%%|%%structured-data%%|%%msg%%\n")
ruleset(name="audit") { action(type="omfile" file=%[2]q template="all") }
input(type="imudp" address="127.0.0.1" port="%[3]d" ruleset="audit")
input(type="imtcp" address="127.0.0.1" port="%[4]d" ruleset="audit")
input(type="imuxsock" Socket=%[5]q UseSpecialParser="off" ParseHostname="on" ruleset="audit")
`, dir, got, udp, tcp, socket), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, program, "-n", "-f", settings, "-i", filepath.Join(dir, "pid"))
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	t.Cleanup(func() {
		cancel()
		<-ended
		if t.Failed() {
			t.Logf("rsyslogd said: %s", said.String())
		}
	})
	probe, err := net.Dial("udp", fmt.Sprint("127.0.0.1:", udp)) // what is sent before it listens is lost; TCP and the unix socket are tried again
	if err != nil {
		t.Fatal(err)
	}
	defer probe.Close()
	has := func(text string) func() bool {
		return func() bool {
			have, _ := os.ReadFile(got)
			return strings.Contains(string(have), text)
		}
	}
	harness.Within(t, "rsyslogd is ready", func() bool {
		select {
		case <-ended:
			t.Fatal("rsyslogd has ended")
		default:
		}
		_, _ = probe.Write([]byte("<109>1 - - probe - - - ready"))
		return has("|probe|")()
	})

	for input, address := range map[string]string{"imudp": fmt.Sprint("udp://127.0.0.1:", udp), "imtcp": fmt.Sprint("tcp://127.0.0.1:", tcp), "imuxsock": "unix://" + socket} {
		t.Run(input, func(t *testing.T) {
			c := harness.Start(t, bin, map[string]string{"ctl.yaml": "audit: {syslog: '" + address + "'}\n"})
			c.Ctl("log:set DEBUG plugin.switch")
			if a := c.Do("DELETE", "/auth/v1/users/admin@sdn", "user:user", ""); a.Status != 401 && a.Status != 403 {
				t.Errorf("a change that its caller may not make: %d %s", a.Status, a.Body)
			}
			c.Stop()
			file, err := os.ReadFile(filepath.Join(c.Home, "log", "audit", "audit.log"))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(file)) {
				line = strings.TrimSpace(line)
				pri := 13<<3 | 4
				if strings.Contains(line, `"outcome":"ok"`) {
					pri = 13<<3 | 5
				}
				want := fmt.Sprintf("%s|1|%d|ctld|%d|audit|-|%s", input, pri, c.PID(), line)
				harness.Within(t, "rsyslogd has "+want, has(want+"\n"))
			}
			if !strings.Contains(string(file), `"outcome":"refused"`) || !strings.Contains(string(file), "log:set") {
				t.Errorf("the audit lacks what was done:\n%s", file)
			}
		})
	}
}
