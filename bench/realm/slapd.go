package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ctl.internal/bench/rig"
)

const slapdProgram = "/usr/sbin/slapd"

// base is where the people are.
const base = "ou=People,dc=lab,dc=test"

// setting is one way in which the server is set up.
type setting struct {
	name, scheme string
	hash         func(i int) (string, error) // of the password of user i
	same         bool                        // all have the password of user 0
}

func user(i int) string     { return fmt.Sprintf("user%05d", i) }
func password(i int) string { return fmt.Sprintf("pw%05d", i) }
func dn(i int) string       { return "uid=" + user(i) + "," + base }

func (k setting) password(i int) string {
	if k.same {
		i = 0
	}
	return password(i)
}

// salted is the hash that OpenLDAP makes by default, {SSHA}, of a user's password.
func salted(i int) (string, error) {
	salt := fmt.Sprintf("%08d", i)
	sum := sha1.Sum([]byte(password(i) + salt))
	return "{SSHA}" + base64.StdEncoding.EncodeToString(append(sum[:], salt...)), nil
}

// crypted is a hash that takes work, the same for all users because making thousands
// takes long; the users must then log in with the password of user 0.
func crypted(int) (string, error) {
	cmd := exec.Command("openssl", "passwd", "-6", "-salt", "benchslt", "-stdin")
	cmd.Stdin = strings.NewReader(password(0) + "\n")
	out, err := cmd.Output()
	return "{CRYPT}" + strings.TrimSpace(string(out)), err
}

// slapd is a running server.
type slapd struct {
	cmd         *exec.Cmd
	url         string
	certificate string // file
}

func startSlapd(ctx context.Context, dir string, users int, k setting) (*slapd, error) {
	s := &slapd{certificate: filepath.Join(dir, "cert.pem")}
	key := filepath.Join(dir, "key.pem")
	if err := certificate(s.certificate, key); err != nil {
		return nil, err
	}
	seed, err := ldif(users, k)
	if err != nil {
		return nil, err
	}
	conf := filepath.Join(dir, "slapd.conf")
	if err := rig.Write(dir, map[string]string{"seed.ldif": seed, "slapd.conf": fmt.Sprintf(`include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCertificateFile %s
TLSCertificateKeyFile %s
database mdb
maxsize 268435456
suffix "dc=lab,dc=test"
directory %s
index uid eq
index objectClass eq
access to attrs=userPassword by anonymous auth by * none
access to * by users read
`, s.certificate, key, dir)}); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, "/usr/sbin/slapadd", "-q", "-f", conf, "-l", filepath.Join(dir, "seed.ldif")).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("slapadd: %w: %s", err, out)
	}
	address, err := rig.FreeAddress()
	if err != nil {
		return nil, err
	}
	s.url = k.scheme + "://" + address
	s.cmd = exec.Command(slapdProgram, "-d", "0", "-f", conf, "-h", s.url+"/")
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := rig.Serves(address); err != nil {
		s.stop()
		return nil, fmt.Errorf("slapd does not serve: %w", err)
	}
	return s, nil
}

func (s *slapd) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func ldif(users int, k setting) (string, error) {
	var b strings.Builder
	b.WriteString("dn: dc=lab,dc=test\nobjectClass: dcObject\nobjectClass: organization\no: lab\n\ndn: " + base + "\nobjectClass: organizationalUnit\n\n")
	var hash string
	for i := range users {
		if hash == "" || !k.same {
			var err error
			if hash, err = k.hash(i); err != nil {
				return "", err
			}
		}
		fmt.Fprintf(&b, "dn: %s\nobjectClass: inetOrgPerson\nuid: %s\nsn: x\ncn: x\ntitle: clerk\nuserPassword: %s\n\n", dn(i), user(i), hash)
	}
	return b.String(), nil
}

// certificate writes one for 127.0.0.1 and its key.
func certificate(cert, key string) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(7), IPAddresses: []net.IP{net.ParseIP("127.0.0.1")}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		var b bytes.Buffer
		if err := pem.Encode(&b, block); err != nil {
			return err
		}
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}
