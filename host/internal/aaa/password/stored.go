package password

import (
	"crypto"
	_ "crypto/md5"  // forms that files of Shiro may have
	_ "crypto/sha1" //nolint:gosec // the same
	_ "crypto/sha256"
	_ "crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// Bounds of what a stored hash may cost: a file or a record must not keep the processors busy for minutes.
const (
	maxIterations = 10_000_000
	maxBcryptCost = 16
)

// Below these a stored form is weak.
const (
	goodIterations = 100_000
	goodBcryptCost = 10
)

// Forms are the forms of stored passwords that are verified, for messages.
const Forms = "$argon2id$, $argon2i$, $2a$, $2b$, $2y$ (bcrypt), $shiro1$ and $shiro2$"

// marked are the beginnings of passwords that are stored as a hash: the modular crypt format, and the schemes of
// RFC 2307.
var marked = regexp.MustCompile(`^(\$[A-Za-z0-9_-]+\$|\{(?i:S?SHA|S?SHA-?(224|256|384|512)|S?MD5|CRYPT|PBKDF2|ARGON2|BCRYPT)[^{}]*\})`)

// IsStored reports whether a text is a stored form of a password, known or not, rather than the password itself.
func IsStored(text string) bool {
	return marked.MatchString(text)
}

// Stored is the stored form of a password.
type Stored struct {
	matches func(password string) bool
	argon2  Params // of $argon2id$, the form that Hash makes; zero for others
	weak    bool
}

// Weak reports whether the password is guessed quickly by who has the stored form.
func (s Stored) Weak() bool { return s.weak }

// ParseStored reads a stored form. The error says what is wrong, without the text itself.
func ParseStored(text string) (Stored, error) {
	form, rest, ok := strings.Cut(strings.TrimPrefix(text, "$"), "$")
	if !ok || text[0] != '$' {
		return Stored{}, fmt.Errorf(
			"the form of the stored password is not known; known are %s",
			Forms,
		)
	}
	switch form {
	case "argon2id":
		return parseArgon2(form, rest, true)
	case "argon2i":
		return parseArgon2(form, rest, false)
	case "2", "2a", "2b", "2y":
		return parseBcrypt(form, rest)
	case "shiro1":
		return parseShiro1(rest)
	case "shiro2":
		return parseShiro2(rest)
	}
	return Stored{}, fmt.Errorf(
		"the form $%s$ of the stored password is not known; known are %s",
		form,
		Forms,
	)
}

// parseShiro2 reads what Shiro2CryptFormat writes: the crypt form of argon2 or bcrypt after $shiro2.
func parseShiro2(rest string) (Stored, error) {
	form, rest, _ := strings.Cut(rest, "$")
	switch form {
	case "argon2id", "argon2i":
		s, err := parseArgon2(form, rest, form == "argon2id")
		s.argon2 = Params{} // Hash does not write it so
		return s, err
	case "2", "2a", "2b", "2y":
		return parseBcrypt(form, rest)
	}
	return Stored{}, fmt.Errorf(
		"$shiro2$%s$ is not known; known are $shiro2$argon2id$, $shiro2$argon2i$ and $shiro2$2y$ (bcrypt)",
		form,
	)
}

func parseArgon2(form, rest string, id bool) (Stored, error) {
	fields := strings.Split(rest, "$")
	if len(fields) != 4 || fields[0] != fmt.Sprintf("v=%d", argon2.Version) {
		return Stored{}, fmt.Errorf(
			"the stored password is not of the form $%s$v=%d$m=…,t=…,p=…$SALT$HASH",
			form,
			argon2.Version,
		)
	}
	p, err := parseParams(fields[1])
	if err != nil {
		return Stored{}, err
	}
	salt, err := decodeBase64(fields[2])
	if err != nil {
		return Stored{}, fmt.Errorf("the salt of the stored password is not base64")
	}
	want, err := decodeBase64(fields[3])
	if err != nil || len(want) < 16 || len(want) > 128 {
		return Stored{}, fmt.Errorf("the hash of the stored password is not base64 of 16 to 128 bytes")
	}
	derive, s := argon2.Key, Stored{}
	if id {
		derive, s.argon2 = argon2.IDKey, p
	}
	s.matches = func(password string) bool {
		got := derive([]byte(password), salt, p.Time, p.MemoryKiB, p.Threads, uint32(len(want)))
		return subtle.ConstantTimeCompare(got, want) == 1
	}
	return s, nil
}

// parseParams reads m=, t= and p= in any order: Shiro writes t first.
func parseParams(text string) (Params, error) {
	var p Params
	for _, part := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		n, err := strconv.ParseUint(value, 10, 32)
		switch {
		case err == nil && name == "m" && p.MemoryKiB == 0:
			p.MemoryKiB = uint32(n)
		case err == nil && name == "t" && p.Time == 0:
			p.Time = uint32(n)
		case err == nil && name == "p" && p.Threads == 0 && n <= maxThreads:
			p.Threads = uint8(n)
		default:
			return p, errors.New("the stored password has no parameters m=…,t=…,p=… in range")
		}
	}
	return p, p.checkRanges()
}

func parseBcrypt(form, rest string) (Stored, error) {
	cost, data, _ := strings.Cut(rest, "$")
	n, err := strconv.Atoi(cost)
	if err != nil || len(data) != 53 {
		return Stored{}, fmt.Errorf(
			"the stored password is not of the form $%s$COST$ and 53 characters of bcrypt",
			form,
		)
	}
	if n < bcrypt.MinCost || n > maxBcryptCost {
		return Stored{}, fmt.Errorf(
			"the cost %d of bcrypt is not %d to %d",
			n,
			bcrypt.MinCost,
			maxBcryptCost,
		)
	}
	hash := fmt.Appendf(nil, "$%s$%02d$%s", form, n, data)
	if err := bcrypt.CompareHashAndPassword(
		fmt.Appendf(nil, "$%s$%02d$%s", form, bcrypt.MinCost, data),
		nil,
	); err != nil &&
		!errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
		return Stored{}, errors.New("the stored password is not bcrypt's base64")
	}
	return Stored{
		matches: func(password string) bool {
			return bcrypt.CompareHashAndPassword(hash, []byte(password)) == nil
		},
		weak: n < goodBcryptCost,
	}, nil
}

// digests are the digests of SimpleHash, by the names of Java without the dash.
var digests = map[string]crypto.Hash{
	"MD5":    crypto.MD5,
	"SHA":    crypto.SHA1,
	"SHA1":   crypto.SHA1,
	"SHA224": crypto.SHA224,
	"SHA256": crypto.SHA256,
	"SHA384": crypto.SHA384,
	"SHA512": crypto.SHA512,
}

// parseShiro1 reads what Shiro1CryptFormat writes: ALGORITHM$ITERATIONS$SALT$DIGEST.
func parseShiro1(rest string) (Stored, error) {
	fields := strings.Split(rest, "$")
	if len(fields) != 4 {
		return Stored{}, errors.New("the stored password is not of the form $shiro1$ALGORITHM$ITERATIONS$SALT$HASH")
	}
	digest, ok := digests[strings.ToUpper(strings.Replace(fields[0], "-", "", 1))]
	if !ok {
		return Stored{}, fmt.Errorf(
			"the algorithm %q of $shiro1$ is not known; known are MD5, SHA-1, SHA-224, SHA-256, SHA-384 and SHA-512",
			fields[0],
		)
	}
	n, err := strconv.Atoi(fields[1])
	if err != nil || n < 1 || n > maxIterations {
		return Stored{}, fmt.Errorf("the iterations of $shiro1$ are not 1 to %d", maxIterations)
	}
	salt, err := decodeBase64(fields[2])
	if err != nil {
		return Stored{}, errors.New("the salt of $shiro1$ is not base64")
	}
	want, err := decodeBase64(fields[3])
	if err != nil || len(want) != digest.Size() {
		return Stored{}, fmt.Errorf("the hash of $shiro1$ is not base64 of %d bytes", digest.Size())
	}
	matches := func(password string) bool {
		h := digest.New()
		h.Write(salt)
		h.Write([]byte(password))
		got := h.Sum(nil)
		for range n - 1 {
			h.Reset()
			h.Write(got)
			got = h.Sum(got[:0])
		}
		return subtle.ConstantTimeCompare(got, want) == 1
	}
	return Stored{
		matches: matches,
		weak:    n < goodIterations || len(salt) == 0 || digest == crypto.MD5 || digest == crypto.SHA1,
	}, nil
}

// decodeBase64 reads base64 with or without padding.
func decodeBase64(s string) ([]byte, error) {
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
}
