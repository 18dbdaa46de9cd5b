package keystore

import (
	"context"
	"crypto/tls"
	"os"
	"strings"
	"testing"
	"time"
)

func TestClientsAreCheckedAgainstTheTrustKeystore(t *testing.T) {
	ctx, ca := context.Background(), newAuthority(t)
	s := open(t, newHome(t, strings.Replace(ecConfig, "MDSAL", "false", 1)))
	client := open(t, newHome(t, strings.Replace(ecConfig, "MDSAL", "false", 1)))
	request, err := client.Request()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.SetCertificate(ctx, "", Bare(ca.sign(t, request, time.Now().Add(-time.Hour), time.Now().AddDate(0, 1, 0)))); err != nil {
		t.Fatal(err)
	}
	certificate, key, err := client.Identity(ctx)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	handshake := func(auth tls.ClientAuthType, certs ...tls.Certificate) error {
		ln, err := tls.Listen("tcp", "127.0.0.1:0", s.ServerTLS(TLSOptions{MinVersion: tls.VersionTLS12, Clients: auth}))
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		served := make(chan error, 1)
		go func() {
			c, err := ln.Accept()
			if err == nil {
				err = c.(*tls.Conn).Handshake()
				c.Close()
			}
			served <- err
		}()
		c, err := tls.Dial("tcp", ln.Addr().String(), &tls.Config{InsecureSkipVerify: true,
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				if len(certs) == 0 {
					return &tls.Certificate{}, nil
				}
				return &certs[0], nil
			}})
		if err == nil {
			defer c.Close()
		}
		return <-served
	}
	if err := handshake(tls.VerifyClientCertIfGiven, pair); err == nil {
		t.Error("a client of an unknown CA came in")
	}
	if err := handshake(tls.VerifyClientCertIfGiven); err != nil {
		t.Error("without a certificate, which is optional: ", err)
	}
	if err := handshake(tls.RequireAndVerifyClientCert); err == nil {
		t.Error("came in without the certificate that is required")
	}
	if err := s.SetNode(ctx, "ca", Bare(ca.cert.Raw)); err != nil {
		t.Fatal(err)
	}
	if err := handshake(tls.RequireAndVerifyClientCert, pair); err != nil {
		t.Error("a client of a trusted CA: ", err)
	}
}

func TestInterruptedFirstStartGoesOn(t *testing.T) {
	o := newHome(t, strings.Replace(ecConfig, "MDSAL", "false", 1))
	open(t, o)
	trust, err := os.ReadFile(o.Dir.SSL("truststore.jks"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(o.Dir.SSL("ctl.jks")); err != nil { // the second that is written
		t.Fatal(err)
	}
	open(t, o)
	if now, err := os.ReadFile(o.Dir.SSL("truststore.jks")); err != nil || string(now) != string(trust) {
		t.Fatal("the existing keystore was overwritten", err)
	}
}
