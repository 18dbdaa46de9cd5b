//go:build peers

package switchpeers

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
)

// net-snmp's snmpd, started again with another engine ID, is read again by the client that knew the first.
func TestSnmpdWithANewEngine(t *testing.T) {
	program, err := exec.LookPath("snmpd")
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer snmpd is not installed (test/peers/install.sh installs it as root)")
	}
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := netip.MustParseAddrPort(l.LocalAddr().String())
	l.Close()
	run := func(engine, password string) (stop func()) {
		t.Helper()
		dir := t.TempDir()
		conf := filepath.Join(dir, "snmpd.conf")
		text := fmt.Sprintf("agentAddress udp:%s\nengineID %s\ncreateUser ops SHA %s AES privpass123\nrouser ops authpriv\nsysName %s\n", at, engine, password, engine)
		if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, program, "-f", "-Lo", "-C", "-c", conf, "-p", filepath.Join(dir, "pid"), "-I", "-smux")
		cmd.Env = append(os.Environ(), "SNMP_PERSISTENT_DIR="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return func() { cancel(); _ = cmd.Wait() }
	}
	c := snmp.NewClient(snmp.Options{Timeout: time.Second, Retries: 2})
	t.Cleanup(c.Close)
	to := snmp.Target{Addr: at, Version: "3", User: "ops", AuthProtocol: "sha", AuthPassword: "authpass123", PrivProtocol: "aes", PrivPassword: "privpass123"}
	ask := func() (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		v, err := c.Get(ctx, to, mib.SysName)
		if err != nil {
			return "", err
		}
		return string(v[0].Bytes()), nil
	}
	until := func(want string) {
		t.Helper()
		var got string
		var err error
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			if got, err = ask(); err == nil && got == want {
				return
			}
		}
		t.Fatalf("%q, %v; want %q", got, err, want)
	}
	stop := run("first", "authpass123")
	until("first")
	stop()
	stop = run("second", "authpass123")
	until("second")
	stop()
	stop = run("third", "changed-pass")
	defer stop()
	for end := time.Now().Add(time.Minute); ; {
		_, err := ask()
		if err != nil && strings.Contains(err.Error(), "another authentication password") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("a changed password: %v", err)
		}
	}
}
