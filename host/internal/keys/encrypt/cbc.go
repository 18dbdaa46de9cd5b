package encrypt

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

const macSize = sha256.Size

// cbcMAC is AES-CBC with a fresh vector and a MAC over all of it, encrypt-then-MAC
// as in RFC 7518 section 5.2. It implements cipher.AEAD.
type cbcMAC struct {
	block cipher.Block
	mac   []byte
}

func newCBC(key, mac []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	return &cbcMAC{block, mac}, err
}

func (c *cbcMAC) NonceSize() int { return aes.BlockSize }

func (c *cbcMAC) Overhead() int {
	return aes.BlockSize + macSize
}

func (c *cbcMAC) computeTag(nonce, text, aad []byte) []byte {
	h := hmac.New(sha256.New, c.mac)
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(aad))))
	h.Write(aad)
	h.Write(nonce)
	h.Write(text)
	return h.Sum(nil)
}

func (c *cbcMAC) Seal(dst, nonce, plaintext, aad []byte) []byte {
	pad := aes.BlockSize - len(plaintext)%aes.BlockSize
	text := append(bytes.Clone(plaintext), bytes.Repeat([]byte{byte(pad)}, pad)...)
	cipher.NewCBCEncrypter(c.block, nonce).CryptBlocks(text, text)
	return append(append(dst, text...), c.computeTag(nonce, text, aad)...)
}

// Open implements cipher.AEAD. Nothing is decrypted before the MAC is right.
func (c *cbcMAC) Open(dst, nonce, sealed, aad []byte) ([]byte, error) {
	n := len(sealed) - macSize
	if n < aes.BlockSize || !hmac.Equal(sealed[n:], c.computeTag(nonce, sealed[:n], aad)) {
		return nil, ErrForged
	}
	plain, err := openCBC(c.block, nonce, sealed[:n])
	return append(dst, plain...), err
}

// openCBC decrypts and takes the padding of PKCS #7 off.
func openCBC(block cipher.Block, iv, text []byte) ([]byte, error) {
	if len(text) == 0 || len(text)%aes.BlockSize != 0 {
		return nil, ErrForged
	}
	plain := make([]byte, len(text))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(plain, text)
	pad := int(plain[len(plain)-1])
	if pad == 0 ||
		pad > aes.BlockSize ||
		!bytes.HasSuffix(plain, bytes.Repeat([]byte{byte(pad)}, pad)) {
		return nil, ErrForged
	}
	return plain[:len(plain)-pad], nil
}
