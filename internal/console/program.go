package console

import (
	"os"
	"path/filepath"
	"runtime/debug"
)

// Build is the version of the running program, "devel" for one that is no release, and its commit, empty when not known.
func Build() (version, commit string) {
	version = "devel"
	if info, ok := debug.ReadBuildInfo(); ok {
		v := info.Main.Version
		if v != "" && v != "(devel)" {
			version = v
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	return version, commit
}

// ProgramDir is the directory of the running program, symbolic links followed: what is installed beside it is found
// there.
func ProgramDir() (string, error) {
	exe, err := os.Executable()
	if err == nil {
		exe, err = filepath.EvalSymlinks(exe)
	}
	return filepath.Dir(exe), err
}
