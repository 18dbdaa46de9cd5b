package home

import (
	"fmt"
	"path/filepath"
)

// Dir is the path of a home, which need not be open: offline commands read it too.
type Dir string

func (d Dir) joinPath(dir string, names []string) string {
	return filepath.Join(append([]string{string(d), dir}, names...)...)
}

// Path is a path relative to the home; an absolute one stays.
func (d Dir) Path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(string(d), p)
}

// Etc is a path under etc/, the operator's files.
func (d Dir) Etc(names ...string) string {
	return d.joinPath("etc", names)
}

// Data is a path under data/, what the controller keeps (0700).
func (d Dir) Data(names ...string) string {
	return d.joinPath("data", names)
}

// Run is a path under data/run/: sockets and the addresses that were chosen (0700).
func (d Dir) Run(names ...string) string {
	return d.joinPath("data/run", names)
}

// Log is a path under log/.
func (d Dir) Log(names ...string) string {
	return d.joinPath("log", names)
}

// Plugins is a path under plugins/: executables beside those of the installation.
func (d Dir) Plugins(names ...string) string {
	return d.joinPath("plugins", names)
}

// SSL is a path under configuration/ssl/: the keystores (0700).
func (d Dir) SSL(names ...string) string {
	return d.joinPath("configuration/ssl", names)
}

// Store is the directory of the datastore.
func (d Dir) Store() string { return d.Data("store") }

// Catalogue are the files of the feature catalogue: features.yaml, then
// features.d/*.yaml in order.
func (d Dir) Catalogue() []string {
	more, _ := filepath.Glob(d.joinPath("features.d", []string{"*.yaml"})) // the pattern is well-formed
	return append([]string{filepath.Join(string(d), "features.yaml")}, more...)
}

// maxSocket is what a unix socket's path may have on every system, with its
// closing zero byte (sun_path is 104 bytes on BSD, 108 on Linux); socketRoom is
// what the host's own need below data/run/, such as console.sock. Those of
// plugins are longer and find a shorter place by themselves when they must.
const (
	maxSocket  = 104
	socketRoom = 20
)

func (d Dir) checkSockets() error {
	if run := d.Run(); len(run)+1+socketRoom+1 > maxSocket {
		return fmt.Errorf("home %s: its path has %d bytes, too long for the unix sockets in data/run; at most %d are possible: choose a shorter --home",
			string(d), len(string(d)), maxSocket-2-socketRoom-len("/data/run"))
	}
	return nil
}
