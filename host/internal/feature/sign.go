package feature

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"aead.dev/minisign"

	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/fault"
)

// maxKeyFile bounds a signature and a public key, in bytes; minisign's have less than 400.
const maxKeyFile = 8 << 10

// signatureSuffix is what minisign adds to the name of the file that it signs.
const signatureSuffix = ".minisig"

// keyRecord is a public key that an operator trusted or revoked.
type keyRecord struct {
	Key     string    `json:"key"` // in minisign's form, one line
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Revoked bool      `json:"revoked,omitempty"` // By and At say by whom and when
}

// Signer is a public key as an operator compares it.
type Signer struct {
	ID          string `json:"id"`          // as minisign shows it
	Fingerprint string `json:"fingerprint"` // SHA-256 of the key in minisign's form
	Key         string `json:"key"`         // what --key takes
}

func signerOf(k minisign.PublicKey) Signer {
	text := k.String()
	raw, _ := base64.StdEncoding.DecodeString(text) // the library encoded it
	return Signer{
		ID:          keyID(k.ID()),
		Fingerprint: fmt.Sprintf("SHA256:%x", sha256.Sum256(raw)),
		Key:         text,
	}
}

func keyID(id uint64) string { return fmt.Sprintf("%016X", id) }

// wholeID is the ID of a key as it is kept: minisign shows it without leading zeros.
func wholeID(shown string) string {
	return strings.Repeat("0", max(0, len(keyID(0))-len(shown))) + strings.ToUpper(shown)
}

// UntrustedError says that a catalogue is signed with a key that was not trusted yet.
type UntrustedError struct {
	Catalogue string
	Signer    Signer
}

// Error implements error.
func (e *UntrustedError) Error() string {
	return fmt.Sprintf("%s is signed with the key %s (%s), which is not trusted here yet: compare it with what its author publishes, then add --key %s",
		e.Catalogue, e.Signer.ID, e.Signer.Fingerprint, e.Signer.Key)
}

// Unwrap gives the error its kind.
func (e *UntrustedError) Unwrap() error {
	return fault.New(fault.Denied, "the key is not trusted")
}

// signature is what stands beside a catalogue.
type signature struct {
	text []byte
	id   string
	pub  *minisign.PublicKey // from a .pub file beside it, nil = none
}

// readSignature reads FILE.minisig and, if it is there, the public key in FILE.pub. It returns nil when the file is not
// signed.
func readSignature(path string) (*signature, error) {
	text, err := home.ReadBounded(path+signatureSuffix, maxKeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "%v", err)
	}
	var s minisign.Signature
	if err := s.UnmarshalText(text); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "%s%s: %v", path, signatureSuffix, err)
	}
	out := &signature{text: text, id: keyID(s.KeyID)}
	text, err = home.ReadBounded(path+".pub", maxKeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "%v", err)
	}
	k, err := parseKey(string(text))
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "%s.pub: %v", path, err)
	}
	if keyID(k.ID()) == out.id {
		out.pub = &k
	}
	return out, nil
}

// parseKey reads a public key: the line that starts with RW, or the whole file of minisign.
func parseKey(text string) (k minisign.PublicKey, err error) {
	err = k.UnmarshalText([]byte(strings.TrimSpace(text)))
	return k, err
}

// trustedSigner returns the key that signs a catalogue, if an operator trusts it: pinned is the value of --key. again is the
// key that signed the catalogue of that name before, empty when there was none.
func (s *signature) trustedSigner(
	catalogue string,
	keys map[string]keyRecord,
	pinned, again string,
) (Signer, error) {
	var key minisign.PublicKey
	known, have := keys[s.id]
	switch {
	case pinned != "":
		k, err := parseKey(pinned)
		if err != nil {
			return Signer{}, fault.Wrap(fault.Invalid, err, "--key: %v", err)
		}
		if keyID(k.ID()) != s.id {
			return Signer{}, fault.New(
				fault.Denied,
				"%s is signed with the key %s, and --key is %s",
				catalogue,
				s.id,
				keyID(k.ID()),
			)
		}
		key = k
	case have && known.Revoked:
		return Signer{}, fault.New(fault.Denied, "%s is signed with the key %s, which %s revoked on %s; nothing was added. "+
			"To trust the key again, name it with --key", catalogue, s.id, known.By, known.At.Format(time.DateOnly))
	case have:
		k, err := parseKey(known.Key)
		if err != nil {
			return Signer{}, err
		}
		key = k
	case s.pub != nil:
		key = *s.pub
	default:
		return Signer{}, fault.New(fault.Denied, "%s is signed with the key %s, which is not trusted here: name the public key of its author with --key, "+
			"or put it beside the file, with .pub at its end, and compare what is shown", catalogue, s.id)
	}
	signer := signerOf(key)
	switch {
	case again != "" && again != signer.Key:
		return signer, fault.New(fault.Denied, "%s is signed with the key %s, but the installed catalogue of that name was signed with another key: "+
			"if its author has published a new key, remove the catalogue with feature:repo-remove first", catalogue, s.id)
	case pinned == "" && (!have || known.Key != signer.Key):
		return signer, &UntrustedError{catalogue, signer}
	}
	return signer, nil
}

// verifySignature checks the signature of a catalogue that was added. Unsigned ones pass: an operator said so by name.
func (r repoRecord) verifySignature(keys map[string]keyRecord) error {
	if r.Key == "" {
		return nil
	}
	k, err := parseKey(r.Key)
	if err != nil {
		return err
	}
	if known := keys[keyID(k.ID())]; known.Revoked {
		return fmt.Errorf("its key %s was revoked by %s on %s: its features are not run; feature:repo-remove removes the catalogue",
			keyID(k.ID()), known.By, known.At.Format(time.DateOnly))
	}
	if !minisign.Verify(k, r.Text, r.Signature) {
		return errors.New("its text is not what its author signed, or the signature belongs to another file: fetch both again")
	}
	return nil
}

// signedBy is who answers for a catalogue that was added, for people.
func (r repoRecord) signedBy() string {
	k, err := parseKey(r.Key)
	if r.Key == "" || err != nil {
		return unsigned
	}
	return keyID(k.ID())
}

// unsigned is what lists show of a catalogue without a signature.
const unsigned = "UNSIGNED"

// revocation is a file that must not run any more.
type revocation struct {
	SHA256 string `json:"sha256"`
	Why    string `json:"why"`
}

// revokedError says that a plugin's file was revoked.
type revokedError struct{ error }

func (e revokedError) Unwrap() error { return e.error }

// checkNotRevoked checks that the file of a plugin is not revoked: by the catalogues of the home, or by the one it comes from.
func (m *Manager) checkNotRevoked(p PluginSpec) error {
	for _, r := range m.repo.repos {
		_, added := m.added.repos[r.Name]
		if added && r.Name != p.Repository {
			continue
		}
		for _, v := range r.Revoked {
			if strings.EqualFold(v.SHA256, p.SHA256) {
				return revokedError{fault.New(
					fault.Denied,
					"the file of plugin %s (sha256 %s) is revoked by the catalogue %s: %s",
					p.Name,
					p.SHA256,
					r.Name,
					v.Why,
				)}
			}
		}
	}
	return nil
}
