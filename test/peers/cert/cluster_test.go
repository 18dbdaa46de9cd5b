//go:build peers

package certpeers

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/test/harness"
)

// TestTwoControllersOnOneEtcd runs a cluster of two: one key, one pair of keystores,
// changes of each seen by the other, and the key replaced under both.
func TestTwoControllersOnOneEtcd(t *testing.T) {
	need(t, "openssl")
	environ := []string{"CTL_DATASTORE_ENGINE=etcd", "CTL_DATASTORE_ETCD_ENDPOINTS=[" + harness.Etcd(t) + "]", "CTL_DATASTORE_ETCD_TIMEOUT=30s"}
	settings := func() map[string]string {
		return map[string]string{"use-mdsal": "true", "dname": "CN=lab.example, O=Lab, C=XX"}
	}
	homeA, homeB, dir := newHome(t, settings()), newHome(t, settings()), t.TempDir()
	a := start(t, homeA, environ...)
	if said := refuses(t, homeB, environ...); !strings.Contains(said, "copy that file from a controller of this cluster") {
		t.Fatal(said)
	}
	copyKey := func() {
		if err := os.WriteFile(encryptionFile(homeB), []byte(readFile(t, encryptionFile(homeA))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	copyKey()
	b := start(t, homeB, environ...)
	_, certificate := a.call("getCtlCertificate", nil)
	if _, other := b.call("getCtlCertificate", nil); other != certificate {
		t.Fatal("two certificates in one cluster")
	}
	sh(t, "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", dir+"/ca.key", "-out", dir+"/ca.pem", "-days", "30", "-subj", "/C=XX/O=Lab/CN=Lab CA")
	ca := readFile(t, dir+"/ca.pem")
	node := func(c *controller, alias string) int {
		status, _ := c.call("getNodeCertifcate", map[string]string{"node-alias": alias})
		return status
	}
	for alias, from := range map[string][2]*controller{"of-a": {a, b}, "of-b": {b, a}} {
		if status, _ := from[0].call("setNodeCertifcate", map[string]string{"node-alias": alias, "node-cert": ca}); status/100 != 2 {
			t.Fatal(alias, status)
		}
		harness.Within(t, alias+" at the other", func() bool { return node(from[1], alias) == 200 })
	}
	_, request := b.call("getCtlCertificateReq", nil)
	der, err := base64.StdEncoding.DecodeString(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/r.der", der, 0o600); err != nil {
		t.Fatal(err)
	}
	sh(t, "openssl", "req", "-inform", "DER", "-in", dir+"/r.der", "-out", dir+"/r.pem")
	sh(t, "openssl", "x509", "-req", "-in", dir+"/r.pem", "-CA", dir+"/ca.pem", "-CAkey", dir+"/ca.key", "-CAcreateserial", "-days", "20", "-copy_extensions", "copy", "-out", dir+"/c.pem")
	if status, _ := b.call("setCtlCertificate", map[string]string{"ctl-cert-alias": "controller", "ctl-cert": readFile(t, dir+"/c.pem") + ca}); status/100 != 2 {
		t.Fatal(status)
	}
	for name, c := range map[string]*controller{"a": a, "b": b} {
		harness.Within(t, "the chain of the CA at "+name, func() bool {
			return strings.Contains(c.handshake("-CAfile", dir+"/ca.pem", "-verify_return_error", "-verify_hostname", "lab.example"), "Verify return code: 0 (ok)")
		})
	}
	a.putDocuments(documents)
	check := func() {
		t.Helper()
		for _, c := range []*controller{a, b} {
			if status := c.data("GET", nil); status != 200 { // with a login whose hash is sealed, too
				t.Fatal(status)
			}
			if node(c, "of-a") != 200 || node(c, "of-b") != 200 {
				t.Fatal("a node is lost")
			}
		}
	}
	a.shell("aaa:rotate-key")
	check()
	harness.Within(t, "the new key in the file of the other", func() bool { return readFile(t, encryptionFile(homeA)) == readFile(t, encryptionFile(homeB)) })
	// One is away while the other replaces the key, twice, and is killed in the second.
	b.Stop()
	a.shell("aaa:rotate-key")
	before := readFile(t, encryptionFile(homeA))
	rotation := exec.Command(filepath.Join(bin, "ctl"), "--home", homeA, "aaa:rotate-key")
	if err := rotation.Start(); err != nil {
		t.Fatal(err)
	}
	harness.Within(t, "a new key in the file", func() bool { return readFile(t, encryptionFile(homeA)) != before })
	a.Kill()
	_ = rotation.Wait() // it was cut off, or was faster
	b = start(t, homeB, environ...)
	a = start(t, homeA, environ...)
	check()
	harness.Within(t, "everything sealed again", func() bool { return !a.pending() && !b.pending() })
	b.shell("aaa:rotate-key")
	b.shell("aaa:rotate-key", "-forget")
	check()
	a.Stop()
	a = start(t, homeA, environ...)
	check()
}
