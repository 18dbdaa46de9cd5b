package scaffold

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// sourceModule is the controller's module.
const sourceModule = "ctl.internal"

var moduleLine = regexp.MustCompile(`(?m)^module\s+(\S+)\s*$`)

// moduleOf returns the module path that a directory's go.mod names.
func moduleOf(dir string) (string, []byte) {
	b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", nil
	}
	if m := moduleLine.FindSubmatch(b); m != nil {
		return string(m[1]), b
	}
	return "", nil
}

// InSource returns the controller's source tree that a directory lies in.
func InSource(dir string) (string, bool) {
	for {
		if m, _ := moduleOf(dir); m != "" {
			return dir, m == sourceModule
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}

// writeModule writes go.mod and go.sum of a plugin outside the source tree. source is the
// module that an installation lays down beside ctl, or a source tree. They
// name the versions that the controller itself was built with, so that nothing
// needs to be resolved and the two agree.
func writeModule(dir, module, source string) ([]string, error) {
	source, err := filepath.Abs(source)
	if err != nil {
		return nil, err
	}
	m, text := moduleOf(source)
	if m != sourceModule {
		return nil, fmt.Errorf(
			"%s is neither the SDK nor the source tree of the controller: its go.mod does not say module %s",
			source,
			sourceModule,
		)
	}
	text = moduleLine.ReplaceAllLiteral(text, []byte("module "+module))
	text = append(text, fmt.Sprintf(
		"\nrequire %s v0.0.0\n\nreplace %s => %s\n",
		sourceModule,
		sourceModule,
		quotePath(source),
	)...)
	sums, err := os.ReadFile(filepath.Join(source, "go.sum"))
	if err != nil {
		return nil, err
	}
	var files []string
	for name, b := range map[string][]byte{
		"go.mod": text,
		"go.sum": sums,
	} {
		path := filepath.Join(dir, name)
		files = append(files, path)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			return files, err
		}
	}
	return files, nil
}

// quotePath writes a path as go.mod needs it.
func quotePath(path string) string {
	if regexp.MustCompile(`^[\w./-]+$`).MatchString(path) {
		return path
	}
	return fmt.Sprintf("%q", path)
}
