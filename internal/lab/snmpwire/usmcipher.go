package snmpwire

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"encoding/binary"
	"errors"
)

var errCipher = errors.New("privacy parameters or encrypted data have the wrong length")

// salt makes msgPrivacyParameters from a number that must not repeat.
func salt(p Priv, boots int, n uint64) []byte {
	b := binary.BigEndian.AppendUint64(nil, n)
	if p == DES {
		binary.BigEndian.PutUint32(b, uint32(boots))
	}
	return b
}

// encrypt seals the scoped PDU (RFC 3414 section 8.1.1.2, RFC 3826 section 3.1.3).
func (k *Keys) encrypt(boots, engineTime int, salt, plain []byte) ([]byte, error) {
	if k.User.Priv == DES {
		block, iv, err := k.desBlock(salt)
		if err != nil {
			return nil, err
		}
		out := make([]byte, (len(plain)+7)/8*8)
		copy(out, plain)
		cipher.NewCBCEncrypter(block, iv).CryptBlocks(out, out)
		return out, nil
	}
	return k.cfb(boots, engineTime, salt, plain, true)
}

// decrypt opens what encrypt sealed; DES leaves its padding at the end.
func (k *Keys) decrypt(boots, engineTime int, salt, sealed []byte) ([]byte, error) {
	if k.User.Priv == DES {
		block, iv, err := k.desBlock(salt)
		if err != nil || len(sealed)%8 != 0 {
			return nil, errCipher
		}
		out := make([]byte, len(sealed))
		cipher.NewCBCDecrypter(block, iv).CryptBlocks(out, sealed)
		return out, nil
	}
	return k.cfb(boots, engineTime, salt, sealed, false)
}

func (k *Keys) desBlock(salt []byte) (cipher.Block, []byte, error) {
	if len(salt) != 8 {
		return nil, nil, errCipher
	}
	iv := make([]byte, 8)
	for i := range iv {
		iv[i] = k.priv[8+i] ^ salt[i]
	}
	block, err := des.NewCipher(k.priv[:8])
	return block, iv, err
}

// cfb is AES in 128-bit cipher feedback mode. It is written out because the
// library's own is deprecated, and rightly so outside of protocols of that age.
func (k *Keys) cfb(boots, engineTime int, salt, in []byte, seal bool) ([]byte, error) {
	if len(salt) != 8 {
		return nil, errCipher
	}
	block, err := aes.NewCipher(k.priv)
	if err != nil {
		return nil, err
	}
	reg := make([]byte, 16)
	binary.BigEndian.PutUint32(reg, uint32(boots))
	binary.BigEndian.PutUint32(reg[4:], uint32(engineTime))
	copy(reg[8:], salt)
	out := make([]byte, len(in))
	for i := 0; i < len(in); i += 16 {
		block.Encrypt(reg, reg)
		for j := i; j < min(i+16, len(in)); j++ {
			out[j] = in[j] ^ reg[j-i]
			if seal {
				reg[j-i] = out[j]
			} else {
				reg[j-i] = in[j]
			}
		}
	}
	return out, nil
}
