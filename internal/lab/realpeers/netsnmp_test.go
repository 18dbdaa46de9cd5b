package realpeers

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/network"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Credentials of the networks that the tests start.
var (
	v2c = []string{"-v2c", "-c", "private"}
	v3  = strings.Fields("-v3 -l authPriv -u ops -a SHA-256 -A authpass123 -x AES -X privpass123")
)

// need skips without a program of net-snmp.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("SKIPPED, NOT TESTED: the peer %s of net-snmp is not installed (test/peers/install.sh installs it as root)", p)
		}
	}
}

// command makes one that loads no MIB files and keeps its state in the test's directory.
func command(ctx context.Context, t *testing.T, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "MIBS=", "SNMP_PERSISTENT_DIR="+t.TempDir())
	return cmd
}

// snmp runs a program against a switch and returns what it says.
func snmp(t *testing.T, n *network.Network, node, program string, credentials []string, args ...string) string {
	t.Helper()
	sw, err := n.Node(node)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	all := append(append([]string{}, credentials...), "-On", sw.Server.Addr().String())
	var out bytes.Buffer
	cmd := command(ctx, t, program, append(all, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // the text says more than the exit code
	return out.String()
}

func start(t *testing.T, o network.Options) *network.Network {
	t.Helper()
	n, err := network.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

func TestWalks(t *testing.T) {
	need(t, "snmpwalk", "snmpbulkwalk")
	now := time.Now() // the clock stands, so that both walks read the same
	noise := regexp.MustCompile(`(?m)^Created directory.*\n`)
	for name, credentials := range map[string][]string{"v2c": v2c, "v3": v3} {
		n := start(t, network.Options{Topology: "ring:3", V3: name == "v3", Clock: func() time.Time { return now }})
		bulk := noise.ReplaceAllString(snmp(t, n, "sw1", "snmpbulkwalk", credentials, ".1"), "")
		next := noise.ReplaceAllString(snmp(t, n, "sw1", "snmpwalk", credentials, ".1"), "")
		if bulk != next || strings.Count(bulk, "\n") < 700 {
			t.Errorf("%s: snmpbulkwalk reads %d lines, snmpwalk %d", name, strings.Count(bulk, "\n"), strings.Count(next, "\n"))
		}
		for _, want := range []string{
			".1.3.6.1.2.1.17.1.1.0 = Hex-STRING: 02 00 00 00 00 01",
			".1.0.8802.1.1.2.1.4.1.1.9.360000.1.1 = STRING: \"sw2\"",
			".1.3.6.1.2.1.4.20.1.3.10.99.0.1 = IpAddress: 255.255.0.0",
			".1.3.6.1.2.1.2.2.1.5.1 = Gauge32: 1000000000",
		} {
			if !strings.Contains(bulk, want) {
				t.Errorf("%s: the walk lacks %s", name, want)
			}
		}
	}
}

func TestSetsAndErrors(t *testing.T) {
	need(t, "snmpget", "snmpset")
	const vlan = ".1.3.6.1.2.1.17.7.1.4.3.1."
	for name, credentials := range map[string][]string{"v2c": v2c, "v3": v3} {
		n := start(t, network.Options{Topology: "chain:1", Ports: 8, V3: name == "v3"})
		for _, c := range []struct{ program, args, want string }{
			{"snmpset", vlan + "1.100 s lab " + vlan + "2.100 x C0 " + vlan + "4.100 x 40 " + vlan + "5.100 i 4", vlan + "5.100 = INTEGER: 4"},
			{"snmpget", vlan + "1.100 " + vlan + "2.100 .1.3.6.1.2.1.17.7.1.4.2.1.4.0.100", "0.100 = Hex-STRING: C0"},
			{"snmpset", vlan + "5.100 i 4", "inconsistentValue"},
			{"snmpset", vlan + "5.1 i 6", "inconsistentValue"},
			{"snmpset", vlan + "1.7 s x", "inconsistentName"},
			{"snmpset", vlan + "1.100 i 5", "wrongType"},
			{"snmpset", vlan + "5.100 i 9", "wrongValue"},
			{"snmpset", vlan + "5.4095 i 4", "noCreation"},
			{"snmpset", ".1.3.6.1.2.1.1.1.0 s x", "notWritable"},
			{"snmpset", ".1.3.6.1.2.1.4.22.1.2.5121.10.99.0.9 x 02DE00000009 .1.3.6.1.2.1.4.22.1.4.5121.10.99.0.9 i 4", "INTEGER: 4"},
			{"snmpset", ".1.3.6.1.2.1.4.22.1.2.5121.10.99.0.8 x 02DE .1.3.6.1.2.1.4.22.1.4.5121.10.99.0.8 i 4", "wrongLength"},
			{"snmpset", vlan + "5.100 i 6", vlan + "5.100 = INTEGER: 6"},
			{"snmpget", vlan + "5.100", "No Such Instance"},
			{"snmpget", ".1.3.6.1.2.1.99.1", "No Such Object"},
		} {
			if got := snmp(t, n, "sw1", c.program, credentials, strings.Fields(c.args)...); !strings.Contains(got, c.want) {
				t.Errorf("%s %s %s: %s, want %s", name, c.program, c.args, got, c.want)
			}
		}
	}
}

func TestV1(t *testing.T) {
	need(t, "snmpget", "snmpgetnext", "snmpset")
	n := start(t, network.Options{Topology: "chain:1"})
	v1 := []string{"-v1", "-c", "private"}
	for _, c := range []struct{ program, args, want string }{
		{"snmpget", ".1.3.6.1.2.1.1.5.0", `"sw1"`},
		{"snmpget", ".1.3.6.1.2.1.31.1.1.1.6.1", "noSuchName"},                                  // Counter64
		{"snmpgetnext", ".1.3.6.1.2.1.31.1.1.1.1.5121", ".1.3.6.1.2.1.31.1.1.1.14.1 = INTEGER"}, // over both columns of Counter64
		{"snmpset", ".1.3.6.1.2.1.1.5.0 i 4", "badValue"},
		{"snmpset", ".1.3.6.1.2.1.1.1.0 s x", "noSuchName"},
	} {
		if got := snmp(t, n, "sw1", c.program, v1, strings.Fields(c.args)...); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %s, want %s", c.program, c.args, got, c.want)
		}
	}
}

func TestFaultsAsNetSNMPSeesThem(t *testing.T) {
	need(t, "snmpwalk", "snmpget")
	n := start(t, network.Options{Topology: "chain:1"})
	for fault, want := range map[string]string{
		"loop": "OID not increasing", "status=genErr": "genError", "toobig=0,silent": "Timeout", "truncate": "Timeout",
	} {
		f, err := faults.Parse(fault)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.SetFaults("sw1", f); err != nil {
			t.Fatal(err)
		}
		args := append(append([]string{}, v2c...), "-r", "0", "-t", "0.3")
		if got := snmp(t, n, "sw1", "snmpwalk", args, ".1.3.6.1.2.1.2.2.1.1"); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", fault, got, want)
		}
	}
}
