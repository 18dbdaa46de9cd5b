package netconf

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strings"

	"golang.org/x/crypto/ssh"
)

// HostKeyError is a server that shows another key than the pinned one: another
// router, a new key of the same one, or someone in between.
type HostKeyError struct {
	// lines of authorized_keys without a comment; Shown is empty if the router has no key of the pinned kind
	Pinned, Shown string
	Kinds         []string // then the kinds there are: "ecdsa-sha2-nistp256"
}

func (e *HostKeyError) Error() string {
	if e.Shown == "" {
		return fmt.Sprintf("the router shows another host key (of kind %.200s) than the pinned one (%s): if that is right, set its host key again",
			strings.Join(e.Kinds, ", "), Fingerprint(e.Pinned))
	}
	return fmt.Sprintf("the router shows another host key (%s) than the pinned one (%s): if that is right, set its host key again",
		Fingerprint(e.Shown), Fingerprint(e.Pinned))
}

// Fingerprint is the SHA-256 fingerprint of a key, a line of authorized_keys, as ssh-keygen
// shows it: "SHA256:…". A line that is not a key is "unreadable".
func Fingerprint(line string) string {
	k, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil {
		return "unreadable"
	}
	return ssh.FingerprintSHA256(k)
}

// pin checks the key of a server against the pinned one and remembers it.
type pin struct {
	want  ssh.PublicKey // nil: any
	shown string
}

func newPin(line string) (*pin, error) {
	if strings.TrimSpace(line) == "" {
		return &pin{}, nil
	}
	k, _, _, rest, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil || len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("the pinned host key is not one line such as \"ssh-ed25519 AAAA…\"")
	}
	return &pin{want: k}, nil
}

// CheckHostKey says what is wrong with a Target.HostKey; an empty one is right.
func CheckHostKey(line string) error {
	_, err := newPin(line)
	return err
}

func (p *pin) checkHostKey(_ string, _ net.Addr, key ssh.PublicKey) error {
	p.shown = strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
	if p.want != nil && !bytes.Equal(p.want.Marshal(), key.Marshal()) {
		return &HostKeyError{
			Pinned: p.pinnedKeyText(),
			Shown:  p.shown,
		}
	}
	return nil
}

func (p *pin) pinnedKeyText() string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(p.want)))
}

// otherKind is a server that has no key of the pinned kind; nil: err says nothing of that.
func (p *pin) otherKind(err error) *HostKeyError {
	var none *ssh.AlgorithmNegotiationError
	if p.want == nil || !errors.As(err, &none) || none.What != "host key" {
		return nil
	}
	return &HostKeyError{
		Pinned: p.pinnedKeyText(),
		Kinds:  none.RequestedAlgorithms,
	}
}

// hostKeyAlgorithms asks for the kind of key that is pinned, so that a server with several
// shows that one; nil: any.
func (p *pin) hostKeyAlgorithms() []string {
	switch {
	case p.want == nil:
		return nil
	case p.want.Type() == ssh.KeyAlgoRSA:
		return []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
	}
	return []string{p.want.Type()}
}
