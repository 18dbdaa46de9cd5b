package sshserver

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"

	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/caller"
)

var errRefused = errors.New("the login is refused")

// callerKey finds the caller in the permissions of a connection.
type callerKey struct{}

// nowKey finds what looks the user of a connection up as of now.
type nowKey struct{}

// remoteConfig is how users prove who they are on a connection that ends with ctx;
// loggedIn is called before the answer that they are known.
func (s *Server) remoteConfig(ctx context.Context, loggedIn func() bool) *ssh.ServerConfig {
	cfg := &ssh.ServerConfig{
		Config:        secureAlgorithms(),
		ServerVersion: "SSH-2.0-ctld",
		MaxAuthTries:  maxAttempts,
		PasswordCallback: func(meta ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
			ctx, cancel := context.WithTimeout(ctx, s.cfg.LoginTime)
			defer cancel()
			who, now, err := s.cfg.Login.Password(
				ctx,
				userName(meta.User()),
				string(password),
				meta.RemoteAddr().String(),
			)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errRefused, err)
			}
			permissions, err := s.permitCaller(who)
			if err == nil {
				permissions.ExtraData[nowKey{}] = now
			}
			return permissions, err
		},
		PublicKeyCallback: func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			ctx, cancel := context.WithTimeout(ctx, s.cfg.LoginTime)
			defer cancel()
			now := func(ctx context.Context) (caller.Caller, error) {
				return s.cfg.Login.Key(ctx, userName(meta.User()), key, meta.RemoteAddr().String())
			}
			who, err := now(ctx)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errRefused, err)
			}
			permissions, err := s.permitCaller(who)
			if err == nil {
				permissions.ExtraData[nowKey{}] = now // a key that was taken away ends what was begun with it
			}
			return permissions, err
		},
		AuthLogCallback: func(meta ssh.ConnMetadata, method string, err error) {
			if method == "none" {
				return
			}
			if err != nil {
				s.cfg.Log.Warn(
					"ssh login refused",
					"user",
					meta.User(),
					"address",
					meta.RemoteAddr().String(),
					"method",
					method,
					"reason",
					err.Error(),
				)
				return
			}
			loggedIn()
			s.cfg.Log.Info(
				"ssh login",
				"user",
				meta.User(),
				"address",
				meta.RemoteAddr().String(),
				"method",
				method,
			)
		},
	}
	cfg.AddHostKey(s.hostKey)
	return cfg
}

// userName takes the name as the users of the HTTP side write it, user or user@sdn.
func userName(s string) string {
	return strings.TrimSuffix(s, "@sdn")
}

func (s *Server) permitCaller(who caller.Caller) (*ssh.Permissions, error) {
	if !who.HasRole(adminRole) && s.cfg.Own == nil {
		return nil, fmt.Errorf("%w: %s does not have the role %s", errRefused, who.User, adminRole)
	}
	return &ssh.Permissions{ExtraData: map[any]any{callerKey{}: who}}, nil
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
		return nil, fmt.Errorf(
			"the host key %s is damaged; restore it, or remove it to generate a new one: %w",
			file,
			err,
		)
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
