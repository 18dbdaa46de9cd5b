package encrypt

import (
	"crypto/sha1" //nolint:gosec // the documented default
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"hash"
	"strings"
)

// Params say how a key is derived and what seals with it, in Java's names.
type Params struct {
	Method     string `json:"method"` // PBKDF2WithHmacSHA1 …
	Type       string `json:"type"`   // AES
	Iterations int    `json:"iterations"`
	Length     int    `json:"length"`    // of the key, bits
	Transform  string `json:"transform"` // AES/GCM/NoPadding, AES/CBC/PKCS5Padding
}

// Documented are the parameters where the settings are silent.
func Documented() Params {
	return Params{
		Method:     "PBKDF2WithHmacSHA1",
		Type:       "AES",
		Iterations: 32768,
		Length:     128,
		Transform:  cbcTransform,
	}
}

const (
	gcmTransform = "AES/GCM/NoPadding"
	cbcTransform = "AES/CBC/PKCS5Padding"
)

// The bounds of the iteration count: below, a key is guessed; above, a start takes minutes.
const (
	MinIterations = 1000
	MaxIterations = 10_000_000
)

// Methods are the derivations that Params.Method may name.
func Methods() []string {
	var out []string
	for _, m := range methods {
		out = append(out, m.name)
	}
	return out
}

var methods = []struct {
	name string
	hash func() hash.Hash
}{
	{"PBKDF2WithHmacSHA1", sha1.New}, {"PBKDF2WithHmacSHA256", sha256.New},
	{"PBKDF2WithHmacSHA384", sha512.New384}, {"PBKDF2WithHmacSHA512", sha512.New},
}

// hashFunc returns the hash of the derivation, nil for an unknown name.
func (p Params) hashFunc() func() hash.Hash {
	for _, m := range methods {
		if strings.EqualFold(m.name, p.Method) {
			return m.hash
		}
	}
	return nil
}

// isCBC reports which of the two transforms is meant; PKCS7 is another name of PKCS5.
func (p Params) isCBC() bool {
	t := strings.ToUpper(p.Transform)
	return t == "AES/CBC/PKCS5PADDING" || t == "AES/CBC/PKCS7PADDING"
}

// Check says what is wrong, naming the element of the settings.
func (p Params) Check() error {
	switch {
	case p.hashFunc() == nil:
		return fmt.Errorf(
			"<encrypt-method> %q: possible are %s",
			p.Method,
			strings.Join(Methods(), ", "),
		)
	case !strings.EqualFold(p.Type, "AES"):
		return fmt.Errorf("<encrypt-type> %q: only AES is possible", p.Type)
	case p.Iterations < MinIterations || p.Iterations > MaxIterations:
		return fmt.Errorf(
			"<encrypt-iteration-count> %d: a number from %d to %d",
			p.Iterations,
			MinIterations,
			MaxIterations,
		)
	case p.Length != 128 && p.Length != 192 && p.Length != 256:
		return fmt.Errorf("<encrypt-key-length> %d: an AES key has 128, 192 or 256 bits", p.Length)
	case !p.isCBC() && !strings.EqualFold(p.Transform, gcmTransform):
		return errors.New("<cipher-transforms> \"" + p.Transform + "\": expected is " + gcmTransform + " and " + cbcTransform)
	}
	return nil
}
