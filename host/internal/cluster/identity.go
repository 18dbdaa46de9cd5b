package cluster

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"regexp"
	"time"

	"ctl.internal/host/internal/home"
)

// Identity is what a node is known by. It stays the same as long as its home does.
type Identity struct {
	ID          string
	Fingerprint string // SHA-256 of the certificate, in hex
	certificate tls.Certificate
}

var idPattern = regexp.MustCompile(`^node-[0-9a-f]{8}$`)

// OpenIdentity reads the identity of a home, data/node.pem, or makes one.
func OpenIdentity(dir home.Dir) (Identity, error) {
	path := dir.Data("node.pem")
	text, err := home.ReadRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		if text, err = newIdentity(); err != nil {
			return Identity{}, err
		}
		err = home.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return Identity{}, fmt.Errorf("the identity of this node: %w", err)
	}
	c, err := tls.X509KeyPair(text, text)
	if err == nil {
		c.Leaf, err = x509.ParseCertificate(c.Certificate[0])
	}
	if err == nil && !idPattern.MatchString(c.Leaf.Subject.CommonName) {
		err = fmt.Errorf("its certificate is for %q", c.Leaf.Subject.CommonName)
	}
	if err != nil {
		return Identity{}, fmt.Errorf(
			"%s is not the identity of a node: %w; restore it from a backup, or remove it: the node then gets a new one",
			path,
			err,
		)
	}
	return Identity{
		ID:          c.Leaf.Subject.CommonName,
		Fingerprint: certFingerprint(c.Leaf),
		certificate: c,
	}, nil
}

func certFingerprint(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return hex.EncodeToString(sum[:])
}

// newIdentity is a random id with a key and a certificate for it, as PEM.
func newIdentity() ([]byte, error) {
	id := make([]byte, 4)
	if _, err := rand.Read(id); err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	// Its expiry is not checked: the record in the store says which certificate is accepted.
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "node-" + hex.EncodeToString(id)},
		NotBefore:    time.Now().Add(-24 * time.Hour),
		NotAfter:     time.Now().AddDate(50, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := errors.Join(pem.Encode(&out, &pem.Block{
		Type:  "CERTIFICATE",
		Bytes: der,
	}),
		pem.Encode(&out, &pem.Block{
			Type:  "PRIVATE KEY",
			Bytes: secret,
		})); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
