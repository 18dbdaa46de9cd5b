package console

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
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

// DefaultHome is the home directory that a program uses where none is named: that of CTL_HOME, else that which the file
// "home" beside the programs names (packages and install.sh write it), else ./ctl-home.
func DefaultHome() string {
	dir, err := ProgramDir()
	if err != nil {
		return cmp.Or(os.Getenv("CTL_HOME"), "./ctl-home")
	}
	return cmp.Or(os.Getenv("CTL_HOME"), installedHome(dir), "./ctl-home")
}

// installedHome is the home of the installation in dir, empty where programs were only built.
func installedHome(dir string) string {
	content, err := os.ReadFile(filepath.Join(dir, "home"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}
