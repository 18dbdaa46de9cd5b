//go:build peers

package netconfpeers

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/plugins/bier-driver-ietf/device"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/plugintest/reserve"
)

// installed skips, loudly, unless a variable names what the tests cannot install.
func installed(t *testing.T, variable, what string) string {
	t.Helper()
	at := os.Getenv(variable)
	if at == "" {
		t.Skipf("SKIPPED, NOT TESTED: the peer %s: docs/bier-driver.md says what %s must name", what, variable)
	}
	if _, err := os.Stat(at); err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return at
}

// netopeer2 is a server with a repository, shared memory, keys and port of its own.
type netopeer2 struct {
	t       *testing.T
	prefix  string // of the installation
	dir     string
	environ []string
	to      netconf.Target
	kill    func()
}

const netopeer2Password = "not-a-secret"

// newNetopeer2 starts one, whose modules of BIER are those of testdata. root is the
// user whom its access control lets do all.
func newNetopeer2(t *testing.T) *netopeer2 {
	t.Helper()
	prefix := installed(t, "NETOPEER2_BIN", "netopeer2")
	if os.Getuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: the peer netopeer2 needs root")
	}
	dir := reserve.Dir(t, "np2") // short, for a unix socket
	memory := strings.ReplaceAll(strings.Trim(dir, "/"), "/", "-") + "_"
	t.Cleanup(func() {
		left, _ := filepath.Glob("/dev/shm/" + memory + "*")
		for _, file := range left {
			os.Remove(file)
		}
	})
	n := &netopeer2{t: t, prefix: prefix, dir: dir,
		environ: []string{"SYSREPO_REPOSITORY_PATH=" + filepath.Join(dir, "repository"), "SYSREPO_SHM_PREFIX=" + memory,
			"SYSREPOCTL_EXECUTABLE=" + filepath.Join(prefix, "bin/sysrepoctl"), "NP2_MODULE_PERMS=600",
			"NP2_MODULE_DIR=" + filepath.Join(prefix, "share/yang/modules/netopeer2"), "LN2_MODULE_DIR=" + filepath.Join(prefix, "share/yang/modules/libnetconf2")},
		to: netconf.Target{Host: "127.0.0.1", Port: reserve.Port(t, "tcp", "127.0.0.1"), User: "root", Password: netopeer2Password, PrivateKey: keys(t, dir)}}
	n.must(filepath.Join(prefix, "share/netopeer2/scripts/setup.sh"))
	modules, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	install := []string{"bin/sysrepoctl", "-s", modules + ":" + filepath.Join(prefix, "share/yang/modules/netopeer2")}
	for _, module := range []string{"ietf-routing-ex@2016-10-20", "ietf-bier@2016-07-23", "ietf-multicast-information@2016-10-28"} {
		install = append(install, "-i", filepath.Join(modules, module+".yang"), "-p", "600")
	}
	n.must(install...)
	n.listenOnly()
	n.start()
	return n
}

func (n *netopeer2) start() {
	n.t.Helper()
	n.kill = run(n.t, n.dir, n.environ, filepath.Join(n.prefix, "sbin/netopeer2-server"), "-d", "-v1", "-p", filepath.Join(n.dir, "pid"), "-f", n.dir)
	ready(n.t, n.to)
}

// listenOnly has the server listen on a loopback port with a key of its own, and let
// root in. A user must log in with all that is configured for them: here the key of
// keys and the password.
func (n *netopeer2) listenOnly() {
	n.t.Helper()
	host, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		n.t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(host)
	if err != nil {
		n.t.Fatal(err)
	}
	signer, err := ssh.ParsePrivateKey(n.to.PrivateKey)
	if err != nil {
		n.t.Fatal(err)
	}
	user := base64.StdEncoding.EncodeToString(signer.PublicKey().Marshal())
	const types = `xmlns:ct="urn:ietf:params:xml:ns:yang:ietf-crypto-types"`
	for _, c := range []struct{ module, config string }{
		{"ietf-keystore", `<keystore xmlns="urn:ietf:params:xml:ns:yang:ietf-keystore"><asymmetric-keys><asymmetric-key><name>host</name>` +
			`<private-key-format ` + types + `>ct:ec-private-key-format</private-key-format><cleartext-private-key>` + base64.StdEncoding.EncodeToString(private) +
			`</cleartext-private-key></asymmetric-key></asymmetric-keys></keystore>`},
		{"ietf-netconf-server", `<netconf-server xmlns="urn:ietf:params:xml:ns:yang:ietf-netconf-server"><listen><endpoints><endpoint><name>lab</name><ssh>` +
			fmt.Sprintf(`<tcp-server-parameters><local-bind><local-address>127.0.0.1</local-address><local-port>%d</local-port></local-bind></tcp-server-parameters>`, n.to.Port) +
			`<ssh-server-parameters><server-identity><host-key><name>host</name><public-key><central-keystore-reference>host</central-keystore-reference></public-key></host-key></server-identity>` +
			`<client-authentication><users><user><name>root</name><public-keys><inline-definition><public-key><name>lab</name>` +
			`<public-key-format ` + types + `>ct:ssh-public-key-format</public-key-format><public-key>` + user + `</public-key></public-key></inline-definition></public-keys>` +
			`<password><hashed-password>$0$` + netopeer2Password + `</hashed-password></password></user></users></client-authentication></ssh-server-parameters></ssh></endpoint></endpoints></listen></netconf-server>`},
	} {
		n.feed(c.config, "--import", "-d", "startup", "-m", c.module, "-f", "xml")
		n.must("bin/sysrepocfg", "-C", "startup", "-m", c.module)
	}
}

// must runs a program of the installation and returns what it printed.
func (n *netopeer2) must(argv ...string) string { return n.do("", argv...) }

// feed gives sysrepocfg, the router's own tool, a text.
func (n *netopeer2) feed(text string, argv ...string) {
	n.do(text, append([]string{"bin/sysrepocfg"}, argv...)...)
}

func (n *netopeer2) do(text string, argv ...string) string {
	n.t.Helper()
	if !filepath.IsAbs(argv[0]) {
		argv[0] = filepath.Join(n.prefix, argv[0])
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out, fault bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr, c.Dir, c.Env = strings.NewReader(text), &out, &fault, n.dir, append(os.Environ(), n.environ...)
	if err := c.Run(); err != nil {
		n.t.Fatalf("%q: %v\n%s%s", argv, err, out.String(), fault.String())
	}
	return out.String()
}

// holds is what the router's own tool shows of BIER, in one line.
func (n *netopeer2) holds() string {
	n.t.Helper()
	text := ""
	for _, module := range []string{"ietf-routing-ex", "ietf-multicast-information"} {
		text += n.must("bin/sysrepocfg", "-X", "-d", "running", "-f", "xml", "-m", module)
	}
	return strings.Join(strings.Fields(text), "")
}

// edit is another operator at the router.
func (n *netopeer2) edit(xml string) {
	n.t.Helper()
	n.feed(xml, "--edit", "-d", "running", "-f", "xml")
}

// notify has the router tell something.
func (n *netopeer2) notify(xml string) { n.t.Helper(); n.feed(xml, "--notification", "-f", "xml") }

func TestNetopeer2(t *testing.T) {
	n := newNetopeer2(t)
	drives(t, n.to)
	refuses(t, n)
	unconfirmed(t, n)
}

// refuses shows what an operator reads when the router does not take a configuration.
func refuses(t *testing.T, n *netopeer2) {
	d := device.New(device.Defaults(), slog.New(slog.NewTextHandler(io.Discard, nil)))
	before := n.holds()
	for name, c := range map[string]struct {
		change  func(*bierdriver.Config)
		dialect string
		want    string
	}{
		"range":  {func(c *bierdriver.Config) { c.Global.SubDomains[0].Ipv4[0].BierMplsLabelBase = 1 << 20 }, "", "1048576"},
		"enum":   {func(c *bierdriver.Config) { c.Global.SubDomains[0].IgpType = "RIP" }, "", "RIP"},
		"type":   {func(c *bierdriver.Config) { c.Channels[0].GroupAddress = "nowhere" }, "", "nowhere"},
		"module": {func(*bierdriver.Config) {}, "ietf-bier-rfc8349", "routing"},
	} {
		c1 := ring()
		c.change(c1)
		r := &bierdriver.Router{NodeId: name, Host: n.to.Host, Port: uint32(n.to.Port), User: n.to.User, Password: n.to.Password, PrivateKey: string(n.to.PrivateKey), Dialect: c.dialect}
		a, err := d.Apply(within(t, time.Minute), r, c1, bierdriver.Always)
		if err != nil || a.State != bierdriver.Failed || !strings.Contains(a.Reason, c.want) {
			t.Errorf("%s: %v, %v", name, a, err)
		}
		t.Logf("%s: %s", name, a.GetReason())
	}
	if now := n.holds(); now != before {
		t.Errorf("refused, but changed: %s\nwas %s", now, before)
	}
}

// unconfirmed is a change whose author is lost before it is confirmed: it goes.
func unconfirmed(t *testing.T, n *netopeer2) {
	ctx := within(t, time.Minute)
	before := n.holds()
	s, err := netconf.Dial(ctx, n.to)
	if err != nil {
		t.Fatal(err)
	}
	bier := xmltree.New(nsEx, "routing", xmltree.New(nsBier, "bier", xmltree.New(nsBier, "bier-global", xmltree.Leaf(nsBier, "bfr-id", "4711"))))
	edit := netconf.Edit{Target: netconf.CandidateDS, DefaultOperation: "merge", Config: []*xmltree.Node{bier}}
	for _, op := range []netconf.Operation{edit.Operation(), netconf.ConfirmedCommitOp(time.Minute)} {
		if err := s.OK(ctx, op); err != nil {
			t.Fatal(err)
		}
	}
	if held := n.holds(); !strings.Contains(held, "4711") {
		t.Errorf("the commit had no effect: %s", held)
	}
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	for n.holds() != before {
		if ctx.Err() != nil {
			t.Fatalf("not taken back: %s", n.holds())
		}
	}
}
