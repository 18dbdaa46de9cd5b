package sshserver

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/caller"
)

var errRefused = errors.New("the login is refused")

// maxKeysFile bounds what is read of an authorized_keys file, in bytes.
const maxKeysFile = 1 << 20

// callerKey finds the caller in the permissions of a connection.
type callerKey struct{}

// remoteConfig is how users prove who they are on a connection that ends with ctx;
// loggedIn is called before the answer that they are known.
func (s *Server) remoteConfig(ctx context.Context, loggedIn func() bool) *ssh.ServerConfig {
	cfg := &ssh.ServerConfig{
		Config:        algorithms(),
		ServerVersion: "SSH-2.0-ctld",
		MaxAuthTries:  maxAttempts,
		PasswordCallback: func(meta ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
			ctx, cancel := context.WithTimeout(ctx, s.cfg.LoginTime)
			defer cancel()
			who, err := s.cfg.Login.Password(ctx, userName(meta.User()), string(password), meta.RemoteAddr().String())
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errRefused, err)
			}
			return s.admit(who)
		},
		AuthLogCallback: func(meta ssh.ConnMetadata, method string, err error) {
			if method == "none" {
				return
			}
			if err != nil {
				s.cfg.Log.Warn("ssh login refused", "user", meta.User(), "address", meta.RemoteAddr().String(), "method", method, "reason", err.Error())
				return
			}
			loggedIn()
			s.cfg.Log.Info("ssh login", "user", meta.User(), "address", meta.RemoteAddr().String(), "method", method)
		},
	}
	if s.cfg.KeysDir != "" {
		cfg.PublicKeyCallback = func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			user := userName(meta.User())
			if err := authorized(s.cfg.KeysDir, user, key); err != nil {
				return nil, err
			}
			ctx, cancel := context.WithTimeout(ctx, s.cfg.LoginTime)
			defer cancel()
			who, err := s.cfg.Login.Current(ctx, user)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errRefused, err)
			}
			return s.admit(who)
		}
	}
	cfg.AddHostKey(s.hostKey)
	return cfg
}

// userName takes the name as the users of the HTTP side write it, user or user@sdn.
func userName(s string) string { return strings.TrimSuffix(s, "@sdn") }

func (s *Server) admit(who caller.Caller) (*ssh.Permissions, error) {
	if !who.HasRole(adminRole) && s.cfg.Own == nil {
		return nil, fmt.Errorf("%w: %s does not have the role %s", errRefused, who.User, adminRole)
	}
	return &ssh.Permissions{ExtraData: map[any]any{callerKey{}: who}}, nil
}

// authorized looks a key up in the user's file. A file that others than its owner
// may write gives no access.
func authorized(dir, user string, key ssh.PublicKey) error {
	if user == "" || user[0] == '.' || strings.ContainsAny(user, "/\\\x00") {
		return fmt.Errorf("%w: the name has no file of keys", errRefused)
	}
	file := filepath.Join(dir, user)
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: no keys for %s", errRefused, user)
	}
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%w: %s must be a file that only its owner may write (chmod go-w)", errRefused, file)
	}
	b, err := home.ReadBounded(file, maxKeysFile)
	if err != nil {
		return err
	}
	want := key.Marshal()
	for line := range bytes.Lines(b) {
		k, _, options, _, err := ssh.ParseAuthorizedKey(line)
		if err != nil {
			continue // a comment, or a line that somebody broke: the others count
		}
		if slices.ContainsFunc(options, func(o string) bool {
			return o == "cert-authority" || strings.HasPrefix(o, "from=") || strings.HasPrefix(o, "command=")
		}) {
			continue // we do not keep what such a line demands, so it opens nothing
		}
		if bytes.Equal(k.Marshal(), want) {
			return nil
		}
	}
	return fmt.Errorf("%w: the key is not in %s", errRefused, file)
}

// hostKey reads the host key, or makes it when there is none. A damaged one is an
// error: a new key would look to every client like an attack.
func hostKey(file string) (ssh.Signer, error) {
	b, err := home.ReadRegular(file)
	if errors.Is(err, fs.ErrNotExist) {
		b, err = makeHostKey(file)
	}
	if err != nil {
		return nil, fmt.Errorf("the host key: %w", err)
	}
	key, err := ssh.ParsePrivateKey(b)
	if err != nil {
		return nil, fmt.Errorf("the host key %s is damaged; restore it, or remove it to generate a new one: %w", file, err)
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
