package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/sdk/fault"
)

// checkGit asks git for its version; 2.31 brought what counting needs.
func (s *Service) checkGit(ctx context.Context) error {
	out, err := s.git.Output(ctx, gitcmd.Call{
		Dir:  os.TempDir(),
		Args: []string{"version"},
	})
	if err != nil {
		return err
	}
	return oldGit(string(out))
}

func oldGit(text string) error {
	var major, minor int
	version := strings.TrimPrefix(strings.TrimSpace(text), "git version ")
	n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor)
	if n == 2 && (major > 2 || (major == 2 && minor >= 31)) {
		return nil
	}
	return fault.New(
		fault.Unsupported,
		"git %s is too old or unknown: install git 2.31 or later",
		version,
	)
}

// gitTrust lets git verify servers against the trust keystore of the controller: git
// reads certificates from a file only, so they are written to one.
type gitTrust struct {
	dir  string
	read func(ctx context.Context) (pem []byte, err error)

	mu sync.Mutex
}

// gitEnviron is what git gets in its environment. While the controller has no keystores,
// nothing: the certificates of the operating system count.
func (g *gitTrust) gitEnviron(ctx context.Context) ([]string, error) {
	pem, err := g.read(ctx)
	switch kind := fault.KindOf(err); {
	case err != nil && (kind == fault.Unavailable || kind == fault.Unsupported):
		return nil, nil
	case err != nil:
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	// An empty folder instead of that of the system, which would count besides.
	file := filepath.Join(g.dir, "trusted.pem")
	none := filepath.Join(g.dir, "none")
	if err := os.MkdirAll(none, 0o700); err != nil {
		return nil, err
	}
	if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, pem) {
		if err := replaceFile(file, pem); err != nil {
			return nil, err
		}
	}
	return []string{"GIT_SSL_CAINFO=" + file, "GIT_SSL_CAPATH=" + none}, nil
}

// replaceFile writes a file that others may be reading.
func replaceFile(name string, b []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(b)
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}
