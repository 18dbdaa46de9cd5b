//go:build peers

package switchpeers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ovs "ctl.internal/plugins/switch-driver-ovs/device"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/switchdriver"
)

// ssl: to a real ovsdb-server: a VLAN is made over it; certificates of another
// authority, on either side, and of another name are refused, and the error says which.
func TestOVSOverTLS(t *testing.T) {
	needTools(t, "openssl", "ovsdb-server", "ovs-vswitchd", "ovsdb-tool", "ovs-vsctl")
	ctx, dir := long(t), t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		c := exec.CommandContext(ctx, name, args...)
		c.Dir, c.Env = dir, append(os.Environ(), "OVS_RUNDIR="+dir, "OVS_LOGDIR="+dir)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return strings.Trim(strings.TrimSpace(string(out)), `"`)
	}
	authority := func(ca string) {
		run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", ca+".key", "-out", ca+".pem", "-days", "30", "-subj", "/CN="+ca)
	}
	issue := func(ca, name, subject string, more ...string) {
		run("openssl", append([]string{"req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", name + ".key", "-out", name + ".csr", "-subj", subject}, more...)...)
		run("openssl", "x509", "-req", "-in", name+".csr", "-CA", ca+".pem", "-CAkey", ca+".key", "-CAcreateserial", "-days", "20", "-copy_extensions", "copy", "-out", name+".pem")
	}
	authority("labca")
	authority("otherca")
	issue("labca", "host", "/CN=host1 id:7", "-addext", "subjectAltName=IP:127.0.0.1")
	issue("labca", "plain", "/CN=host1") // as ovs-pki makes them: no other names
	issue("otherca", "stranger", "/CN=host1")
	issue("labca", "controller", "/CN=ctl")
	issue("otherca", "intruder", "/CN=ctl")

	run("ovsdb-tool", "create", "conf.db", ovsSchema(t))
	unix := "unix:" + filepath.Join(dir, "db.sock")
	daemon(t, dir, "ovsdb-server", "conf.db", "--remote=p"+unix, "--remote=db:Open_vSwitch,Open_vSwitch,manager_options",
		"--private-key=db:Open_vSwitch,SSL,private_key", "--certificate=db:Open_vSwitch,SSL,certificate", "--ca-cert=db:Open_vSwitch,SSL,ca_cert",
		"--unixctl="+filepath.Join(dir, "ovsdb.ctl"))
	vsctl := func(args ...string) string {
		t.Helper()
		return run("ovs-vsctl", append([]string{"--db=" + unix, "--retry", "--timeout=60"}, args...)...)
	}
	vsctl("--no-wait", "init")
	daemon(t, dir, "ovs-vswitchd", unix, "--enable-dummy=override", "--disable-system", "--unixctl="+filepath.Join(dir, "vswitchd.ctl"))
	vsctl("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=dummy", "other-config:hwaddr=02:00:5e:10:00:01", "--", "add-port", "br0", "p1", "--", "set", "interface", "p1", "type=dummy")
	show := func(name string) {
		vsctl("--no-wait", "set-ssl", filepath.Join(dir, name+".key"), filepath.Join(dir, name+".pem"), filepath.Join(dir, "labca.pem"))
	}
	show("host")
	vsctl("--no-wait", "set-manager", "pssl:0:127.0.0.1")
	port := run("ovs-vsctl", "--db="+unix, "--timeout=60", "wait-until", "manager", "pssl:0:127.0.0.1", "status:bound_port!=0", "--", "get", "manager", "pssl:0:127.0.0.1", "status:bound_port")

	read := func(name string) []byte {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	manifest, err := os.ReadFile(filepath.Join(root, "plugins", "switch-driver-ovs", "plugin.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	host := plugintest.NewHost(t)
	driver := func(tlsName string) *switchdriver.Client {
		p := plugintest.Start(t, sdk.Options{Manifest: manifest, New: ovs.New}, plugintest.WithHost(host),
			plugintest.WithConfig(map[string]any{"ovsdb": "ssl:{address}:" + port, "tls_name": tlsName, "timeout": "30s"}))
		return switchdriver.NewClient(p.Conn)
	}
	sw := &switchdriver.Switch{NodeId: 0x02005e100001, Address: "127.0.0.1", Model: "Open vSwitch"}
	host.Identity(read("controller.pem"), read("controller.key"))
	host.Trust(read("labca.pem"))
	d := driver("{address}")
	v := &switchdriver.VLAN{VlanId: 100, Name: "lab", EgressPorts: []uint32{1}, UntaggedPorts: []uint32{1}}
	if got, err := d.WriteVLAN(ctx, sw, v, true, true); err != nil || got.Name != "lab" {
		t.Errorf("WriteVLAN: %v %v", got, err)
	}
	if tag := vsctl("get", "port", "p1", "tag"); tag != "100" {
		t.Errorf("the host has tag %s", tag)
	}
	refused := func(what string, d *switchdriver.Client, want ...string) {
		t.Helper()
		_, err := d.ReadVLANs(ctx, sw)
		if !errors.Is(err, &fault.Error{Kind: fault.Denied}) {
			t.Errorf("%s: %v (%v)", what, err, fault.KindOf(err))
			return
		}
		for _, w := range append(want, "02:00:5e:10:00:01", "127.0.0.1:"+port) {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q lacks %q", what, err, w)
			}
		}
	}
	refused("another name", driver("192.0.2.9"), "is for 127.0.0.1, not for 192.0.2.9", "tls_name")
	host.Trust(read("otherca.pem"))
	refused("a host of an unknown authority", d, "CN=host1 id:7", "unknown authority", "trust keystore")
	host.Trust(read("labca.pem"))
	host.Identity(read("intruder.pem"), read("intruder.key"))
	refused("a controller of an unknown authority", d, "does not accept the controller's certificate", "ovs-vsctl set-ssl")
	host.Identity(read("controller.pem"), read("controller.key"))

	// The server takes its new certificate up in its own time.
	until := func(name string, want bool, d *switchdriver.Client) {
		t.Helper()
		show(name)
		for {
			_, err := d.ReadVLANs(ctx, sw)
			if (err == nil) == want {
				return
			}
			select {
			case <-ctx.Done():
				t.Fatalf("certificate %s: %v", name, err)
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	until("plain", true, driver("HOST1"))
	until("stranger", false, driver(""))
	refused("a host that another authority has signed", d, "unknown authority")
}

// needTools skips the test, loudly, when a peer that needs no root cannot be had here.
func needTools(t *testing.T, tools ...string) {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED, NOT TESTED: the peer %s is not installed (test/peers/install.sh installs it as root)", tool)
		}
	}
}

func ovsSchema(t *testing.T) string {
	t.Helper()
	const path = "/usr/share/openvswitch/vswitch.ovsschema"
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: the peer Open vSwitch has no schema at %s", path)
	}
	return path
}

// daemon runs a program until the test ends.
func daemon(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, name, args...)
	var said bytes.Buffer
	c.Dir, c.Stderr, c.Env = dir, &said, append(os.Environ(), "OVS_RUNDIR="+dir, "OVS_LOGDIR="+dir, "OVS_DBDIR="+dir)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = c.Wait()
		if t.Failed() {
			t.Log(fmt.Sprintf("%s said:\n%s", name, said.String()))
		}
	})
}
