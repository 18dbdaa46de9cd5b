package sshserver

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"

	"ctl.internal/host/internal/home"
)

// hostKey reads the host key, or makes it when there is none. A damaged one is an
// error: a new key would look to every client like an attack.
func hostKey(file string) (ssh.Signer, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		b, err = makeHostKey(file)
	}
	if err != nil {
		return nil, fmt.Errorf("the host key: %w", err)
	}
	key, err := ssh.ParsePrivateKey(b)
	if err != nil {
		return nil, fmt.Errorf("the host key %s is damaged; restore it, or remove it to have a new one made: %w", file, err)
	}
	return key, nil
}

func makeHostKey(file string) ([]byte, error) {
	_, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	block, err := ssh.MarshalPrivateKey(priv, "ctld host key")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	b := pem.EncodeToMemory(block)
	return b, home.WriteFile(file, b, 0o600)
}
