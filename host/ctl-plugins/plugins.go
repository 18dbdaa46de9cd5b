package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	bierchannel "ctl.internal/plugins/bier-channel"
	bierdrivercli "ctl.internal/plugins/bier-driver-cli"
	bierdriverietf "ctl.internal/plugins/bier-driver-ietf"
	bierservice "ctl.internal/plugins/bier-service"
	biertopomanager "ctl.internal/plugins/bier-topomanager"
	"ctl.internal/plugins/lab"
	"ctl.internal/plugins/openflow"
	realmdirectory "ctl.internal/plugins/realm-directory"
	realmidsvc "ctl.internal/plugins/realm-idsvc"
	realmjwt "ctl.internal/plugins/realm-jwt"
	realmldap "ctl.internal/plugins/realm-ldap"
	"ctl.internal/plugins/repoinfo"
	switchplugin "ctl.internal/plugins/switch"
	switchdriverdlink "ctl.internal/plugins/switch-driver-dlink"
	switchdriverovs "ctl.internal/plugins/switch-driver-ovs"
	"ctl.internal/sdk"
)

// plugins are the programs in this one, by the name of their link.
var plugins = map[string]func() sdk.Options{
	"bier-channel":        bierchannel.Options,
	"bier-driver-cli":     bierdrivercli.Options,
	"bier-driver-ietf":    bierdriverietf.Options,
	"bier-service":        bierservice.Options,
	"bier-topomanager":    biertopomanager.Options,
	"lab":                 lab.Options,
	"openflow":            openflow.Options,
	"realm-directory":     realmdirectory.Options,
	"realm-idsvc":         realmidsvc.Options,
	"realm-jwt":           realmjwt.Options,
	"realm-ldap":          realmldap.Options,
	"repoinfo":            repoinfo.Options,
	"switch":              switchplugin.Options,
	"switch-driver-dlink": switchdriverdlink.Options,
	"switch-driver-ovs":   switchdriverovs.Options,
}

const usage = `usage: ctl-plugins link DIR

Makes a hard link to this program in DIR for each of the plugins
  %s
which is what ctld starts.
`

func pluginNames() string {
	return strings.Join(slices.Sorted(maps.Keys(plugins)), " ")
}

// linkAll links this program into dir under the name of each plugin.
func linkAll(dir string) error {
	self, err := findSelf(os.Args[0])
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name := range plugins {
		if err := linkPlugin(self, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// findSelf is the file of this program; where /proc is not mounted (a chroot that a package is installed in), the one
// that was called.
func findSelf(called string) (string, error) {
	self, err := os.Executable()
	if err == nil {
		return self, nil
	}
	found, err := exec.LookPath(called)
	if err != nil {
		return "", fmt.Errorf("the file of this program is not known (/proc is not mounted): %w; "+
			"call it by its whole path", err)
	}
	return filepath.Abs(found)
}

// linkPlugin links beside the place and renames: a running plugin keeps its old file.
func linkPlugin(self, path string) error {
	next := path + ".new"
	_ = os.Remove(next) // what stays keeps the link from being made
	if err := os.Link(self, next); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	// A rename between two links to the same file does nothing and leaves both.
	err := os.Remove(next)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
