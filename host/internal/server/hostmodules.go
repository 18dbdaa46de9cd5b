package server

import (
	"embed"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"ctl.internal/host/internal/aaa"
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

// hostModules are the YANG modules of the controller itself, as a plugin's manifest has its own.
func hostModules() (*pluginv1.Manifest, error) {
	p := &pluginv1.Manifest{
		Name:    feature.HostPlugin,
		Aliases: []byte(certrpc.Aliases),
		Streams: []string{troubleStream},
	}
	add := func(name, text string) {
		p.YangModules = append(
			p.YangModules,
			&pluginv1.YangModule{
				Name:        name,
				Text:        text,
				Implemented: true,
			},
		)
	}
	for _, files := range []embed.FS{aaa.Modules, ownModules} {
		src, err := yang.FromFS(p.Name, files, "yang")
		if err != nil {
			return nil, err
		}
		for _, file := range slices.Sorted(maps.Keys(src.Files)) {
			name, _, _ := strings.Cut(strings.TrimSuffix(file, ".yang"), "@")
			text := src.Files[file]
			add(name, string(text))
		}
	}
	add(certrpc.Module, certrpc.Text)
	add(certrpc.SettingsModule, certrpc.SettingsText)
	add(encrypt.Module, encrypt.Text)
	// What the sources of topology report is served by the controller itself.
	text, err := fs.ReadFile(yang.Modules(), "modules/network-topology.yang")
	if err != nil {
		return nil, err
	}
	add("network-topology", string(text))
	return p, nil
}
