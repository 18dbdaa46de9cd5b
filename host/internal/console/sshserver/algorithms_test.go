package sshserver_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// The lists of the server's own KEXINIT, as any scanner sees them, hold nothing on SHA-1 but what is good.
func TestNoSHA1IsOffered(t *testing.T) {
	s := start(t, nil)
	c, err := net.Dial("tcp", s.tcp)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "SSH-2.0-scan\r\n"); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 0, 64)
	for b := make([]byte, 1); !bytes.HasSuffix(line, []byte("\n")); line = append(line, b...) {
		if _, err := io.ReadFull(c, b); err != nil {
			t.Fatal(err)
		}
	}
	head := make([]byte, 5)
	if _, err := io.ReadFull(c, head); err != nil {
		t.Fatal(err)
	}
	packet := make([]byte, binary.BigEndian.Uint32(head)-1)
	if _, err := io.ReadFull(c, packet); err != nil {
		t.Fatal(err)
	}
	offered := string(packet)
	for _, want := range []string{"curve25519-sha256", "hmac-sha2-256"} {
		if !strings.Contains(offered, want) {
			t.Errorf("%s is not offered", want)
		}
	}
	for _, bad := range []string{"group14-sha1", "group1-sha1", "exchange-sha1", "hmac-sha1"} {
		if strings.Contains(offered, bad) {
			t.Errorf("%s is offered", bad)
		}
	}
	for _, old := range []ssh.Config{{KeyExchanges: []string{ssh.InsecureKeyExchangeDH14SHA1}}, {MACs: []string{ssh.HMACSHA1}, Ciphers: []string{ssh.CipherAES128CTR}}} {
		_, err := ssh.Dial("tcp", s.tcp, &ssh.ClientConfig{Config: old, User: "admin", HostKeyCallback: ssh.InsecureIgnoreHostKey(), Auth: []ssh.AuthMethod{ssh.Password("admin-secret")}})
		if err == nil {
			t.Errorf("a client of %v got in", old)
		}
	}
}
