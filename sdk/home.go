package sdk

import (
	"os"
	"path/filepath"

	"ctl.internal/sdk/host"
)

// Home is the controller's home, which relative paths of settings and commands start from. The host keeps
// a plugin's data in data/plugins/NAME below it; elsewhere the data folder itself is the home.
func (e *Env) Home() string {
	if h := os.Getenv("CTL_HOME"); h != "" {
		return h
	}
	plugins := filepath.Dir(filepath.Clean(e.DataDir))
	if data := filepath.Dir(plugins); filepath.Base(plugins) == "plugins" && filepath.Base(data) == "data" {
		return filepath.Dir(data)
	}
	return e.DataDir
}

// Below puts relative paths below the controller's home.
func (e *Env) Below(paths ...string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(e.Home(), p)
		}
		out[i] = filepath.Clean(p)
	}
	return out
}

// NodeName is how this node is called in what the plugin writes for other nodes.
func (e *Env) NodeName() string {
	if n := os.Getenv(host.EnvNode); n != "" {
		return n
	}
	if n, err := os.Hostname(); err == nil {
		return n
	}
	return "unknown"
}
