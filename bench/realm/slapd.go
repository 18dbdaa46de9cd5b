package main

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"ctl.internal/bench/rig"
	"ctl.internal/test/harness"
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

func userName(i int) string {
	return fmt.Sprintf("user%05d", i)
}
func userPassword(i int) string {
	return fmt.Sprintf("pw%05d", i)
}
func userDN(i int) string {
	return "uid=" + userName(i) + "," + base
}

func (k setting) loginPassword(i int) string {
	if k.same {
		i = 0
	}
	return userPassword(i)
}

// hashSalted is the hash that OpenLDAP makes by default, {SSHA}, of a user's password.
func hashSalted(i int) (string, error) {
	salt := fmt.Sprintf("%08d", i)
	sum := sha1.Sum([]byte(userPassword(i) + salt))
	return "{SSHA}" + base64.StdEncoding.EncodeToString(append(sum[:], salt...)), nil
}

// hashCrypt is a hash that takes work, the same for all users because making thousands
// takes long; the users must then log in with the password of user 0.
func hashCrypt(int) (string, error) {
	cmd := exec.Command("openssl", "passwd", "-6", "-salt", "benchslt", "-stdin")
	cmd.Stdin = strings.NewReader(userPassword(0) + "\n")
	out, err := cmd.Output()
	return "{CRYPT}" + strings.TrimSpace(string(out)), err
}

// slapd is a running server.
type slapd struct {
	*harness.Program
	url         string
	certificate string // file
}

func startSlapd(ctx context.Context, dir string, users int, k setting) (*slapd, error) {
	s := &slapd{certificate: filepath.Join(dir, "cert.pem")}
	key := filepath.Join(dir, "key.pem")
	if err := writeCertificate(ctx, s.certificate, key); err != nil {
		return nil, err
	}
	seed, err := formatLDIF(users, k)
	if err != nil {
		return nil, err
	}
	conf := filepath.Join(dir, "slapd.conf")
	if err := rig.Write(dir, map[string]string{
		"seed.ldif": seed,
		"slapd.conf": fmt.Sprintf(`include /etc/ldap/schema/core.schema
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
`, s.certificate, key, dir),
	}); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(
		ctx,
		"/usr/sbin/slapadd",
		"-q",
		"-f",
		conf,
		"-l",
		filepath.Join(dir, "seed.ldif"),
	).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("slapadd: %w: %s", err, out)
	}
	address, err := rig.FreeAddress()
	if err != nil {
		return nil, err
	}
	s.url = k.scheme + "://" + address
	s.Program, err = harness.Serve(
		address,
		exec.Command(slapdProgram, "-d", "0", "-f", conf, "-h", s.url+"/"),
	)
	return s, err
}

func formatLDIF(users int, k setting) (string, error) {
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
		fmt.Fprintf(
			&b,
			"dn: %s\nobjectClass: inetOrgPerson\nuid: %s\nsn: x\ncn: x\ntitle: clerk\nuserPassword: %s\n\n",
			userDN(i),
			userName(i),
			hash,
		)
	}
	return b.String(), nil
}

// writeCertificate writes one for 127.0.0.1 and its key.
func writeCertificate(ctx context.Context, cert, key string) error {
	out, err := exec.CommandContext(ctx, "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
		"-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert).CombinedOutput()
	if err != nil {
		return fmt.Errorf("openssl: %w: %s", err, out)
	}
	return nil
}
