package process

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"ctl.internal/host/internal/home"
)

// program is an opened executable. What was hashed is what is executed: the file is
// run through its descriptor, so replacing the path in between changes nothing.
type program struct {
	file   *os.File
	path   string
	script bool
	sum    string // sha256, in hex
}

func openProgram(path, want string, sums *Sums) (_ *program, err error) {
	f, err := home.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf(
			"there is no plugin file %s: build it or correct the path in features.yaml",
			path,
		)
	}
	if err != nil {
		return nil, fmt.Errorf("the plugin file cannot be read: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch m := st.Mode(); {
	case m.Perm()&0o111 == 0:
		return nil, fmt.Errorf("the plugin file %s is not executable: chmod +x it", path)
	case m.Perm()&0o002 != 0:
		return nil, fmt.Errorf("all users may write the plugin file %s: chmod o-w it", path)
	}
	p := &program{file: f, path: path}
	head := make([]byte, 2)
	if n, _ := f.ReadAt(head, 0); n == 2 {
		p.script = bytes.Equal(head, []byte("#!"))
	}
	if p.sum, err = sums.fileSum(f); err != nil {
		return nil, fmt.Errorf("the plugin file %s cannot be read: %w", path, err)
	}
	if want != "" && !strings.EqualFold(want, p.sum) {
		return nil, fmt.Errorf("the plugin file %s is not the one in the catalogue: its sha256 is %s, expected %s; "+
			"if the change is yours, write the new value into features.yaml, or into SHA256SUMS beside the file, where it stands", path, p.sum, want)
	}
	return p, nil
}

// execPath is what to hand to exec: a link to the descriptor, made in dir, because
// the kernel names the process after the last part of the path. The interpreter of
// a script opens the file by itself, after the descriptor is gone, so a script is
// run by its path.
func (p *program) execPath(dir string) (string, error) {
	if p.script {
		return p.path, nil
	}
	link := filepath.Join(dir, "x-"+filepath.Base(p.path), filepath.Base(p.path))
	if err := os.Mkdir(filepath.Dir(link), 0o700); err != nil {
		return "", err
	}
	return link, os.Symlink(fmt.Sprintf("/proc/self/fd/%d", p.file.Fd()), link)
}

// Hash returns the sha256 of a plugin's file, in hex, after the checks that are made
// before it is started. want is the expected one; empty = any.
func Hash(path, want string, sums *Sums) (string, error) {
	p, err := openProgram(path, want, sums)
	if err != nil {
		return "", err
	}
	return p.sum, p.file.Close()
}

// FileSum returns the sha256 of any file, in hex.
func FileSum(path string) (string, error) {
	f, err := home.OpenRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return sumOf(f)
}

// Sums remembers the hashes of files, so that a restart need not read 20 MB again.
// The kernel sets the change time of a file at each write and at each attempt to
// disguise one, so a file with the same identity, size and times is the same file.
// The zero Sums is ready to use; a nil one remembers nothing.
type Sums struct {
	mu sync.Mutex
	m  map[fileState]string
}

type fileState struct {
	dev, ino     uint64
	size         int64
	mtime, ctime syscall.Timespec
}

func (s *Sums) fileSum(f *os.File) (string, error) {
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if s == nil || !ok {
		return sumOf(f)
	}
	key := fileState{sys.Dev, sys.Ino, sys.Size, sys.Mtim, sys.Ctim}
	s.mu.Lock()
	sum, known := s.m[key]
	s.mu.Unlock()
	if known {
		return sum, nil
	}
	if sum, err = sumOf(f); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil || len(s.m) > 1000 {
		s.m = map[fileState]string{}
	}
	s.m[key] = sum
	return sum, nil
}

func sumOf(f *os.File) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, 1<<40)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
