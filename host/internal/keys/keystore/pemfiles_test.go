package keystore

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// pemPair writes a fresh pair into the files, each replaced as a whole.
func pemPair(t *testing.T, cert, key string, serial int64, end time.Time, only ...string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tpl := &x509.Certificate{SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: end}
	der, err := x509.CreateCertificate(rand.Reader, tpl, tpl, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{cert: PEM("CERTIFICATE", der), key: PEM("PRIVATE KEY", pkcs8)} {
		if len(only) > 0 && only[0] != name {
			continue
		}
		text = append(text, bytes.Repeat([]byte("\n"), 4096-len(text))...)
		if err := os.WriteFile(name+".new", text, 0o600); err != nil {
			t.Fatal(err)
		}
		// Clocks of file systems are coarse: two changes may have the same time, and the same size.
		at := time.Unix(1_000_000, 0)
		if err := errors.Join(os.Chtimes(name+".new", at, at), os.Rename(name+".new", name)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChangedCertificateFilesCountForNewConnections(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "c.pem"), filepath.Join(dir, "k.pem")
	if _, err := OpenFiles(cert, key, TLSOptions{}, nil, slog.New(slog.DiscardHandler)); err == nil {
		t.Fatal("without files")
	}
	pemPair(t, cert, key, 1, time.Now().AddDate(1, 0, 0))
	var out lockedBuffer
	f, err := OpenFiles(cert, key, TLSOptions{MinVersion: tls.VersionTLS12}, nil, slog.New(slog.NewTextHandler(&out, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ln, err := tls.Listen("tcp", "127.0.0.1:0", f.ServerTLS())
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	defer serving.Wait()
	defer ln.Close()
	serving.Go(func() {
		for {
			c, err := ln.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			serving.Go(func() { _, _ = io.Copy(c, c); c.Close() })
		}
	})
	dial := func(serial int64) *tls.Conn {
		t.Helper()
		c, err := tls.Dial("tcp", ln.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.ConnectionState().PeerCertificates[0].SerialNumber.Int64(); got != serial {
			t.Fatalf("certificate %d, want %d", got, serial)
		}
		return c
	}
	first := dial(1)
	defer first.Close()
	pemPair(t, cert, key, 2, time.Now().AddDate(1, 0, 0), cert) // the key comes later
	dial(1).Close()
	dial(1).Close()
	if n := strings.Count(out.String(), "stays in use"); n != 1 {
		t.Errorf("logged %d times: %s", n, out.String())
	}
	pemPair(t, cert, key, 3, time.Now().AddDate(0, 0, 3))
	dial(3).Close()
	if d := time.Until(f.Expires()); d > 72*time.Hour || d < 70*time.Hour {
		t.Error(d)
	}
	if _, err := first.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(first, make([]byte, 1)); err != nil {
		t.Fatal("the old connection was dropped: ", err)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
