package commands

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
