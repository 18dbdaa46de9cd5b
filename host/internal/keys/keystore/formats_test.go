package keystore

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	jks "github.com/pavlo-v-chernykh/keystore-go/v4"
	"software.sslmate.com/src/go-pkcs12"

	"ctl.internal/host/internal/datastore"
)

// testdata/many.p12 was made by keytool of Java 17: keys key-one, key-two (RSA) and ec,
// and the certificates of the first two as trusted-one and trusted-two.
func TestAliasesOfPKCS12AreRead(t *testing.T) {
	b, err := os.ReadFile("testdata/many.p12")
	if err != nil {
		t.Fatal(err)
	}
	ks, err := decodeKeystore(b, "changeit", "controller")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(ks.Aliases(), " "); got != "ec key-one key-two trusted-one trusted-two" {
		t.Fatal(got)
	}
	nodes, err := trustedCerts(ks)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		key, chain, err := getKey(ks, "key-"+name, "changeit")
		if err != nil || chain[0].Subject.CommonName != name || !samePublic(chain[0].PublicKey, key.Public()) {
			t.Errorf("%s: %v", name, err)
		}
		if c := nodes["trusted-"+name]; c == nil || c.Subject.CommonName != name {
			t.Errorf("trusted-%s: %v", name, c)
		}
	}
	if _, _, err := getKey(ks, "ec", "changeit"); err != nil {
		t.Error(err)
	}
	if _, err := decodeKeystore(b, "changeme", "x"); !errors.Is(err, ErrPassword) {
		t.Errorf("a wrong password: %v", err)
	}
	for i := 0; i < len(b)-200; i += 271 { // after that are the parameters of the MAC
		forged := bytes.Clone(b)
		forged[i] ^= 0x40
		if _, err := decodeKeystore(forged, "changeit", "x"); err == nil {
			t.Fatalf("byte %d changed, and it was not detected", i)
		}
	}
}

// testdata/rfc9579-a*.txt are the examples of RFC 9579 appendix A, which newer
// openssl and Java write: three good ones, a wrong count, a wrong salt, no key length.
func TestPKCS12WithPBMAC1IsRead(t *testing.T) {
	for n, want := range map[int]string{1: "", 2: "", 3: "", 4: ErrPassword.Error(), 5: ErrPassword.Error(), 6: "damaged PKCS #12 keystore: the key of the MAC has 0 bytes"} {
		text, err := os.ReadFile(fmt.Sprintf("testdata/rfc9579-a%d.txt", n))
		if err != nil {
			t.Fatal(err)
		}
		b, err := base64.StdEncoding.DecodeString(string(text)) // it skips line ends
		if err != nil {
			t.Fatal(err)
		}
		ks, err := decodeKeystore(b, "1234", "mine")
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("appendix A.%d: %v, want %s", n, err, want)
			}
			continue
		}
		if err != nil {
			t.Fatalf("appendix A.%d: %v", n, err)
		}
		if _, _, err := getKey(ks, ks.Aliases()[0], "1234"); err != nil || len(ks.Aliases()) == 0 {
			t.Errorf("appendix A.%d: %v %v", n, ks.Aliases(), err)
		}
		if _, err := decodeKeystore(b, "4321", "mine"); !errors.Is(err, ErrPassword) {
			t.Errorf("appendix A.%d with a wrong password: %v", n, err)
		}
	}
}

// The library writes what openssl and older Java write.
func TestOtherPKCS12IsRead(t *testing.T) {
	ca := newAuthority(t)
	config := defaultConfig()
	config.KeyAlg = "EC"
	key, der, err := config.selfSigned(time.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	leaf, _ := x509.ParseCertificate(der)
	for name, e := range map[string]*pkcs12.Encoder{"modern": pkcs12.Modern2023, "3DES": pkcs12.LegacyDES, "RC2": pkcs12.LegacyRC2} {
		b, err := e.Encode(key, leaf, []*x509.Certificate{ca.cert}, "secret-1")
		if err != nil {
			t.Fatal(err)
		}
		ks, err := decodeKeystore(b, "secret-1", "Controller")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, chain, err := getKey(ks, "controller", "secret-1"); err != nil || !bytes.Equal(chain[0].Raw, der) {
			t.Errorf("%s: %v", name, err)
		}
		if b, err = e.EncodeTrustStoreEntries([]pkcs12.TrustStoreEntry{{Cert: ca.cert, FriendlyName: "Lab CA"}, {Cert: leaf, FriendlyName: ""}}, "secret-1"); err != nil {
			t.Fatal(err)
		}
		if ks, err = decodeKeystore(b, "secret-1", "x"); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(ks.Aliases(), ","); got != "certificate-2,lab ca" && (name != "RC2" || got != "certificate-1,certificate-2") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestTwoControllersOfOneDatastore(t *testing.T) {
	ctx := context.Background()
	o := newHome(t, strings.Replace(ecConfig, "MDSAL", "true", 1))
	a := open(t, o)
	other := newHome(t, strings.Replace(ecConfig, "MDSAL", "true", 1))
	other.Store, other.Sealer = o.Store, o.Sealer
	b := open(t, other)
	if !bytes.Equal(a.Certificate(), b.Certificate()) {
		t.Fatal("two certificates in one cluster")
	}
	text := Bare(newAuthority(t).cert.Raw)
	for i := range 6 { // in turns, without following each other
		s := []*Service{a, b}[i%2]
		if err := s.SetNode(ctx, fmt.Sprint("node-", i), text); err != nil {
			t.Fatal(err)
		}
	}
	a.reloadKeystores(ctx, o.Store.Revision())
	if n := len(a.Aliases()); n != 6 || len(b.Aliases()) != 6 {
		t.Fatal(a.Aliases(), b.Aliases())
	}
	ca := newAuthority(t)
	request, err := b.Request()
	if err != nil {
		t.Fatal(err)
	}
	good := ca.sign(t, request, time.Now().Add(-time.Hour), time.Now().AddDate(0, 1, 0))
	if err := a.SetNode(ctx, "last", text); err != nil {
		t.Fatal(err)
	}
	if err := b.SetCertificate(ctx, "", Bare(good)); err != nil { // does not know of it yet
		t.Fatal(err)
	}
	if _, err := b.Node("last"); err != nil || !bytes.Equal(b.Certificate(), good) {
		t.Fatal(err)
	}
	if s := open(t, other); len(s.Aliases()) != 7 || !bytes.Equal(s.Certificate(), good) {
		t.Fatal("what was kept is another")
	}
}

func TestAThousandNodesAreKept(t *testing.T) {
	for _, mdsal := range []string{"false", "true"} {
		o := newHome(t, strings.Replace(ecConfig, "MDSAL", mdsal, 1))
		s := thousand(t, o)
		if err := s.SetNode(context.Background(), "node-1000", Bare(s.Certificate())); err != nil {
			t.Fatal(err)
		}
		if mdsal == "true" { // a rotation of the key seals the pieces one by one
			e, err := datastore.Get(t.Context(), o.Store, namespace, "ctl/0001")
			if err == nil {
				_, err = o.Store.Commit(t.Context(), datastore.Txn{Ops: []datastore.Op{datastore.Put(namespace, e.Key, e.Value)}})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		again := open(t, o)
		if len(again.Aliases()) != 1001 {
			t.Error(len(again.Aliases()))
		}
		if err := again.SetNode(context.Background(), "node-1001", Bare(s.Certificate())); err != nil {
			t.Error(err)
		}
	}
}

// thousand opens keystores with a thousand nodes.
func thousand(t testing.TB, o Options) *Service {
	t.Helper()
	s, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	der := s.Certificate()
	err = s.changeKeystore(context.Background(), trustStore, func(_ *state, ks jks.KeyStore) error {
		for i := range 1000 {
			if err := putTrusted(ks, fmt.Sprintf("node-%d", i), der, time.Now()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func BenchmarkSetNodeAmongThousand(b *testing.B) {
	for _, mdsal := range []string{"false", "true"} {
		b.Run("mdsal="+mdsal, func(b *testing.B) {
			s := thousand(b, newHome(b, strings.Replace(ecConfig, "MDSAL", mdsal, 1)))
			text := Bare(s.Certificate())
			for b.Loop() {
				if err := s.SetNode(context.Background(), "node-500", text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
