package console

import (
	"os"
	"path/filepath"
)

// ProgramDir is the directory of the running program, symbolic links followed: what is installed beside it is found
// there.
func ProgramDir() (string, error) {
	exe, err := os.Executable()
	if err == nil {
		exe, err = filepath.EvalSymlinks(exe)
	}
	return filepath.Dir(exe), err
}
