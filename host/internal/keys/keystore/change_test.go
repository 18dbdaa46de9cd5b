package keystore

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	jks "github.com/pavlo-v-chernykh/keystore-go/v4"

	"ctl.internal/sdk/fault"
)

func TestAnswerOfACAIsTaken(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		ctx, s, ca := context.Background(), open(t, o), newAuthority(t)
		old := s.Certificate()
		request, err := s.Request()
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		good := ca.sign(t, request, now.Add(-time.Minute), now.AddDate(0, 1, 0))
		other, _ := open(t, newHome(t, strings.Replace(ecConfig, "MDSAL", "false", 1))).Request()
		second := newAuthority(t)
		for name, text := range map[string]string{
			"foreign key":  Bare(ca.sign(t, other, now.Add(-time.Minute), now.AddDate(0, 1, 0))),
			"expired":      Bare(ca.sign(t, request, now.AddDate(0, -2, 0), now.AddDate(0, -1, 0))),
			"not yet":      Bare(ca.sign(t, request, now.AddDate(0, 1, 0), now.AddDate(0, 2, 0))),
			"wrong chain":  string(PEM("CERTIFICATE", good, second.cert.Raw)),
			"not a chain":  string(PEM("CERTIFICATE", ca.cert.Raw, good)),
			"no base64":    "!!!",
			"private keys": "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----",
		} {
			if err := s.SetCertificate(ctx, "controller", text); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !bytes.Equal(s.Certificate(), old) || !bytes.Equal(open(t, o).Certificate(), old) {
			t.Fatal("a refused certificate changed something")
		}
		if err := s.SetCertificate(ctx, "controller", string(PEM("CERTIFICATE", good, ca.cert.Raw))); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*Service{s, open(t, o)} {
			if !bytes.Equal(s.Certificate(), good) || len(s.now.Load().chain) != 2 {
				t.Fatal("the chain is not that of the CA")
			}
		}
	})
}

func TestChainIsCompletedFromTheTrustKeystore(t *testing.T) {
	ctx, s, ca := context.Background(), open(t, newHome(t, strings.Replace(ecConfig, "MDSAL", "false", 1))), newAuthority(t)
	request, _ := s.Request()
	if err := s.SetNode(ctx, "ca", Bare(ca.cert.Raw)); err != nil {
		t.Fatal(err)
	}
	if err := s.SetCertificate(ctx, "", Bare(ca.sign(t, request, time.Now().Add(-time.Hour), time.Now().AddDate(0, 1, 0)))); err != nil || len(s.now.Load().chain) != 2 {
		t.Fatal(err, len(s.now.Load().chain))
	}
}

func TestFormsOfACertificate(t *testing.T) {
	der := newAuthority(t).cert.Raw
	pem := string(PEM("CERTIFICATE", der))
	for name, text := range map[string]string{
		"PEM": pem, "bare": Bare(der), "CRLF": strings.ReplaceAll(pem, "\n", "\r\n"), "one line": strings.ReplaceAll(pem, "\n", ""),
		"blanks": strings.ReplaceAll(pem, "\n", " "), "wrapped, no markers": strings.Join(strings.Split(pem, "\n")[1:5], "\n") + strings.Join(strings.Split(strings.TrimSpace(pem), "\n")[5:len(strings.Split(strings.TrimSpace(pem), "\n"))-1], "\n"),
		"text before": "Certificate:\n  Data\n" + pem,
	} {
		if certs, err := ParseCertificates(text); err != nil || len(certs) != 1 || !bytes.Equal(certs[0].Raw, der) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestThousandNodes(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		ctx, s := context.Background(), open(t, o)
		der := newAuthority(t).cert.Raw
		text := Bare(der)
		err := s.changeKeystore(ctx, trustStore, func(_ *state, ks jks.KeyStore) error {
			for i := range 990 {
				if err := putTrusted(ks, fmt.Sprintf("Node-%d", i), der, time.Now()); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := 990; i < 1000; i++ {
			if err := s.SetNode(ctx, fmt.Sprintf("Node-%d", i), text); err != nil {
				t.Fatal(err)
			}
		}
		s = open(t, o)
		if n := len(s.Aliases()); n != 1000 {
			t.Fatalf("%d aliases", n)
		}
		if der, err := s.Node("node-999"); err != nil || Bare(der) != text {
			t.Fatal(err)
		}
		if _, err := s.Node("nobody"); fault.KindOf(err) != fault.NotFound {
			t.Fatal(err)
		}
	})
}

func TestExportAndImport(t *testing.T) {
	ctx := context.Background()
	from := newHome(t, strings.Replace(ecConfig, "MDSAL", "true", 1))
	a := open(t, from)
	files, err := a.Export()
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	to := newHome(t, strings.Replace(ecConfig, "MDSAL", "true", 1))
	b := open(t, to)
	for i, name := range []string{"c.jks", "t.jks"} {
		text, _ := os.ReadFile(files[i])
		write(t, to.Dir.SSL(name), string(text))
	}
	v := a.now.Load()
	in := Import{Ctl: "c.jks", CtlPassword: v.CtlPassword, Alias: "controller", Trust: "t.jks", TrustPassword: v.TrustPassword, Protocols: "TLSv1.3"}
	for _, spoil := range []func(*Import){
		func(i *Import) { i.CtlPassword = "another" }, func(i *Import) { i.Ctl = "../c.jks" }, func(i *Import) { i.Alias = "nobody" },
		func(i *Import) { i.Protocols = "SSLv3" }, func(i *Import) { i.Suites = "TLS_NONE" }, func(i *Import) { i.Trust = "none.jks" },
	} {
		bad := in
		spoil(&bad)
		if err := b.Import(ctx, bad); fault.KindOf(err) != fault.Invalid || bytes.Equal(a.Certificate(), b.Certificate()) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := b.Import(ctx, in); err != nil || !bytes.Equal(a.Certificate(), open(t, to).Certificate()) {
		t.Fatal(err)
	}
	c := open(t, newHome(t, strings.Replace(ecConfig, "MDSAL", "false", 1)))
	if err := c.Import(ctx, in); fault.KindOf(err) != fault.Unsupported {
		t.Fatal(err)
	}
}

func TestConnectionsLiveThroughANewCertificate(t *testing.T) {
	ctx, s, ca := context.Background(), open(t, newHome(t, strings.Replace(ecConfig, "MDSAL", "false", 1))), newAuthority(t)
	ln, err := tls.Listen("tcp", "127.0.0.1:0", s.ServerTLS(TLSOptions{MinVersion: tls.VersionTLS12}))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			go func() { _, _ = io.Copy(c, c); c.Close() }()
		}
	}()
	dial := func() *tls.Conn {
		c, err := tls.Dial("tcp", ln.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := dial()
	defer first.Close()
	request, _ := s.Request()
	good := ca.sign(t, request, time.Now().Add(-time.Hour), time.Now().AddDate(0, 1, 0))
	if err := s.SetCertificate(ctx, "", Bare(good)); err != nil {
		t.Fatal(err)
	}
	second := dial()
	defer second.Close()
	if !bytes.Equal(second.ConnectionState().PeerCertificates[0].Raw, good) {
		t.Fatal("the new connection has the old certificate")
	}
	if _, err := first.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(first, make([]byte, 1)); err != nil {
		t.Fatal("the old connection was dropped: ", err)
	}
}

func TestCertificatesThatEndSoonAreSpokenOf(t *testing.T) {
	o := newHome(t, strings.Replace(ecConfig, "MDSAL", "false", 1))
	s := open(t, o)
	if list := s.now.Load().endingCertificates(time.Now()); len(list) != 0 {
		t.Fatalf("a fresh certificate: %v", list)
	}
	var out bytes.Buffer
	s.o.Log = slog.New(slog.NewTextHandler(&out, nil))
	s.o.Now = func() time.Time { return s.Expires().Add(-29 * 24 * time.Hour) }
	s.warnOfExpiry()
	if !strings.Contains(out.String(), "ends soon") {
		t.Fatal(out.String())
	}
}

// A certificate of a peer with a short key is taken, and the log says what is wrong with it.
func TestWeakCertificatesAreReported(t *testing.T) {
	o := newHome(t, strings.Replace(ecConfig, "MDSAL", "false", 1))
	var said bytes.Buffer
	o.Log = slog.New(slog.NewTextHandler(&said, nil))
	s := open(t, o)
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	node := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "old node"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, node, node, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetNode(t.Context(), "old", Bare(der)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), "CN=old node") || !strings.Contains(said.String(), "1024 bits") {
		t.Errorf("the log has %s", said.String())
	}
	said.Reset()
	if err := s.SetNode(t.Context(), "new", Bare(newAuthority(t).cert.Raw)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(said.String(), "weak") {
		t.Errorf("the log has %s", said.String())
	}
}
