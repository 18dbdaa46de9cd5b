package server

import (
	"embed"
	"io/fs"
	"path"
	"strings"

	aaayang "ctl.internal/host/internal/aaa/yang"
	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/keys/encrypt"
	certrpc "ctl.internal/host/internal/keys/keystore/rpc"
	"ctl.internal/internal/yang"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// ownModules are the modules of the controller itself, and of the topologies that it serves.
//
//go:embed yang/*.yang
var ownModules embed.FS

// hostModules are the YANG modules of the controller itself.
func hostModules() ([]part, error) {
	p := part{owner: feature.HostPlugin}
	files, err := fs.Glob(aaayang.Modules, "*.yang")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := fs.ReadFile(aaayang.Modules, f)
		if err != nil {
			return nil, err
		}
		p.modules = append(p.modules, &pluginv1.YangModule{Name: strings.TrimSuffix(f, ".yang"), Text: string(text), Implemented: true})
	}
	for _, m := range [][2]string{{certrpc.Module, certrpc.Text}, {certrpc.SettingsModule, certrpc.SettingsText}, {encrypt.Module, encrypt.Text}} {
		p.modules = append(p.modules, &pluginv1.YangModule{Name: m[0], Text: m[1], Implemented: true})
	}
	own, err := fs.Glob(ownModules, "yang/*.yang")
	if err != nil {
		return nil, err
	}
	for _, f := range own {
		text, err := ownModules.ReadFile(f)
		if err != nil {
			return nil, err
		}
		name, _, _ := strings.Cut(path.Base(f), "@")
		p.modules = append(p.modules, &pluginv1.YangModule{Name: name, Text: string(text), Implemented: true})
	}
	p.aliases = []byte(certrpc.Aliases)
	// What the sources of topology report is served by the controller itself.
	for _, name := range []string{"network-topology"} {
		text, err := yang.Carried(name)
		if err != nil {
			return nil, err
		}
		p.modules = append(p.modules, &pluginv1.YangModule{Name: name, Text: string(text), Implemented: true})
	}
	return []part{p}, nil
}
