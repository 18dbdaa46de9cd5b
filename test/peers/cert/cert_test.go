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

func TestKeytoolReadsOurKeystores(t *testing.T) {
	need(t, "keytool", "openssl")
	c := start(t, newHome(t, map[string]string{}))
	dir := t.TempDir()
	sh(t, "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", dir+"/n.key", "-out", dir+"/n.pem", "-days", "9", "-subj", "/CN=node")
	pem, _ := os.ReadFile(dir + "/n.pem")
	if status, _ := c.call("setNodeCertificate", map[string]string{"node-alias": "Node-1", "node-cert": string(pem)}); status/100 != 2 {
		t.Fatal(status)
	}
	if out := sh(t, "keytool", "-list", "-keystore", c.ssl("ctl.jks"), "-storepass", c.password(0)); !strings.Contains(out, "controller") || !strings.Contains(out, "PrivateKeyEntry") {
		t.Error(out)
	}
	if out := sh(t, "keytool", "-list", "-keystore", c.ssl("truststore.jks"), "-storepass", c.password(1)); !strings.Contains(out, "node-1") || !strings.Contains(out, "trustedCertEntry") {
		t.Error(out)
	}
	p12 := dir + "/ours.p12"
	sh(t, "keytool", "-importkeystore", "-srckeystore", c.ssl("ctl.jks"), "-srcstorepass", c.password(0), "-destkeystore", p12, "-deststoretype", "PKCS12", "-deststorepass", c.password(0), "-noprompt")
	sh(t, "openssl", "pkcs12", "-in", p12, "-passin", "pass:"+c.password(0), "-nokeys")
	if out := c.shell("aaa:get-node-cert", "-alias", "node-1"); !strings.Contains(out, strings.Split(string(pem), "\n")[1]) {
		t.Error(out)
	}
	if out := c.shell("aaa:export-keystores"); !strings.Contains(out, "ctl_ctlKeystore.jks") {
		t.Error(out)
	}
}

func TestKeystoresOfKeytoolAreRead(t *testing.T) {
	need(t, "keytool", "openssl")
	for _, kind := range []string{"JKS", "PKCS12"} {
		t.Run(kind, func(t *testing.T) {
			home := newHome(t, map[string]string{"store-password": "changeit"})
			ssl := filepath.Join(home, "configuration", "ssl")
			if err := os.MkdirAll(ssl, 0o700); err != nil {
				t.Fatal(err)
			}
			key := []string{"-genkeypair", "-alias", "controller", "-keyalg", "RSA", "-keysize", "2048", "-dname", "CN=from-keytool", "-storetype", kind, "-storepass", "changeit", "-keypass", "changeit", "-keystore"}
			sh(t, "keytool", append(key, filepath.Join(ssl, "ctl.jks"))...)
			sh(t, "keytool", append(key, filepath.Join(ssl, "other"))...)
			sh(t, "keytool", "-exportcert", "-alias", "controller", "-keystore", filepath.Join(ssl, "other"), "-storepass", "changeit", "-file", filepath.Join(ssl, "other.der"))
			sh(t, "keytool", "-importcert", "-noprompt", "-alias", "peer", "-file", filepath.Join(ssl, "other.der"), "-keystore", filepath.Join(ssl, "truststore.jks"), "-storetype", kind, "-storepass", "changeit")
			for _, f := range []string{"ctl.jks", "truststore.jks"} {
				if err := os.Chmod(filepath.Join(ssl, f), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c := start(t, home)
			if out := c.handshake(); !strings.Contains(out, "from-keytool") {
				t.Error(out)
			}
			const alias = "peer"
			der, _ := os.ReadFile(filepath.Join(ssl, "other.der"))
			if status, cert := c.call("getNodeCertifcate", map[string]string{"node-alias": alias}); status != 200 || cert != base64.StdEncoding.EncodeToString(der) {
				t.Error(status, cert)
			}
		})
	}
}

// handshake is what openssl says of the https listener.
func (c *controller) handshake(args ...string) string {
	cmd := exec.CommandContext(harness.Deadline(c.t), "openssl", append([]string{"s_client", "-connect", c.https, "-showcerts"}, args...)...)
	out, _ := cmd.CombinedOutput()                     // a refused handshake is an answer, too
	return strings.ReplaceAll(string(out), " = ", "=") // as newer ones write names
}

func TestRoundTripThroughACA(t *testing.T) {
	need(t, "openssl")
	for _, mdsal := range []string{"false", "true"} {
		t.Run("use-mdsal "+mdsal, func(t *testing.T) {
			home := newHome(t, map[string]string{"use-mdsal": mdsal, "dname": "CN=lab.example, O=Lab, C=XX"})
			c, dir := start(t, home), t.TempDir()
			_, request := c.call("getCtlCertificateReq", nil)
			der, err := base64.StdEncoding.DecodeString(request)
			if err != nil {
				t.Fatal(err)
			}
			file := func(name, text string) string {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				return filepath.Join(dir, name)
			}
			if out := sh(t, "openssl", "req", "-inform", "DER", "-in", file("r.der", string(der)), "-noout", "-verify", "-text", "-out", dir+"/r.txt"); !strings.Contains(out, "OK") {
				t.Error(out)
			}
			sh(t, "openssl", "req", "-inform", "DER", "-in", dir+"/r.der", "-out", dir+"/r.pem")
			sh(t, "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", dir+"/ca.key", "-out", dir+"/ca.pem", "-days", "30", "-subj", "/C=XX/O=Lab/CN=Lab CA")
			file("index", "")
			conf := file("ca.cnf", "[ca]\ndefault_ca=a\n[a]\ndatabase="+dir+"/index\nnew_certs_dir="+dir+"\nserial="+dir+"/serial\ndefault_md=sha256\npolicy=p\ncopy_extensions=copy\nx509_extensions=v\n[p]\nC=optional\nO=optional\nOU=optional\ncommonName=supplied\n[v]\nextendedKeyUsage=serverAuth\n")
			sh(t, "openssl", "ca", "-batch", "-config", conf, "-create_serial", "-cert", dir+"/ca.pem", "-keyfile", dir+"/ca.key", "-in", dir+"/r.pem", "-out", dir+"/c.pem", "-days", "20", "-notext")
			leaf, _ := os.ReadFile(dir + "/c.pem")
			ca, _ := os.ReadFile(dir + "/ca.pem")
			_, before := c.call("getCtlCertificate", nil)
			if status, _ := c.call("setCtlCertificate", map[string]string{"ctl-cert-alias": "controller", "ctl-cert": string(ca)}); status != 400 {
				t.Error("a foreign certificate: ", status)
			}
			if _, now := c.call("getCtlCertificate", nil); now != before {
				t.Error("a refused certificate changed something")
			}
			if status, _ := c.call("setCtlCertificate", map[string]string{"ctl-cert-alias": "controller", "ctl-cert": string(leaf) + string(ca)}); status/100 != 2 {
				t.Fatal(status)
			}
			trust := []string{"-CAfile", dir + "/ca.pem", "-verify_return_error", "-verify_hostname", "lab.example"}
			if out := c.handshake(trust...); !strings.Contains(out, "Verify return code: 0 (ok)") || !strings.Contains(out, "CN=Lab CA") {
				t.Error(out)
			}
			c.Stop()
			c = start(t, home)
			if out := c.handshake(trust...); !strings.Contains(out, "Verify return code: 0 (ok)") {
				t.Error("after a restart: ", out)
			}
		})
	}
}

func TestProtocolsAndSuitesOffered(t *testing.T) {
	need(t, "openssl")
	cases := map[string]struct {
		settings map[string]string
		offered  map[string]bool
	}{
		"as shipped": {map[string]string{}, map[string]bool{"-tls1_1": false, "-tls1_2": true, "-tls1_3": true,
			"-tls1_2 -cipher AES128-SHA": false, "-tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256": true}},
		"one suite": {map[string]string{"suite-name": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"}, map[string]bool{"-tls1_2": true, "-tls1_3": false,
			"-tls1_2 -cipher ECDHE-RSA-AES256-GCM-SHA384": true, "-tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256": false}},
		"TLS 1.3 only": {map[string]string{"tls-protocols": "TLSv1.3"}, map[string]bool{"-tls1_2": false, "-tls1_3": true, "-tls1_3 -ciphersuites TLS_CHACHA20_POLY1305_SHA256": true}},
	}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			c := start(t, newHome(t, want.settings))
			for args, yes := range want.offered {
				out := c.handshake(strings.Fields(args)...)
				if got := strings.Contains(out, "BEGIN CERTIFICATE"); got != yes {
					t.Errorf("%s: offered %v, want %v\n%s", args, got, yes, out)
				}
			}
		})
	}
}
