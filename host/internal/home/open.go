package home

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Home is a home that this process owns until Close.
type Home struct {
	Dir
	Created bool   // by this Open
	CopyOf  string // the home that this is a copy of, which was running then, or was killed before; empty = none
	Inode   uint64 // distinguishes the home directory from its copies
	format  int    // that data/ has
	lock    *os.File
}

// ErrInUse says that another controller runs in the home.
var ErrInUse = errors.New("home: in use by another controller")

// private are the directories that only the controller's user may read.
var private = []string{"import", "export", "data", "data/run", "data/plugins", "configuration", "configuration/ssl", "log"}

// Open makes the home when it is missing, from templates (the files of package
// ctl), and takes it for this process: ErrInUse when another has it. What an
// operator has written is never replaced. One of an earlier release is as it was until
// Upgrade.
func Open(path string, templates fs.FS) (*Home, error) {
	h, err := openHome(path, templates)
	return h, withOwnerRemedy(err)
}

// withOwnerRemedy says whose the home has to be.
func withOwnerRemedy(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf(
			"%w; the home must belong to the user who runs ctld, uid %d: chown -R it when another user once ran there",
			err,
			os.Geteuid(),
		)
	}
	return err
}

func openHome(path string, templates fs.FS) (*Home, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("home: %w", err)
	}
	h := &Home{Dir: Dir(abs)}
	if err := h.checkSockets(); err != nil {
		return nil, err
	}
	if err := errors.Join(h.checkIsHome(), h.checkRestoreComplete()); err != nil {
		return nil, err
	}
	for _, d := range append([]string{"etc", "plugins", "features.d"}, private...) {
		if err := os.MkdirAll(h.Path(d), 0o755); err != nil {
			return nil, fmt.Errorf("home: %w", err)
		}
	}
	for _, d := range private {
		if err := os.Chmod(h.Path(d), 0o700); err != nil {
			return nil, fmt.Errorf("home: %w", err)
		}
	}
	if err := h.closeData(); err != nil {
		return nil, err
	}
	if err := h.takeLock(); err != nil {
		return nil, err
	}
	have, err := h.checkFormat()
	if err == nil && have == 0 {
		err = h.writeTemplates(templates)
	}
	h.format = have
	if err == nil && (have == 0 || have == format) {
		err = h.Upgrade(templates, func() error { return nil })
	}
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// closeData closes to others what is in data/, which users of plugins may pass.
func (h *Home) closeData() error {
	entries, err := os.ReadDir(h.Data())
	for _, e := range entries {
		info, e2 := e.Info()
		if e2 == nil && info.Mode()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			err = errors.Join(err, os.Chmod(h.Data(e.Name()), info.Mode().Perm()&^0o077))
		}
	}
	if err != nil {
		return fmt.Errorf("home: %w", err)
	}
	return nil
}

// checkIsHome refuses a directory that holds something else: a mistyped --home
// must not be littered.
func (h *Home) checkIsHome() error {
	entries, err := os.ReadDir(string(h.Dir))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(string(h.Dir)); err == nil {
			return fmt.Errorf(
				"home: %s is a link to a path that does not exist: is its disk mounted?",
				string(h.Dir),
			)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("home: %w", err)
	}
	ours := []string{"etc", "plugins", "features.d", "features.yaml", "configuration", "data", "log", "bin", "import", "export"}
	for _, e := range entries {
		if _, err := os.Stat(h.Etc("ctl.yaml")); err == nil {
			return nil
		}
		if !slices.Contains(ours, e.Name()) && !strings.HasPrefix(e.Name(), ".") {
			return fmt.Errorf(
				"home: %s contains %q but no etc/ctl.yaml, so it is not a home; choose another --home, or an empty directory",
				string(h.Dir),
				e.Name(),
			)
		}
	}
	return nil
}

// writeTemplates writes the templates that are missing, into an empty home and into one that holds only what
// an operator copied there. It runs until the home is marked as complete; files an operator removes
// later stay removed.
func (h *Home) writeTemplates(templates fs.FS) error {
	err := fs.WalkDir(templates, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if _, err := os.Lstat(h.Path(name)); err == nil {
			return nil
		}
		b, err := fs.ReadFile(templates, name)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		switch {
		case name == "etc/idmtool":
			mode = 0o755
		case strings.HasSuffix(name, ".xml"), strings.HasSuffix(name, ".ini"):
			mode = 0o600 // may come to hold passwords
		}
		return errors.Join(
			os.MkdirAll(filepath.Dir(h.Path(name)), 0o755),
			WriteFile(h.Path(name), b, mode),
		)
	})
	if err != nil {
		return fmt.Errorf("the home is not filled: %w", err)
	}
	h.Created = true
	return nil
}

// takeLock takes the lock. Its file has the process, "-" after an orderly end, and below it
// which file it is and where: a copy of it says the same and is another file.
func (h *Home) takeLock() error {
	f, err := os.OpenFile(h.Data("ctld.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("home: %w", err)
	}
	said, _ := io.ReadAll(io.LimitReader(f, 4096))
	pid, of, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return fmt.Errorf(
			"%w: %s, process %s; stop it or choose another --home",
			ErrInUse,
			string(h.Dir),
			pid,
		)
	}
	h.lock = f
	var st syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &st); err != nil {
		return errors.Join(fmt.Errorf("home: %w", err), f.Close())
	}
	h.Inode = st.Ino
	inode, path, ok := strings.Cut(of, " ")
	if ok && pid != "-" && inode != strconv.FormatUint(h.Inode, 10) {
		h.CopyOf = path
	}
	if err := h.writeLockHolder(strconv.Itoa(os.Getpid())); err != nil {
		return errors.Join(fmt.Errorf("home: %w", err), f.Close())
	}
	return nil
}

// writeLockHolder writes who has the lock.
func (h *Home) writeLockHolder(who string) error {
	text := fmt.Sprintf("%s\n%d %s\n", who, h.Inode, string(h.Dir))
	_, err := h.lock.WriteAt([]byte(text), 0)
	return errors.Join(err, h.lock.Truncate(int64(len(text))))
}

// Close gives the home free.
func (h *Home) Close() error {
	_ = h.writeLockHolder("-") // a disk that fails must not keep it
	return h.lock.Close()
}

// NewFile begins the name of a file that WriteFile has not finished.
const NewFile = ".new-"

// WriteFile replaces a file as a whole: whoever reads, and a crash, sees the old
// content or the new one.
func WriteFile(path string, b []byte, mode fs.FileMode) error {
	return Replace(path, mode, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// Replace is WriteFile for a content that write writes.
func Replace(path string, mode fs.FileMode, write func(io.Writer) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), NewFile+"*")
	if err != nil {
		return fmt.Errorf("home: %w", err)
	}
	defer os.Remove(tmp.Name())
	if err := errors.Join(write(tmp), tmp.Chmod(mode), tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("home: write %s: %w", path, err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("home: %w", err)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("home: %w", err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}
