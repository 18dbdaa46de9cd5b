package keystore

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des" //nolint:gosec // what older keystores are encrypted with
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha1" //nolint:gosec // the same
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"hash"
)

// errOtherCipher says that a file is encrypted in a way that is not ours to read.
var errOtherCipher = errors.New("unknown cipher or MAC")

// maxIterations bounds what a file may have us hash.
const maxIterations = 1_000_000

var (
	oidPBES2   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBMAC1  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 14}
	oidPBKDF2  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
	oid3DES    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 1, 3} // pbeWithSHAAnd3-KeyTripleDES-CBC
	aesCiphers = map[string]int{
		"2.16.840.1.101.3.4.1.2":  16,
		"2.16.840.1.101.3.4.1.22": 24,
		"2.16.840.1.101.3.4.1.42": 32,
	}
	digests = map[string]func() hash.Hash{
		"1.3.14.3.2.26":          sha1.New,
		"2.16.840.1.101.3.4.2.1": sha256.New,
		"2.16.840.1.101.3.4.2.2": sha512.New384,
		"2.16.840.1.101.3.4.2.3": sha512.New,
	}
	prfs = map[string]func() hash.Hash{
		"":                    sha1.New,
		"1.2.840.113549.2.7":  sha1.New,
		"1.2.840.113549.2.9":  sha256.New,
		"1.2.840.113549.2.10": sha512.New384,
		"1.2.840.113549.2.11": sha512.New,
	}
)

type p12Algorithm pkix.AlgorithmIdentifier

type p12Mac struct {
	Mac struct {
		Algorithm p12Algorithm
		Digest    []byte
	}
	Salt       []byte
	Iterations int `asn1:"optional,default:1"`
}

func checkIterations(n int) error {
	if n < 1 || n > maxIterations {
		return fmt.Errorf("an iteration count of %d; 1 to %d are allowed", n, maxIterations)
	}
	return nil
}

// checkMAC verifies the MAC over the content; a wrong password shows here.
func (m p12Mac) checkMAC(content []byte, password string) error {
	if len(m.Mac.Digest) == 0 {
		return errors.New("the PKCS #12 keystore has no MAC, so changes of it cannot be detected; protect it with a password")
	}
	h, key, err := m.deriveKey(password)
	if err != nil {
		return err
	}
	mac := hmac.New(h, key)
	mac.Write(content)
	if !hmac.Equal(mac.Sum(nil), m.Mac.Digest) {
		return ErrPassword
	}
	return nil
}

// deriveKey derives the key of the MAC, and says of which hash it is.
func (m p12Mac) deriveKey(password string) (func() hash.Hash, []byte, error) {
	if m.Mac.Algorithm.Algorithm.Equal(oidPBMAC1) { // RFC 9579: salt and count of the file itself do not count
		var p struct{ Derivation, Mac p12Algorithm }
		if err := strictASN1(m.Mac.Algorithm.Parameters.FullBytes, &p); err != nil {
			return nil, nil, damagedP12(err)
		}
		h, known := prfs[p.Mac.Algorithm.String()]
		if !known || len(p.Mac.Algorithm) == 0 {
			return nil, nil, errOtherCipher
		}
		key, err := p.Derivation.derivePBKDF2(password, 0)
		if err != nil && !errors.Is(err, errOtherCipher) {
			err = damagedP12(err)
		}
		return h, key, err
	}
	h, known := digests[m.Mac.Algorithm.Algorithm.String()]
	if !known {
		return nil, nil, errOtherCipher
	}
	if err := checkIterations(m.Iterations); err != nil {
		return nil, nil, damagedP12(err)
	}
	return h, p12Derive(h, 3, m.Salt, password, m.Iterations, h().Size()), nil
}

// decryptContent opens a content or a key.
func (a p12Algorithm) decryptContent(b []byte, password string) ([]byte, error) {
	var block cipher.Block
	var iv []byte
	var err error
	switch {
	case a.Algorithm.Equal(oidPBES2):
		block, iv, err = a.pbes2Cipher(password)
	case a.Algorithm.Equal(oid3DES):
		var p struct {
			Salt       []byte
			Iterations int
		}
		if err = strictASN1(a.Parameters.FullBytes, &p); err == nil {
			err = checkIterations(p.Iterations)
		}
		if err == nil {
			iv = p12Derive(sha1.New, 2, p.Salt, password, p.Iterations, des.BlockSize)
			block, err = des.NewTripleDESCipher(p12Derive(sha1.New, 1, p.Salt, password, p.Iterations, 24))
		}
	default:
		err = errOtherCipher
	}
	if err != nil {
		return nil, err
	}
	n := block.BlockSize()
	if len(b) == 0 || len(b)%n != 0 || len(iv) != n {
		return nil, errors.New("the cipher text has an invalid length")
	}
	plain := make([]byte, len(b))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(plain, b)
	pad := int(plain[len(plain)-1])
	if pad < 1 || pad > n {
		return nil, errors.New("the cipher text cannot be decrypted")
	}
	return plain[:len(plain)-pad], nil
}

// pbes2Cipher is RFC 8018 section 6.2 with PBKDF2 and AES in CBC mode.
func (a p12Algorithm) pbes2Cipher(password string) (cipher.Block, []byte, error) {
	var p struct{ Derivation, Cipher p12Algorithm }
	if err := strictASN1(a.Parameters.FullBytes, &p); err != nil {
		return nil, nil, err
	}
	size, known := aesCiphers[p.Cipher.Algorithm.String()]
	if !known {
		return nil, nil, errOtherCipher
	}
	var iv []byte
	if err := strictASN1(p.Cipher.Parameters.FullBytes, &iv); err != nil {
		return nil, nil, err
	}
	key, err := p.Derivation.derivePBKDF2(password, size)
	if err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(key)
	return block, iv, err
}

// maxMacKey bounds the key that a file may want for its MAC, in bytes.
const maxMacKey = 128

// derivePBKDF2 derives a key as the parameters of RFC 8018 say, of a size in bytes; 0 =
// of theirs, which must be there.
func (a p12Algorithm) derivePBKDF2(password string, size int) ([]byte, error) {
	if !a.Algorithm.Equal(oidPBKDF2) {
		return nil, errOtherCipher
	}
	var d struct {
		Salt       []byte
		Iterations int
		Length     int          `asn1:"optional"`
		PRF        p12Algorithm `asn1:"optional"`
	}
	if err := strictASN1(a.Parameters.FullBytes, &d); err != nil {
		return nil, err
	}
	if err := checkIterations(d.Iterations); err != nil {
		return nil, err
	}
	prf, known := prfs[d.PRF.Algorithm.String()]
	if !known {
		return nil, errOtherCipher
	}
	if size == 0 {
		if size = d.Length; size < 1 || size > maxMacKey {
			return nil, fmt.Errorf(
				"the key of the MAC has %d bytes; 1 to %d are allowed",
				size,
				maxMacKey,
			)
		}
	}
	return pbkdf2.Key(prf, password, d.Salt, d.Iterations, size)
}

// p12Derive is the derivation of RFC 7292 appendix B.2; purpose 1 is a key, 2 a
// vector, 3 a MAC. Passwords are printable ASCII here.
func p12Derive(
	h func() hash.Hash,
	purpose byte,
	salt []byte,
	password string,
	iterations, size int,
) []byte {
	v := h().BlockSize()
	var pass []byte
	for _, c := range []byte(password) {
		pass = append(pass, 0, c)
	}
	pass = append(pass, 0, 0)
	fill := func(b []byte) []byte {
		out := make([]byte, 0, len(b)+v)
		for len(b) > 0 && (len(out) < len(b) || len(out)%v != 0) {
			out = append(out, b[len(out)%len(b)])
		}
		return out
	}
	d := make([]byte, v)
	for i := range d {
		d[i] = purpose
	}
	in := append(fill(salt), fill(pass)...)
	var out []byte
	for {
		sum := h()
		sum.Write(d)
		sum.Write(in)
		a := sum.Sum(nil)
		for range iterations - 1 {
			sum.Reset()
			sum.Write(a)
			a = sum.Sum(a[:0])
		}
		if out = append(out, a...); len(out) >= size {
			return out[:size]
		}
		// in = in + b + 1, block by block, with b the digest repeated.
		for j := 0; j < len(in); j += v {
			carry := 1
			for k := v - 1; k >= 0; k-- {
				carry += int(in[j+k]) + int(a[k%len(a)])
				in[j+k] = byte(carry)
				carry >>= 8
			}
		}
	}
}
