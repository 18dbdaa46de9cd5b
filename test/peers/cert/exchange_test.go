//go:build peers

package certpeers

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// keytool runs keytool on a keystore of the type and with the password changeit.
func keytool(t *testing.T, kind, file string, args ...string) string {
	t.Helper()
	return sh(t, "keytool", append(args, "-keystore", file, "-storetype", kind, "-storepass", "changeit")...)
}

// sslHome is a home with a place for keystores that keytool makes.
func sslHome(t *testing.T, elements map[string]string) (home, ssl string) {
	t.Helper()
	home = newHome(t, elements)
	ssl = filepath.Join(home, "configuration", "ssl")
	if err := os.MkdirAll(ssl, 0o700); err != nil {
		t.Fatal(err)
	}
	return home, ssl
}

func TestSeveralAliasesBothWays(t *testing.T) {
	need(t, "keytool", "openssl")
	for _, kind := range []string{"JKS", "PKCS12"} {
		t.Run(kind, func(t *testing.T) {
			home, ssl := sslHome(t, map[string]string{"store-password": "changeit", "dname": "CN=lab.example"})
			ctl, trust, dir := filepath.Join(ssl, "ctl.jks"), filepath.Join(ssl, "truststore.jks"), t.TempDir()
			for alias, alg := range map[string][]string{"Controller": {"-keyalg", "RSA", "-keysize", "2048"}, "second": {"-keyalg", "EC"}, "third": {"-keyalg", "RSA", "-keysize", "2048"}} {
				keytool(t, kind, ctl, append([]string{"-genkeypair", "-alias", alias, "-dname", "CN=" + alias, "-keypass", "changeit"}, alg...)...)
				keytool(t, kind, ctl, "-exportcert", "-alias", alias, "-file", dir+"/"+alias+".der")
				keytool(t, kind, trust, "-importcert", "-noprompt", "-alias", "of "+alias, "-file", dir+"/"+alias+".der")
			}
			for _, f := range []string{ctl, trust} {
				if err := os.Chmod(f, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c := start(t, home)
			for _, alias := range []string{"Controller", "second", "third"} {
				status, cert := c.call("getNodeCertifcate", map[string]string{"node-alias": "of " + alias})
				if status != 200 || cert != base64.StdEncoding.EncodeToString([]byte(readFile(t, dir+"/"+alias+".der"))) {
					t.Errorf("of %s: %d", alias, status)
				}
			}
			if out := c.handshake(); !strings.Contains(out, "CN=Controller") {
				t.Error(out)
			}
			_, request := c.call("getCtlCertificateReq", nil)
			der, _ := base64.StdEncoding.DecodeString(request)
			if err := os.WriteFile(dir+"/r.der", der, 0o600); err != nil {
				t.Fatal(err)
			}
			sh(t, "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", dir+"/ca.key", "-out", dir+"/ca.pem", "-days", "30", "-subj", "/CN=Lab CA")
			sh(t, "openssl", "x509", "-req", "-inform", "DER", "-in", dir+"/r.der", "-CA", dir+"/ca.pem", "-CAkey", dir+"/ca.key", "-CAcreateserial", "-days", "20", "-out", dir+"/c.pem")
			if status, _ := c.call("setNodeCertificate", map[string]string{"node-alias": "lab ca", "node-cert": readFile(t, dir+"/ca.pem")}); status/100 != 2 {
				t.Fatal(status)
			}
			// The chain is completed with the CA that is trusted.
			if status, _ := c.call("setCtlCertificate", map[string]string{"ctl-cert-alias": "controller", "ctl-cert": readFile(t, dir+"/c.pem")}); status/100 != 2 {
				t.Fatal(status)
			}
			if out := sh(t, "keytool", "-list", "-v", "-keystore", ctl, "-storepass", "changeit"); !strings.Contains(out, "Certificate chain length: 2") ||
				strings.Count(out, "PrivateKeyEntry") != 3 || !strings.Contains(out, "Lab CA") {
				t.Error(out)
			}
			out := sh(t, "keytool", "-list", "-keystore", trust, "-storepass", "changeit")
			for _, alias := range []string{"of controller", "of second", "of third", "lab ca"} {
				if !strings.Contains(out, alias+", ") {
					t.Errorf("%s is not in\n%s", alias, out)
				}
			}
			sh(t, "keytool", "-importkeystore", "-noprompt", "-srckeystore", ctl, "-srcstorepass", "changeit", "-destkeystore", dir+"/all.p12", "-deststoretype", "PKCS12", "-deststorepass", "changeit")
			if out := sh(t, "keytool", "-list", "-keystore", dir+"/all.p12", "-storepass", "changeit"); strings.Count(out, "PrivateKeyEntry") != 3 {
				t.Error(out)
			}
		})
	}
}

func TestExportAndImportWithBothSpellings(t *testing.T) {
	need(t, "keytool", "openssl")
	home, ssl := sslHome(t, map[string]string{"use-mdsal": "true"})
	c := start(t, home)
	c.shell("aaa:export-keystores")
	exported, password := c.ssl("ctl_ctlKeystore.jks"), c.password(0)
	if info, err := os.Stat(exported); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	if out := sh(t, "keytool", "-list", "-keystore", exported, "-storepass", password); !strings.Contains(out, "controller, ") {
		t.Error(out)
	}
	_, first := c.call("getCtlCertificate", nil)
	keytool(t, "PKCS12", filepath.Join(ssl, "new.p12"), "-genkeypair", "-alias", "mine", "-keyalg", "RSA", "-keysize", "2048", "-dname", "CN=imported")
	keytool(t, "PKCS12", filepath.Join(ssl, "new.p12"), "-exportcert", "-alias", "mine", "-file", filepath.Join(ssl, "mine.der"))
	keytool(t, "JKS", filepath.Join(ssl, "trust.jks"), "-importcert", "-noprompt", "-alias", "peer", "-file", filepath.Join(ssl, "mine.der"))
	const suite = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"
	// The names are given bare and below configuration/ssl; what is typed here is no real secret.
	if out := c.shell("aaa:import-keystores --trustKeystoreName trust.jks --trustKeystorePwd changeit --odlKeystoreName new.p12 --odlKeystorePwd changeit" +
		" --odlKeystoreAlias mine --tlsProtocols TLSv1.2 --cipherSuites " + suite); !strings.Contains(out, "successfully imported") {
		t.Error(out)
	}
	if out := c.handshake(); !strings.Contains(out, "CN=imported") || !strings.Contains(out, "TLSv1.2") || !strings.Contains(out, "ECDHE-RSA-AES256-GCM-SHA384") {
		t.Error(out)
	}
	if out := c.handshake("-tls1_3"); strings.Contains(out, "BEGIN CERTIFICATE") {
		t.Error("TLS 1.3 is offered: ", out)
	}
	if status, _ := c.call("getNodeCertificate", map[string]string{"node-alias": "peer"}); status != 200 {
		t.Error(status)
	}
	// Back again, with the other spelling.
	c.shell("aaa:import-keystores --trustKeystoreName ctl_trustKeystore.jks --trustKeystorePwd " + c.password(1) +
		" --ctlKeystoreName ctl_ctlKeystore.jks --ctlKeystorePwd " + password + " --ctlKeystoreAlias controller")
	if _, now := c.call("getCtlCertificate", nil); now != first {
		t.Error("not what was exported")
	}
	if out := c.handshake("-tls1_3"); !strings.Contains(out, "BEGIN CERTIFICATE") {
		t.Error(out)
	}
	c.Stop()
	c = start(t, home)
	if _, now := c.call("getCtlCertificate", nil); now != first {
		t.Error("after a restart, another one")
	}
}
