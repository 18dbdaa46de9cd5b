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
	"time"

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
	overTLS := reserve.Port(t, "tcp", "127.0.0.1")
	authority, certificate, key := makeCertificate(t, dir)
	socket, got, settings := filepath.Join(dir, "log"), filepath.Join(dir, "got"), filepath.Join(dir, "rsyslog.conf")
	if err := os.WriteFile(settings, fmt.Appendf(nil, `global(workDirectory=%[1]q maxMessageSize="64k" DefaultNetstreamDriverCAFile=%[7]q DefaultNetstreamDriverCertFile=%[8]q DefaultNetstreamDriverKeyFile=%[9]q)
module(load="imudp")
module(load="imtcp")
module(load="imuxsock" SysSock.Use="off")
template(name="all" type="string" string="%%inputname%%|%%protocol-version%%|%%pri%%|%%app-name%%|%%procid%%|%%msgid%%|%%structured-data%%|%%msg%%\n")
ruleset(name="audit") { action(type="omfile" file=%[2]q template="all") }
input(type="imudp" address="127.0.0.1" port="%[3]d" ruleset="audit")
input(type="imtcp" address="127.0.0.1" port="%[4]d" ruleset="audit")
input(type="imtcp" name="tls" address="127.0.0.1" port="%[6]d" ruleset="audit" StreamDriver.Name="gtls" StreamDriver.Mode="1" StreamDriver.AuthMode="x509/certvalid")
input(type="imuxsock" Socket=%[5]q UseSpecialParser="off" ParseHostname="on" ruleset="audit")
`, dir, got, udp, tcp, socket, overTLS, authority, certificate, key), 0o600); err != nil {
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

	known := fmt.Sprintf(", syslogAuthorities: %s, syslogCertificate: %s, syslogKey: %s", authority, certificate, key)
	for input, address := range map[string]string{
		"imudp":    fmt.Sprintf("'udp://127.0.0.1:%d'", udp),
		"imtcp":    fmt.Sprintf("'tcp://127.0.0.1:%d'", tcp),
		"tls":      fmt.Sprintf("'tls://127.0.0.1:%d'", overTLS) + known,
		"imuxsock": "'unix://" + socket + "'",
	} {
		t.Run(input, func(t *testing.T) {
			if input == "tls" && !hasTLS() {
				t.Skip("SKIPPED, NOT TESTED: the peer rsyslog-gnutls is not installed (test/peers/install.sh)")
			}
			c := harness.Start(t, bin, map[string]string{"ctl.yaml": "audit: {syslog: " + address + "}\n"})
			c.Ctl("log:set DEBUG plugin.switch")
			if a := c.Do("DELETE", "/auth/v1/users/admin@sdn", "user:user", ""); a.Status != 401 && a.Status != 403 {
				t.Errorf("a change that its caller may not make: %d %s", a.Status, a.Body)
			}
			c.Stop()
			file := readAudit(t, filepath.Join(c.Home, "log", "audit"))
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

// hasTLS reports whether rsyslogd can speak TLS here.
func hasTLS() bool {
	found, _ := filepath.Glob("/usr/lib/*/rsyslog/lmnsd_gtls.so")
	return len(found) > 0
}

// readAudit is what the files of all classes of the audit have.
func readAudit(t *testing.T, dir string) (text string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		one, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text += string(one)
	}
	return text
}

// makeCertificate makes an authority and a certificate of it for 127.0.0.1, for both ends, and returns their files.
func makeCertificate(t *testing.T, dir string) (authority, certificate, key string) {
	t.Helper()
	authority, certificate, key = filepath.Join(dir, "ca.pem"), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for _, args := range []string{
		"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority -keyout " + key + ".ca -out " + authority,
		"req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=lab -addext subjectAltName=IP:127.0.0.1 -keyout " + key + " -out " + certificate + ".csr",
		"x509 -req -days 2 -copy_extensions copy -CA " + authority + " -CAkey " + key + ".ca -CAcreateserial -in " + certificate + ".csr -out " + certificate,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		out, err := exec.CommandContext(ctx, "openssl", strings.Fields(args)...).CombinedOutput()
		cancel()
		if err != nil {
			t.Fatalf("openssl %s: %v\n%s", args, err, out)
		}
	}
	return authority, certificate, key
}
