package ctlclient

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/console"
)

// mayReach reports whether the controller may have a file read or written: it runs as the same user as
// ctl, who typed the path, or the path is in the line that was typed.
func (l *link) mayReach(path string) bool {
	return l.sameUser || l.line != "" && strings.Contains(l.line, path)
}

// isOwnFile reports whether a file is this user's.
func isOwnFile(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

var errNotTyped = errors.New("the controller runs as another user and needs a file that is not in the line: write the full path, without .., in one line of ctl")

// readFile answers a console.ReadFileRequest.
func (l *link) readFile(payload []byte) []byte {
	var p console.ReadFile
	data, err := func() (string, error) {
		if err := ssh.Unmarshal(payload, &p); err != nil {
			return "", err
		}
		if !l.mayReach(p.Path) {
			return "", errNotTyped
		}
		f, err := os.Open(p.Path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			return "", errors.Join(err, fmt.Errorf("%s is not a file", p.Path))
		}
		b := make([]byte, console.MaxFilePart)
		n, err := f.ReadAt(b, int64(p.Offset))
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return string(b[:n]), err
	}()
	return ssh.Marshal(console.FileContent{
		Data:  data,
		Fault: errorText(err),
	})
}

// writeFile answers a console.WriteFileRequest: the first part makes the file, which must not be there.
func (l *link) writeFile(payload []byte) []byte {
	err := func() error {
		var p console.WriteFile
		if err := ssh.Unmarshal(payload, &p); err != nil {
			return err
		}
		if !l.mayReach(p.Path) {
			return errNotTyped
		}
		flags := os.O_WRONLY
		if p.Offset == 0 {
			flags |= os.O_CREATE | os.O_EXCL
		}
		f, err := os.OpenFile(p.Path, flags, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s exists already; choose another name, or remove it", p.Path)
		}
		if err != nil {
			return err
		}
		_, err = f.WriteAt([]byte(p.Data), int64(p.Offset))
		return errors.Join(err, f.Close())
	}()
	return ssh.Marshal(console.FileWritten{Fault: errorText(err)})
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
