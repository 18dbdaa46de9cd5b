package keystore

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/keys/encrypt"
	"ctl.internal/host/internal/keys/encrypt/encrypttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ecConfig = `<aaa-cert-service-config xmlns="urn:ctl:yang:aaa:cert">
  <!-- kept --><use-config>true</use-config><use-mdsal>MDSAL</use-mdsal>
  <ctlKeystore><store-password/><key-alg>EC</key-alg><keysize>256</keysize></ctlKeystore>
</aaa-cert-service-config>`

// newHome makes the directories and the settings of a home.
func newHome(t testing.TB, config string) Options {
	t.Helper()
	dir := home.Dir(t.TempDir())
	for _, d := range []string{filepath.Dir(ConfigFile(dir)), dir.SSL()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, ConfigFile(dir), config)
	sealer := encrypttest.Ring(t, "key")
	store := storetest.New(storetest.Options{})
	t.Cleanup(func() { store.Close() })
	return Options{Dir: dir, Store: store, Sealer: sealer, Names: []string{"lab.example", "127.0.0.1"}, Log: slog.New(slog.DiscardHandler)}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, o Options) *Service {
	t.Helper()
	s, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// both runs a test with keystores in files and in the datastore.
func both(t *testing.T, f func(t *testing.T, o Options)) {
	for _, mdsal := range []string{"false", "true"} {
		t.Run("mdsal "+mdsal, func(t *testing.T) { f(t, newHome(t, strings.Replace(ecConfig, "MDSAL", mdsal, 1))) })
	}
}

// authority is a CA.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t testing.TB) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Lab CA"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().AddDate(1, 0, 0), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{key, cert}
}

// sign answers a request.
func (a authority) sign(t testing.TB, request []byte, from, to time.Time) []byte {
	t.Helper()
	csr, err := x509.ParseCertificateRequest(request)
	if err != nil || csr.CheckSignature() != nil {
		t.Fatalf("request: %v", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(2), Subject: csr.Subject, DNSNames: csr.DNSNames,
		NotBefore: from, NotAfter: to}, a.cert, csr.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func TestFirstStartMakesKeystoresThatOpenAgain(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		var made []string
		o.Made = func(text string) { made = append(made, text) }
		s := open(t, o)
		c := s.now.Load().chain[0]
		if c.Subject.CommonName != "ctl" || c.VerifyHostname("lab.example") != nil || c.VerifyHostname("127.0.0.1") != nil || c.KeyUsage != x509.KeyUsageDigitalSignature {
			t.Fatalf("subject %s, names %v %v, usage %v", c.Subject, c.DNSNames, c.IPAddresses, c.KeyUsage)
		}
		text, _ := os.ReadFile(ConfigFile(o.Dir))
		config, _, err := parseConfig("x", text)
		if err != nil || config.Password == "" || config.TrustPassword == "" || config.Password == config.TrustPassword || !strings.Contains(string(text), "<!-- kept -->") {
			t.Fatalf("written back: %v\n%s", err, text)
		}
		if again := open(t, o); string(again.Certificate()) != string(s.Certificate()) {
			t.Fatal("another certificate after a restart")
		}
		if want := fmt.Sprintf("certificate SHA256:%X of CN=ctl", sha256.Sum256(c.Raw)); len(made) != 1 || !strings.Contains(made[0], want) {
			t.Errorf("reported as made: %q, which should have %s", made, want)
		}
		files, _ := filepath.Glob(o.Dir.SSL("*"))
		if config.UseMDSAL != (len(files) == 0) {
			t.Fatalf("files %v", files)
		}
		for _, f := range append(files, ConfigFile(o.Dir)) {
			if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v %v", f, info.Mode(), err)
			}
		}
	})
}

func TestOffByDefault(t *testing.T) {
	if _, err := Open(context.Background(), newHome(t, `<aaa-cert-service-config/>`)); !errors.Is(err, ErrOff) {
		t.Fatal(err)
	}
}

func TestDamagedKeystoreIsToldAndStays(t *testing.T) {
	cases := map[string]struct {
		spoil func(b []byte) []byte
		says  string
	}{
		"cut":       {func(b []byte) []byte { return b[:len(b)/2] }, "damaged"},
		"one bit":   {func(b []byte) []byte { b[len(b)-30] ^= 1; return b }, "altered"},
		"emptied":   {func([]byte) []byte { return nil }, "damaged"},
		"garbage":   {func([]byte) []byte { return []byte("no keystore at all") }, "neither JKS"},
		"a length":  {func(b []byte) []byte { b[12+2+2] = 0xff; return b }, "damaged"},
		"JCEKS":     {func(b []byte) []byte { copy(b, "\xce\xce\xce\xce"); return b }, "JCEKS"},
		"endless":   {func(b []byte) []byte { copy(b[8:], "\xff\xff\xff\xff"); return b }, "damaged"},
		"half a 12": {func([]byte) []byte { return []byte{0x30, 0x82, 0, 1} }, "damaged"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := newHome(t, strings.Replace(ecConfig, "MDSAL", "false", 1))
			open(t, o)
			path := o.Dir.SSL("ctl.jks")
			b, _ := os.ReadFile(path)
			bad := c.spoil(b)
			write(t, path, string(bad))
			if _, err := Open(context.Background(), o); err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) {
				t.Fatalf("%v, want %q and the path", err, c.says)
			}
			if now, _ := os.ReadFile(path); string(now) != string(bad) {
				t.Fatal("the damaged file was overwritten")
			}
		})
	}
}

func TestWrongOrLostPasswordOverwritesNothing(t *testing.T) {
	for password, says := range map[string]string{"notthatone": "password is wrong", "": "store-password"} {
		o := newHome(t, strings.Replace(ecConfig, "MDSAL", "false", 1))
		open(t, o)
		before, _ := os.ReadFile(o.Dir.SSL("ctl.jks"))
		write(t, ConfigFile(o.Dir), strings.NewReplacer("MDSAL", "false", "<store-password/>", "<store-password>"+password+"</store-password>").Replace(ecConfig))
		os.Remove(o.Dir.SSL("truststore.jks"))
		_, err := Open(context.Background(), o)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("password %q: %v", password, err)
		}
		if after, _ := os.ReadFile(o.Dir.SSL("ctl.jks")); string(after) != string(before) {
			t.Error("overwritten")
		}
		if _, err := os.Stat(o.Dir.SSL("truststore.jks")); err == nil {
			t.Error("a trust keystore was made beside a keystore that does not open")
		}
	}
}

func TestAnotherHomeDoesNotOpenTheDatastore(t *testing.T) {
	o := newHome(t, strings.Replace(ecConfig, "MDSAL", "true", 1))
	open(t, o)
	o.Sealer = encrypttest.Ring(t, "another key")
	if _, err := Open(context.Background(), o); !errors.Is(err, encrypt.ErrForeign) {
		t.Fatal(err)
	}
}
