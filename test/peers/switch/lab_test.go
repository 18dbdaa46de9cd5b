//go:build peers

package switchpeers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/service"
	"ctl.internal/sdk"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/plugintest/reserve"

	"ctl.internal/test/harness"
)

const root = "../../.."

// device is a switch of a lab and how it stands in the switch list.
type device struct {
	name, address, mac string
	rest               string // the cells after the address, from the community on
}

// need skips the test, loudly, when a peer cannot be had here.
func need(t *testing.T, tools ...string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: the peers snmpd, lldpd and Open vSwitch live in network namespaces, which need root")
	}
	path := os.Getenv("PATH") + ":/usr/sbin:/sbin"
	t.Setenv("PATH", path)
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED, NOT TESTED: the peer %s is not installed (test/peers/install.sh installs it as root)", tool)
		}
	}
}

// lab runs a lab script of test/labs; the lab ends with the test. Its folder is not
// the test's: daemons that gave up root must be able to enter it.
func lab(t *testing.T, script string, env ...string) {
	t.Helper()
	swept.Do(sweep)
	t.Cleanup(func() {
		if out, err := labScript(script, "down", env...); err != nil {
			t.Errorf("%s down: %v\n%s", script, err, out)
		}
	})
	if out, err := labScript(script, "up", env...); err != nil {
		t.Fatalf("%s up: %v\n%s", script, err, out)
	}
}

func labScript(script, verb string, env ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 6*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(root, "test", "labs", script), verb)
	c.Env = append(os.Environ(), env...)
	c.WaitDelay = time.Second // the daemons of the lab outlive the script
	return c.CombinedOutput()
}

var swept sync.Once

// sweep takes down the labs of tests that were killed: those whose number is not reserved.
func sweep() {
	for script, most := range map[string]string{"lab-lldp": "", "lab-qbridge": "LAB_SWITCHES=20"} {
		dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), script+"-*"))
		for _, dir := range dirs {
			name := strings.TrimPrefix(filepath.Base(dir), script+"-")
			if len(name) != len("x0000") {
				continue
			}
			if n, err := strconv.ParseUint(name[1:], 16, 16); err == nil {
				reserve.Free(labs, int(n), func() { _, _ = labScript(script+".sh", "down", "LAB_PREFIX="+name, "LAB_DIR="+dir, most) })
			}
		}
	}
}

// plugin starts the switch plugin with a list of the devices. Nothing is discovered
// by itself but at the start, and traps are not received, unless more says so.
func plugin(t *testing.T, devices []device, more ...map[string]any) *plugintest.Plugin {
	t.Helper()
	var list strings.Builder
	list.WriteString("MAC,IP,SNMP_Community,Model,Version,V3_User,V3_Auth_Protocol,V3_Auth_Password,V3_Priv_Protocol,V3_Priv_Password,Port,Read_Community\n")
	for _, d := range devices {
		fmt.Fprintf(&list, "%s,%s,%s\n", d.mac, d.address, d.rest)
	}
	path := filepath.Join(t.TempDir(), "switches.csv")
	if err := os.WriteFile(path, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "plugins", "switch")
	manifest, err := os.ReadFile(filepath.Join(dir, "plugin.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]any{"lists": []string{path}, "discovery": map[string]any{"interval": "0s"}, "traps": map[string]any{"listen": "off"},
		"snmp": map[string]any{"timeout": "4s"}} // the daemons are slow on a busy machine
	for _, m := range more {
		maps.Copy(settings, m)
	}
	return plugintest.Start(t, sdk.Options{Manifest: manifest, YANG: os.DirFS(dir), New: service.New, Commands: service.Commands()},
		plugintest.WithConfig(settings))
}

// long is the deadline of what waits for daemons and the kernel, on a busy machine.
func long(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// number is a MAC address as the RPCs have it.
func number(t *testing.T, mac string) int64 {
	t.Helper()
	m, err := mib.ParseMAC(mac)
	if err != nil {
		t.Fatal(err)
	}
	return int64(m)
}

// link is an interface as `ip -j link` tells it.
type link struct {
	Index   int    `json:"ifindex"`
	Name    string `json:"ifname"`
	MAC     string `json:"address"`
	Peer    int    `json:"link_index"`
	PeerNet *int   `json:"link_netnsid"`
	State   string `json:"operstate"`
}

// links lists the interfaces of a namespace by name.
func links(t *testing.T, ns string) map[string]link {
	t.Helper()
	var all []link
	ipJSON(t, &all, "-n", ns, "-j", "link", "show")
	out := map[string]link{}
	for _, l := range all {
		out[l.Name] = l
	}
	return out
}

// neighbours names the namespaces that ns counts as its own.
func neighbours(t *testing.T, ns string) map[int]string {
	t.Helper()
	var all []struct {
		ID   int    `json:"nsid"`
		Name string `json:"name"`
	}
	ipJSON(t, &all, "-n", ns, "-j", "netns", "list-id")
	out := map[int]string{}
	for _, n := range all {
		out[n.ID] = n.Name
	}
	return out
}

func ipJSON(t *testing.T, v any, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(harness.Deadline(t), "ip", args...).Output()
	if err != nil {
		t.Fatalf("ip %v: %v", args, err)
	}
	if len(bytes.TrimSpace(out)) == 0 {
		return
	}
	if err := json.Unmarshal(out, v); err != nil {
		t.Fatalf("ip %v: %v", args, err)
	}
}

// ping counts the answers one host gets from another address.
func ping(t *testing.T, from string, to netip.Addr) int {
	t.Helper()
	out, err := exec.CommandContext(harness.Deadline(t), "ip", "netns", "exec", from, "ping", "-q", "-i", "0.2", "-c", "5", "-w", "3", to.String()).CombinedOutput()
	m := received.FindSubmatch(out)
	if m == nil {
		t.Fatalf("ping: %v\n%s", err, out)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// reach waits until host j of switch i of a chain reaches host l of switch k, or
// until nothing comes through any more.
func reach(ctx context.Context, t *testing.T, pre, hosts, what string, i, j, k, l int, want bool) {
	t.Helper()
	to := netip.MustParseAddr(fmt.Sprintf("%s.%d", hosts, 10*k+l))
	patiently(ctx, t, func() string {
		if got := ping(t, fmt.Sprintf("%s%dh%d", pre, i, j), to); (got > 0) == want {
			return ""
		}
		return fmt.Sprintf("%s: h%d of switch %d reaches h%d of switch %d: %v, want %v", what, j, i, l, k, !want, want)
	})
}

var received = regexp.MustCompile(`, (\d+) received`)

const labs = "lab" // what prefixes are reserved under

// prefix makes names of this test's own, so that several may run at once.
func prefix(t *testing.T, letter string) string {
	t.Helper()
	return fmt.Sprintf("%s%04x", letter, reserve.Number(t, labs, 0, 0xffff))
}

// subnet is a /24 of this test's own, without the last octet.
func subnet(t *testing.T, second int) string {
	t.Helper()
	there, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for {
		own := fmt.Sprintf("10.%d.%d", second, reserve.Number(t, fmt.Sprint("net-10.", second), 0, 255))
		all := netip.MustParsePrefix(own + ".0/24")
		if !slices.ContainsFunc(there, func(a net.Addr) bool {
			p, err := netip.ParsePrefix(a.String())
			return err == nil && p.Overlaps(all)
		}) {
			return own
		}
	}
}
