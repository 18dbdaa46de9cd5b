package keystore

import (
	"bytes"
	"crypto"
	"crypto/sha1" //nolint:gosec // what JKS has
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	jks "github.com/pavlo-v-chernykh/keystore-go/v4"
)

// maxStore bounds a keystore, in bytes: some 10,000 certificates.
const maxStore = 16 << 20

const x509Type = "X.509"

// ErrPassword says that a keystore does not open with its password.
var ErrPassword = errors.New("the password is wrong, or the keystore is damaged: altered or cut off")

func newJKS() jks.KeyStore {
	return jks.New(jks.WithOrderedAliases())
}

// decodeKeystore reads a keystore of Java: JKS, or PKCS #12.
// The key of PKCS #12, which need not have a name, gets the alias.
func decodeKeystore(b []byte, password, alias string) (jks.KeyStore, error) {
	ks := newJKS()
	if len(b) > maxStore {
		return ks, fmt.Errorf("the keystore has %d bytes, at most %d are allowed", len(b), maxStore)
	}
	if len(b) < 4 {
		return ks, errors.New("damaged: it is cut off")
	}
	switch magic := binary.BigEndian.Uint32(b); {
	case magic == 0xcececece:
		return ks, errors.New("JCEKS keystores are not supported; convert it: keytool -importkeystore -srcstoretype JCEKS -deststoretype JKS")
	case b[0] == 0x30:
		return decodePKCS12(b, password, alias)
	case magic != 0xfeedfeed:
		return ks, errors.New("damaged, or not a keystore: neither JKS nor PKCS #12")
	}
	if !isIntactJKS(b, password) {
		return ks, ErrPassword
	}
	if err := ks.Load(bytes.NewReader(b), []byte(password)); err != nil {
		return ks, fmt.Errorf("damaged: %w", err)
	}
	return ks, nil
}

// isIntactJKS compares the digest at the end of a JKS file with that of password and content. The library does so only
// after it has allocated what each length in the file asks for.
func isIntactJKS(b []byte, password string) bool {
	h := sha1.New() //nolint:gosec // what JKS has
	for _, c := range []byte(password) {
		h.Write([]byte{0, c})
	}
	end := max(0, len(b)-sha1.Size)
	h.Write([]byte("Mighty Aphrodite"))
	h.Write(b[:end])
	return bytes.Equal(h.Sum(nil), b[end:])
}

func encodeJKS(ks jks.KeyStore, password string) ([]byte, error) {
	var b bytes.Buffer
	if err := ks.Store(&b, []byte(password)); err != nil {
		return nil, err
	}
	if b.Len() > maxStore {
		return nil, fmt.Errorf(
			"the keystore would have %d bytes, at most %d are allowed",
			b.Len(),
			maxStore,
		)
	}
	return b.Bytes(), nil
}

// putKey sets the key entry of an alias; the key has the password of the keystore,
// as Java's servers want it.
func putKey(
	ks jks.KeyStore,
	alias, password string,
	key crypto.Signer,
	chain [][]byte,
	now time.Time,
) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	e := jks.PrivateKeyEntry{CreationTime: now, PrivateKey: der}
	for _, c := range chain {
		e.CertificateChain = append(e.CertificateChain, jks.Certificate{
			Type:    x509Type,
			Content: c,
		})
	}
	return ks.SetPrivateKeyEntry(alias, e, []byte(password))
}

func putTrusted(ks jks.KeyStore, alias string, der []byte, now time.Time) error {
	return ks.SetTrustedCertificateEntry(
		alias,
		jks.TrustedCertificateEntry{
			CreationTime: now,
			Certificate: jks.Certificate{
				Type:    x509Type,
				Content: der,
			},
		},
	)
}

// getKey returns key and chain of an alias and checks that they belong together.
func getKey(ks jks.KeyStore, alias, password string) (crypto.Signer, []*x509.Certificate, error) {
	if !ks.IsPrivateKeyEntry(alias) {
		return nil, nil, fmt.Errorf("no key has the alias %q (aliases: %q)", alias, ks.Aliases())
	}
	e, err := ks.GetPrivateKeyEntry(alias, []byte(password))
	if err != nil {
		return nil, nil, fmt.Errorf(
			"the key %q cannot be opened with the password of the keystore; set the same password for both: keytool -keypasswd",
			alias,
		)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(e.PrivateKey)
	key, ok := parsed.(crypto.Signer)
	if err != nil || !ok {
		return nil, nil, fmt.Errorf("the key %q is neither RSA nor EC", alias)
	}
	var chain []*x509.Certificate
	for i, c := range e.CertificateChain {
		cert, err := x509.ParseCertificate(c.Content)
		if err != nil {
			return nil, nil, fmt.Errorf(
				"certificate %d of the chain of %q is damaged: %w",
				i+1,
				alias,
				err,
			)
		}
		chain = append(chain, cert)
	}
	if len(chain) == 0 || !samePublic(chain[0].PublicKey, key.Public()) {
		return nil, nil, fmt.Errorf("the certificate of %q does not belong to its key", alias)
	}
	return key, chain, nil
}

func samePublic(a, b any) bool {
	k, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && k.Equal(b)
}

// trustedCerts returns the trusted certificates in the order of their aliases.
func trustedCerts(ks jks.KeyStore) (map[string]*x509.Certificate, error) {
	out := map[string]*x509.Certificate{}
	for _, a := range ks.Aliases() {
		if !ks.IsTrustedCertificateEntry(a) {
			continue
		}
		e, err := ks.GetTrustedCertificateEntry(a)
		if err != nil {
			return nil, err
		}
		if out[a], err = x509.ParseCertificate(e.Certificate.Content); err != nil {
			return nil, fmt.Errorf("the certificate %q is damaged: %w", a, err)
		}
	}
	return out, nil
}
