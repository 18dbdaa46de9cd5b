package process

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A unix socket's path has 108 bytes with its closing zero.
const maxSocketPath = 107

// What this package and go-plugin append to the run directory:
// "/NAME/p1234567890/s/plugin1234567890".
const socketSuffix = len("/") + MaxName + len("/p1234567890/"+ownDir+"/plugin1234567890")

// ownDir, in the directory of a process, is what the process itself may write: its socket and its temporary files.
const ownDir = "s"

// MaxName is the longest name of a plugin, because it is part of a socket's path.
const MaxName = 32

// RunDir makes the private directory for the sockets of all plugins. When the one
// wanted is so deep that a socket's path would not fit, it is another below the
// system's temporary directory, the same at each start.
func RunDir(want string) (string, error) {
	abs, err := filepath.Abs(want)
	if err != nil {
		return "", err
	}
	if len(abs)+socketSuffix <= maxSocketPath {
		return abs, privateDir(abs, os.Geteuid())
	}
	name, err := shortName(abs)
	if err != nil {
		return "", err
	}
	for _, base := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} {
		dir := filepath.Join(base, name)
		if base == "" || len(dir)+socketSuffix > maxSocketPath {
			continue
		}
		if err := privateDir(dir, os.Geteuid()); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("the path %s is too long for sockets (at most %d bytes) and no shorter directory could be created: choose a shorter --home",
		abs, maxSocketPath-socketSuffix)
}

// shortName is a short name for a directory, which it makes: in two mount namespaces one path may be two directories.
func shortName(path string) (string, error) {
	if err := privateDir(path, os.Geteuid()); err != nil {
		return "", err
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", path, st.Dev, st.Ino))
	return "ctl-" + hex.EncodeToString(sum[:6]), nil
}

// privateDir makes a directory that only one user can enter, or checks that it is so. Root gives it to the user when it
// belongs to that of a plugin, or to root.
func privateDir(dir string, uid int) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	switch is := ownerUID(st); {
	case !st.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case is == uid:
	case os.Geteuid() == 0 && (is == 0 || is >= firstUser && is <= lastUser):
		if err := chownTree(dir, uid, -1); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%s is a directory of another user, %d", dir, is)
	}
	if st.Mode().Perm() != 0o700 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}
