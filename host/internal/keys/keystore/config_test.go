package keystore

import (
	"crypto/x509"
	"os"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/home/xmlfile"
)

func TestConfigFaultsNamePlaceAndRemedy(t *testing.T) {
	for body, says := range map[string]string{
		"<use-confg>true</use-confg>":                                                              "x:2: <use-confg>: no such element",
		"<use-config>yes</use-config>":                                                             "neither true nor false",
		"<use-mdsal>true</use-mdsal>":                                                              "also set <use-config> to true",
		"<use-config/>\n<use-config/>":                                                             "x:3: <use-config> is set twice, first in line 2",
		"<use-config>":                                                                             "not well-formed",
		"<ctlKeystore><name>../a</name></ctlKeystore>":                                             "plain file name",
		"<ctlKeystore><name>truststore.jks</name></ctlKeystore>":                                   "choose two names",
		"<ctlKeystore><validity>0</validity></ctlKeystore>":                                        "not a number from 1",
		"<ctlKeystore><keysize>512</keysize></ctlKeystore>":                                        "too short",
		"<ctlKeystore><key-alg>DSA</key-alg></ctlKeystore>":                                        "expected RSA or EC",
		"<ctlKeystore><key-alg>EC</key-alg><sign-alg>SHA256WithRSA</sign-alg></ctlKeystore>":       "does not sign",
		"<ctlKeystore><sign-alg>MD5WithRSA</sign-alg></ctlKeystore>":                               "no such algorithm",
		"<ctlKeystore><dname>nothing</dname></ctlKeystore>":                                        "<dname>",
		"<ctlKeystore><dname>CN=a, C=XYZ</dname></ctlKeystore>":                                    "two letters",
		"<ctlKeystore><store-password>short</store-password></ctlKeystore>":                        "6 to 256",
		"<ctlKeystore><tls-protocols>TLSv1.1,TLSv1.3</tls-protocols></ctlKeystore>":                "a range without gaps",
		"<ctlKeystore><cipher-suites><suite-name>TLS_X</suite-name></cipher-suites></ctlKeystore>": "aaa:get-cipher-suites",
	} {
		_, _, err := parseConfig("x", []byte("<aaa-cert-service-config>\n"+body+"</aaa-cert-service-config>"))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", body, err, says)
		}
	}
}

func TestDocumentedDefaultsWhenElementsAreAbsent(t *testing.T) {
	c, _, err := parseConfig("x", []byte(`<aaa-cert-service-config/>`))
	if err != nil || c.UseConfig || c.UseMDSAL || c.Name != "ctl.jks" || c.Alias != "controller" || c.Validity != 365 || c.TrustName != "truststore.jks" {
		t.Fatalf("%+v %v", c, err)
	}
	key, der, err := c.selfSigned(time.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil || cert.SignatureAlgorithm != x509.SHA1WithRSA || cert.PublicKey.(interface{ Size() int }).Size() != 128 || !samePublic(cert.PublicKey, key.Public()) {
		t.Fatalf("%v %v", cert.SignatureAlgorithm, err)
	}
}

func TestShippedFileAsksForMore(t *testing.T) {
	text, err := os.ReadFile("../../../../etc/ctl/datastore/initial/config/aaa-cert-config.xml")
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := parseConfig("x", text)
	spec, _ := c.keySpec()
	if err != nil || spec.bits != 3072 || spec.sign != x509.SHA256WithRSA || !c.UseConfig || len(c.Suites) != 0 {
		t.Fatalf("%+v %v", c, err)
	}
}

func TestSetKeepsTheRest(t *testing.T) {
	for in, want := range map[string]string{
		`<r><!-- a --><c:a xmlns:c="u"/></r>`: `<r><!-- a --><c:a>v&lt;</c:a></r>`,
		`<r><a> old </a></r>`:                 `<r><a>v&lt;</a></r>`,
		`<r></r>`:                             "<r><a>v&lt;</a>\n</r>",
	} {
		f, err := xmlfile.Parse("x", []byte(in), "r")
		if err != nil {
			t.Fatal(err)
		}
		if out, err := f.Set("a", "v<"); err != nil || string(out) != want {
			t.Errorf("%s: %s %v", in, out, err)
		}
	}
	f, _ := xmlfile.Parse("x", []byte(`<r></r>`), "r")
	if out, err := f.Set("a/b", "v"); err != nil || string(out) != "<r><a>\n<b>v</b>\n</a>\n</r>" {
		t.Errorf("%q %v", out, err)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(ecConfig))
	f.Add([]byte(`<aaa-cert-service-config><a/></aaa-cert-service-config>`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, x, err := parseConfig("x", b)
		if err != nil {
			return
		}
		text, err := x.Set(ctlPasswordPath, "secret&<1>")
		if err != nil {
			return // no place for it
		}
		if again, _, err := parseConfig("x", text); err != nil || again.Password != "secret&<1>" || again.DName != c.DName {
			t.Fatalf("%q became %q: %v", b, text, err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	ks := newJKS()
	b, _ := encodeJKS(ks, "secret")
	f.Add(b)
	if p12, err := os.ReadFile("testdata/many.p12"); err == nil {
		f.Add(p12)
	}
	f.Add([]byte("\xfe\xed\xfe\xed\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x02"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, password := range []string{"secret", "changeit"} {
			if ks, err := decodeKeystore(b, password, "a"); err == nil {
				_, _ = trustedCerts(ks)
				_, _, _ = getKey(ks, "a", password)
			}
		}
	})
}

func FuzzCertificates(f *testing.F) {
	f.Add("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----")
	f.Add("MAA=")
	f.Fuzz(func(t *testing.T, s string) {
		if certs, err := ParseCertificates(s); err == nil && len(certs) == 0 {
			t.Fatal("neither certificates nor an error")
		}
	})
}
