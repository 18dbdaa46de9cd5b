package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// program is an opened executable. What was hashed is what is executed: the file is
// run through its descriptor, so replacing the path in between changes nothing.
type program struct {
	file   *os.File
	path   string
	script bool
	sums   *Sums
}

func openProgram(path, want string, sums *Sums) (_ *program, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no plugin file %s: build it or correct the path in features.yaml", path)
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
	case !m.IsRegular():
		return nil, fmt.Errorf("the plugin file %s is not a regular file", path)
	case m.Perm()&0o111 == 0:
		return nil, fmt.Errorf("the plugin file %s is not executable: chmod +x it", path)
	case m.Perm()&0o002 != 0:
		return nil, fmt.Errorf("all users may write the plugin file %s: chmod o-w it", path)
	}
	p := &program{file: f, path: path, sums: sums}
	head := make([]byte, 2)
	if n, _ := f.ReadAt(head, 0); n == 2 {
		p.script = bytes.Equal(head, []byte("#!"))
	}
	if want == "" {
		return p, nil
	}
	sum, err := p.sha256()
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(want, sum) {
		return nil, fmt.Errorf("the plugin file %s is not the one in the catalogue: its sha256 is %s, expected %s; "+
			"if the change is yours, write the new value into features.yaml, or into SHA256SUMS beside the file, where it stands", path, sum, want)
	}
	return p, nil
}

func (p *program) sha256() (string, error) {
	sum, err := p.sums.of(p.file)
	if err != nil {
		return "", fmt.Errorf("the plugin file %s cannot be read: %w", p.path, err)
	}
	return sum, nil
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
	defer p.file.Close()
	return p.sha256()
}
