// Package ctl carries the files that a new home gets, so that the daemon needs
// no source tree: the templates under etc/ and the catalogue of features. What
// is done with them is decided in host/internal/home.
package ctl

import "embed"

// Templates holds etc/ and features.yaml as they are in the source tree.
//
//go:embed etc features.yaml
var Templates embed.FS

// Realms holds the manifests of the plugins that serve realms; their label realm-kinds names the classes of sec.ini.
//
//go:embed plugins/realm-*/plugin.yaml
var Realms embed.FS
