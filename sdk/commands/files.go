package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ctl.internal/sdk/fault"
)

// maxFiles bounds what Files returns of a directory of any size.
const maxFiles = 200

// Path is the file that a user named: a relative name is below dir, for most commands sdk.Env.Home.
func Path(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// Files completes names of files, as Path takes them, that have one of the endings (".csv"), and of directories.
func Files(dir string, endings ...string) func(ctx context.Context, prefix string) []string {
	return func(_ context.Context, prefix string) (out []string) {
		parent, base := filepath.Split(prefix)
		list, err := os.ReadDir(Path(dir, parent))
		if err != nil {
			return nil
		}
		for _, f := range list {
			switch name := f.Name(); {
			case !strings.HasPrefix(name, base) || len(out) == maxFiles:
			case f.IsDir():
				out = append(out, parent+name+"/")
			case slices.Contains(endings, filepath.Ext(name)):
				out = append(out, parent+name)
			}
		}
		return out
	}
}

// ReadFile reads the file that a user named, as Path takes it, or with - the standard input. A file of more than limit bytes is
// refused as fault.TooBig, other files that cannot be read as fault.Invalid.
func (in *Invocation) ReadFile(dir, name string, limit int) ([]byte, error) {
	from := in.Stdin
	if name != "-" {
		f, err := os.Open(Path(dir, name))
		if err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "%v", FileError(err))
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, int64(limit)+1))
	switch {
	case err != nil:
		return nil, fault.Wrap(fault.Invalid, err, "%s cannot be read: %v", name, err)
	case len(text) > limit:
		return nil, fault.New(fault.TooBig, "%s is larger than %d bytes", name, limit)
	}
	return text, nil
}

// FileError says of a file of the home that the plugin may not use, which the kernel refuses, where it may be instead.
// Other errors, and nil, are returned as they are.
func FileError(err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return fmt.Errorf(
		"%w: in the home directory this plugin reads only files in import/ and writes only files in export/; move the file there, or name a file outside the home directory, which ctl sends",
		err,
	)
}
