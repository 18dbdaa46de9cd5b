package keystore

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	jks "github.com/pavlo-v-chernykh/keystore-go/v4"
	"software.sslmate.com/src/go-pkcs12"
)

// A PKCS #12 file (RFC 7292) as far as keystores need it. The library reads one key,
// or certificates that are all trusted, and no names; Java keeps several of both
// under aliases.
var (
	oidData          = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}
	oidEncryptedData = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 6}
	oidKeyBag        = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 10, 1, 1}
	oidShroudedBag   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 10, 1, 2}
	oidCertBag       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 10, 1, 3}
	oidX509Cert      = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 22, 1}
	oidFriendlyName  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 20}
	oidLocalKeyID    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 21}
	oidJavaTrusted   = asn1.ObjectIdentifier{2, 16, 840, 1, 113894, 746875, 1, 1}
)

type p12Content struct {
	Type    asn1.ObjectIdentifier
	Content asn1.RawValue `asn1:"tag:0,explicit,optional"`
}

type p12Encrypted struct {
	Version int
	Info    struct {
		Type      asn1.ObjectIdentifier
		Algorithm p12Algorithm
		Content   []byte `asn1:"tag:0,optional"`
	}
}

type p12Bag struct {
	ID         asn1.ObjectIdentifier
	Value      asn1.RawValue  `asn1:"tag:0,explicit"`
	Attributes []p12Attribute `asn1:"set,optional"`
}

type p12Attribute struct {
	ID    asn1.ObjectIdentifier
	Value asn1.RawValue `asn1:"set"`
}

type p12File struct {
	Version  int
	AuthSafe p12Content
	Mac      p12Mac `asn1:"optional"`
}

// decodePKCS12 reads a PKCS #12 file into the form that we keep. A key without a
// name gets the alias of the settings; certificates without one are numbered.
func decodePKCS12(b []byte, password, alias string) (jks.KeyStore, error) {
	var certs, keys []p12Entry
	bags, err := p12Bags(b, password)
	switch {
	case err == nil:
		certs, keys, err = p12Entries(bags, password)
	case errors.Is(err, errOtherCipher):
		certs, keys, err = p12Nameless(b, password)
	}
	if err != nil {
		return newJKS(), err
	}
	return p12Store(certs, keys, password, alias)
}

// p12Bags checks the MAC and returns what is in the file, decrypted but for its keys.
func p12Bags(b []byte, password string) ([]p12Bag, error) {
	var f p12File
	err := strictASN1(b, &f)
	if err != nil || f.Version != 3 || !f.AuthSafe.Type.Equal(oidData) {
		return nil, errors.New("damaged, or not a PKCS #12 keystore with a password")
	}
	var safe []byte
	if err := strictASN1(f.AuthSafe.Content.Bytes, &safe); err != nil {
		return nil, damagedP12(err)
	}
	if err := f.Mac.checkMAC(safe, password); err != nil {
		return nil, err
	}
	var contents []p12Content
	if err := strictASN1(safe, &contents); err != nil {
		return nil, damagedP12(err)
	}
	var out []p12Bag
	for _, c := range contents {
		var plain []byte
		var err error
		switch {
		case c.Type.Equal(oidData):
			err = strictASN1(c.Content.Bytes, &plain)
		case c.Type.Equal(oidEncryptedData):
			var e p12Encrypted
			if err = strictASN1(c.Content.Bytes, &e); err == nil {
				plain, err = e.Info.Algorithm.decryptContent(e.Info.Content, password)
			}
		default:
			err = errors.New("a part of it is neither unencrypted nor encrypted with a password")
		}
		var bags []p12Bag
		if err == nil {
			err = strictASN1(plain, &bags)
		}
		if err != nil {
			return nil, damagedP12(err)
		}
		out = append(out, bags...)
	}
	return out, nil
}

func damagedP12(err error) error {
	return fmt.Errorf("damaged PKCS #12 keystore: %w", err)
}

func strictASN1(b []byte, to any) error {
	rest, err := asn1.Unmarshal(b, to)
	if err == nil && len(rest) > 0 {
		err = errors.New("bytes after its end")
	}
	return err
}

// p12Entry is a certificate or a key of a file with what is said of it.
type p12Entry struct {
	cert    *x509.Certificate
	key     crypto.Signer
	name    string
	id      []byte
	trusted bool
}

// p12Entries reads the bags.
func p12Entries(bags []p12Bag, password string) (certs, keys []p12Entry, err error) {
	for _, b := range bags {
		e := b.readAttributes()
		switch {
		case b.ID.Equal(oidCertBag):
			if e.cert, err = b.parseCertificate(); err != nil {
				return nil, nil, damagedP12(err)
			}
			certs = append(certs, e)
		case b.ID.Equal(oidKeyBag), b.ID.Equal(oidShroudedBag):
			if e.key, err = b.openKey(password); err != nil {
				return nil, nil, err
			}
			keys = append(keys, e)
		default:
			return nil, nil, fmt.Errorf(
				"the PKCS #12 keystore holds something else than keys and certificates (a bag of type %s); take it out: keytool -delete",
				b.ID,
			)
		}
	}
	return certs, keys, nil
}

// p12Nameless reads a file with a cipher that only the library knows, such as the
// RC2 of old programs. It knows no names.
func p12Nameless(b []byte, password string) (certs, keys []p12Entry, err error) {
	key, leaf, all, err := pkcs12.DecodeChain(b, password)
	switch {
	case errors.Is(err, pkcs12.ErrIncorrectPassword):
		return nil, nil, ErrPassword
	case err == nil:
		signer, ok := key.(crypto.Signer)
		if !ok {
			return nil, nil, errors.New("the key of the PKCS #12 keystore is neither RSA nor EC")
		}
		keys, all = []p12Entry{{key: signer}}, append(all, leaf)
	default:
		var trustErr error
		if all, trustErr = pkcs12.DecodeTrustStore(b, password); trustErr != nil {
			return nil, nil, fmt.Errorf(
				"not readable: %w; convert it: keytool -importkeystore -deststoretype JKS",
				err,
			)
		}
	}
	for _, c := range all {
		certs = append(certs, p12Entry{cert: c})
	}
	return certs, keys, nil
}

// p12Store makes the entries that Java makes: a key has the chain of
// the certificate with its id, and what is marked is trusted. Certificates alone,
// without any mark, are all trusted: other programs know no mark.
func p12Store(certs, keys []p12Entry, password, alias string) (jks.KeyStore, error) {
	ks, now := newJKS(), time.Now()
	marked := slices.ContainsFunc(certs, func(c p12Entry) bool { return c.trusted })
	for _, k := range keys {
		k.name = cmp.Or(k.name, alias)
		if ks.IsPrivateKeyEntry(k.name) {
			return ks, fmt.Errorf("the PKCS #12 keystore has two keys under the alias %q", k.name)
		}
		chain := p12Chain(certs, k.key, k.id)
		if len(chain) == 0 {
			return ks, fmt.Errorf("the PKCS #12 keystore has no certificate of the key %q", k.name)
		}
		if err := putKey(ks, k.name, password, k.key, chain, now); err != nil {
			return ks, err
		}
	}
	n := 0
	for _, c := range certs {
		if !c.trusted && (marked || len(keys) > 0) {
			continue
		}
		n++
		if c.name == "" {
			c.name = "certificate-" + strconv.Itoa(n)
		}
		if ks.IsPrivateKeyEntry(c.name) || ks.IsTrustedCertificateEntry(c.name) {
			return ks, fmt.Errorf(
				"the PKCS #12 keystore has two entries under the alias %q",
				c.name,
			)
		}
		if err := putTrusted(ks, c.name, c.cert.Raw, now); err != nil {
			return ks, err
		}
	}
	return ks, nil
}

// p12Chain is the certificate of a key and, one after the other, those of its issuers.
func p12Chain(certs []p12Entry, key crypto.Signer, id []byte) [][]byte {
	var leaf *x509.Certificate
	var all []*x509.Certificate
	for _, c := range certs {
		all = append(all, c.cert)
		if !c.trusted &&
			samePublic(c.cert.PublicKey, key.Public()) &&
			(leaf == nil || id != nil && bytes.Equal(c.id, id)) {
			leaf = c.cert
		}
	}
	if leaf == nil {
		return nil
	}
	return rawCerts(completeChain([]*x509.Certificate{leaf}, all))
}

// readAttributes reads the attributes: Java writes aliases in lower case.
func (b p12Bag) readAttributes() (e p12Entry) {
	for _, a := range b.Attributes {
		switch {
		case a.ID.Equal(oidFriendlyName):
			var text string
			if strictASN1(a.Value.Bytes, &text) == nil && checkAlias(text) == nil {
				e.name = strings.ToLower(text)
			}
		case a.ID.Equal(oidLocalKeyID):
			_ = strictASN1(a.Value.Bytes, &e.id) // without, keys and certificates match by themselves
		case a.ID.Equal(oidJavaTrusted):
			e.trusted = true
		}
	}
	return e
}

func (b p12Bag) parseCertificate() (*x509.Certificate, error) {
	var c struct {
		ID   asn1.ObjectIdentifier
		Data []byte `asn1:"tag:0,explicit"`
	}
	if err := strictASN1(b.Value.Bytes, &c); err != nil {
		return nil, err
	}
	if !c.ID.Equal(oidX509Cert) {
		return nil, errors.New("a certificate is not an X.509 certificate")
	}
	return x509.ParseCertificate(c.Data)
}

func (b p12Bag) openKey(password string) (crypto.Signer, error) {
	der := b.Value.Bytes
	if b.ID.Equal(oidShroudedBag) {
		var e struct {
			Algorithm p12Algorithm
			Data      []byte
		}
		if err := strictASN1(der, &e); err != nil {
			return nil, damagedP12(err)
		}
		var err error
		if der, err = e.Algorithm.decryptContent(e.Data, password); err != nil {
			return nil, fmt.Errorf(
				"a key cannot be opened with the password of the keystore; set the same password for both: keytool -keypasswd: %w",
				err,
			)
		}
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	key, ok := parsed.(crypto.Signer)
	if err != nil || !ok {
		return nil, errors.New("a key of the PKCS #12 keystore is neither RSA nor EC")
	}
	return key, nil
}
