package keystore

import (
	"crypto"
	"errors"
	"fmt"
	"strconv"
	"time"

	jks "github.com/pavlo-v-chernykh/keystore-go/v4"
	"software.sslmate.com/src/go-pkcs12"
)

// decodePKCS12 reads what keytool makes by default into the form that we keep.
// Aliases are not read: a key gets the one of the settings, trusted certificates
// are numbered.
func decodePKCS12(b []byte, password, alias string) (ks jks.KeyStore, err error) {
	ks = newJKS()
	now := time.Now()
	key, leaf, more, err := pkcs12.DecodeChain(b, password)
	if errors.Is(err, pkcs12.ErrIncorrectPassword) {
		return ks, ErrPassword
	}
	if err == nil {
		signer, ok := key.(crypto.Signer)
		if !ok {
			return ks, errors.New("the key of the PKCS #12 keystore is neither RSA nor EC")
		}
		chain := [][]byte{leaf.Raw}
		for _, c := range more {
			chain = append(chain, c.Raw)
		}
		return ks, putKey(ks, alias, password, signer, chain, now)
	}
	certs, trustErr := pkcs12.DecodeTrustStore(b, password)
	if trustErr != nil {
		return ks, fmt.Errorf("damaged, or a PKCS #12 keystore that is neither a key with its chain nor Java's trusted certificates: %w", err)
	}
	for i, c := range certs {
		if err := putTrusted(ks, "certificate-"+strconv.Itoa(i+1), c.Raw, now); err != nil {
			return ks, err
		}
	}
	return ks, nil
}
